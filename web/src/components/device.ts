// What every view of a device agrees on.
import type { Device } from "../api/types";
import type { LineSpec } from "./MetricLine";

// The metrics that a card always shows, with what stands beside them.
export const GREAT_LINES: readonly LineSpec[] = [
  { metric: "gpu_utilization_ratio" },
  { metric: "gpu_memory_used_bytes", whole: "gpu_memory_total_bytes" },
  { metric: "gpu_power_watts", limit: "gpu_power_limit_watts" },
  { metric: "gpu_temperature_celsius" },
];

// The driver's index, which is what people call a GPU by; the identity is the UUID.
export const deviceName = (device: Device): string =>
  device.index === null ? "–" : String(device.index);

// "NVIDIA H100 80GB HBM3" without the word that every card would repeat; the tooltip has it all.
export function shortName(device: Device): string {
  const [first, ...rest] = device.name.split(" ");
  const isVendor = first?.toLowerCase() === device.vendor.toLowerCase();
  return isVendor && rest.length > 0 ? rest.join(" ") : device.name;
}
