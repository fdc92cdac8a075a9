// The JSON of gpusight as the page reads it. Absent is null with a reason beside it; units are the
// catalogue's SI units; times are Unix seconds unless the name ends in _ms.

export interface Text {
  en: string;
  zh: string;
}

export type Scope = "device" | "host" | "self";

export interface MetricRow {
  name: string;
  unit: string;
  symbol: string;
  kind: "gauge" | "counter" | "state";
  scope: Scope;
  label: string;
  cadence: "fast" | "slow";
  resolution: number;
  min: number;
  max: number;
  group: string;
  brief: Text;
  help: Text;
  stat: "mean" | "min" | "max";
  mean: string | null;
}

export interface CatalogDocument {
  schema: number;
  version: string;
  metrics: MetricRow[];
  groups: { key: string; title: Text }[];
  reasons: Record<string, Text>;
  messages: Record<string, Text>;
  event_kinds: { key: string; severity: Severity; title: Text }[];
}

export type Severity = "info" | "warning" | "error";

// A number, a number per label, or null when absent as a whole.
export type MetricValue = number | null | Record<string, number | null>;

export interface Subject {
  metrics: Record<string, MetricValue>;
  reasons: Record<string, string>;
  stale: Record<string, number>;
}

export interface HostSubject extends Subject {
  name: string;
}

export interface UserTotal {
  user: string;
  uid: number | null;
  processes: number;
  memory_bytes: number | null;
}

export interface ProcessRow {
  pid: number;
  start_ticks: number;
  type: string;
  memory_bytes: number | null;
  utilization_ratio: number | null;
  gpu_instance: number | null;
  compute_instance: number | null;
  name: string;
  user: string;
  uid: number | null;
  owner: "known" | "exited" | "foreign" | "pending";
}

export type DeviceState = "active" | "asleep" | "busy" | "lost" | "released";

export interface Device extends Subject {
  uuid: string;
  kind: "gpu" | "mig";
  vendor: string;
  name: string;
  driver: string;
  pci: string;
  serial: string | null;
  vbios: string | null;
  index: number | null;
  cuda_index: number | null;
  minor: number | null;
  parent: string | null;
  gpu_instance: number | null;
  compute_instance: number | null;
  profile: string | null;
  state: DeviceState;
  state_since: number;
  users: UserTotal[];
  processes: ProcessRow[] | null;
  processes_hidden: number;
  processes_reason: string | null;
}

export interface SourceStatus {
  name: string;
  phase: string;
  simulated: boolean;
  message: string;
  arguments: string[];
  text: Text;
}

export interface Snapshot {
  schema: number;
  version: string;
  sequence: number;
  time: number;
  interval_seconds: number;
  simulated: boolean;
  sources: SourceStatus[];
  host: HostSubject;
  self: Subject;
  devices: Device[];
}

export interface HeadGroup {
  subject: string;
  times_ms: number[];
  series: { metric: string; label: string; values: (number | null)[] }[];
}

export interface Patch {
  metrics?: Record<string, MetricValue>;
  reasons?: Record<string, string | null>;
  stale?: Record<string, number | null>;
}

export interface DevicePatch extends Patch {
  state?: DeviceState;
  state_since?: number;
  users?: UserTotal[];
  processes?: ProcessRow[] | null;
  processes_hidden?: number;
  processes_reason?: string | null;
}

export interface EventRow {
  id: number;
  time: number;
  kind: string;
  severity: Severity;
  uuid: string | null;
  code: number;
  fields: Record<string, unknown>;
  message: Text;
}

export interface SnapshotMessage {
  type: "snapshot";
  n: number;
  snapshot: Snapshot;
  head: { groups: HeadGroup[] };
}

export interface DeltaMessage {
  type: "delta";
  n: number;
  sequence: number;
  time: number;
  host?: Patch;
  self?: Patch;
  devices?: Record<string, DevicePatch>;
  sources?: SourceStatus[];
}

export interface EventMessage {
  type: "event";
  n: number;
  event: EventRow;
}

export type LiveMessage = SnapshotMessage | DeltaMessage | EventMessage;
