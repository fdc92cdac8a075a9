// The catalogue and a small machine for the tests.

import document from "../dev/catalog.json";
import { Catalog } from "./api/catalog";
import type { CatalogDocument, Device, Snapshot } from "./api/types";

export const catalogDocument = document as unknown as CatalogDocument;
export const catalog = new Catalog(catalogDocument);

export function makeDevice(overrides: Partial<Device> = {}): Device {
  return {
    uuid: "GPU-1",
    kind: "gpu",
    vendor: "nvidia",
    name: "NVIDIA H100 80GB HBM3",
    driver: "580.105.08",
    pci: "0000:19:00.0",
    serial: null,
    vbios: null,
    index: 0,
    cuda_index: null,
    minor: 0,
    parent: null,
    gpu_instance: null,
    compute_instance: null,
    profile: null,
    state: "active",
    state_since: 1000,
    metrics: {
      gpu_utilization_ratio: 0.5,
      gpu_power_watts: 300,
      gpu_fan_speed_ratio: null,
      gpu_clock_hertz: { graphics: 1e9, memory: 2e9, video: null },
    },
    reasons: { gpu_fan_speed_ratio: "not_supported", "gpu_clock_hertz{video}": "driver_error" },
    stale: {},
    users: [],
    processes: [],
    processes_hidden: 0,
    processes_reason: null,
    ...overrides,
  };
}

export function makeSnapshot(overrides: Partial<Snapshot> = {}): Snapshot {
  return {
    schema: 1,
    version: "0.1.0",
    sequence: 1,
    time: 1000,
    interval_seconds: 1,
    simulated: false,
    sources: [],
    host: { name: "box", metrics: { host_load1: 1 }, reasons: {}, stale: {} },
    self: { metrics: {}, reasons: {}, stale: {} },
    devices: [makeDevice()],
    ...overrides,
  };
}
