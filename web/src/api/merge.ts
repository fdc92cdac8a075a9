// A delta laid over what is known. Patched subjects are replaced by new objects so that a view may
// compare by identity; subjects without a patch keep theirs.
import type {
  DeltaMessage,
  Device,
  DevicePatch,
  MetricValue,
  Patch,
  Snapshot,
  Subject,
} from "./types";

function patchMap<T>(
  base: Record<string, T>,
  patch: Record<string, T | null> | undefined,
): Record<string, T> {
  if (patch === undefined) return base;
  const merged: Record<string, T> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = value;
  }
  return merged;
}

// null is a value in `metrics` (absent) and a removal in `reasons` and `stale`.
function patchMetrics(
  base: Record<string, MetricValue>,
  patch: Record<string, MetricValue> | undefined,
): Record<string, MetricValue> {
  return patch === undefined ? base : { ...base, ...patch };
}

export function mergeSubject<T extends Subject>(base: T, patch: Patch | undefined): T {
  if (patch === undefined) return base;
  return {
    ...base,
    metrics: patchMetrics(base.metrics, patch.metrics),
    reasons: patchMap(base.reasons, patch.reasons),
    stale: patchMap(base.stale, patch.stale),
  };
}

export function mergeDevice(base: Device, patch: DevicePatch | undefined): Device {
  if (patch === undefined) return base;
  const { metrics: _m, reasons: _r, stale: _s, ...facts } = patch;
  return { ...mergeSubject(base, patch), ...facts };
}

// Throws when the delta speaks of a device that no snapshot named: the stream cannot be trusted then.
export function mergeDelta(base: Snapshot, delta: DeltaMessage): Snapshot {
  const patches = delta.devices ?? {};
  const known = new Set(base.devices.map((device) => device.uuid));
  for (const uuid of Object.keys(patches)) {
    if (!known.has(uuid)) throw new Error("delta for a device that is not known");
  }
  const sources = delta.sources ?? base.sources;
  return {
    ...base,
    sequence: delta.sequence,
    time: delta.time,
    sources,
    simulated: base.simulated || sources.some((source) => source.simulated),
    host: mergeSubject(base.host, delta.host),
    self: mergeSubject(base.self, delta.self),
    devices: base.devices.map((device) => mergeDevice(device, patches[device.uuid])),
  };
}
