import { describe, expect, it } from "vitest";
import { catalog } from "../test_data";
import { Ring, seriesKey } from "./ring";
import { chartModel, niceAbove, together } from "./series";

const view = (ring: Ring, smoothingSeconds = 0) => ({
  catalog,
  ring,
  intervalSeconds: 1,
  smoothingSeconds,
});

function ringOf(columns: Record<string, number[]>): Ring {
  const ring = new Ring(1);
  const rows = Object.values(columns)[0]?.length ?? 0;
  for (let i = 0; i < rows; i++) {
    ring.append(
      i,
      Object.entries(columns).map(([key, values]) => [key, values[i] as number]),
    );
  }
  return ring;
}

describe("what a chart draws", () => {
  it("is nothing where nothing was read", () => {
    expect(chartModel(view(new Ring(1)), { metric: "gpu_power_watts" })).toBeNull();
    expect(chartModel(view(ringOf({ other: [1, 2] })), { metric: "gpu_power_watts" })).toBeNull();
  });

  it("has the band of the tick from the companions", () => {
    const model = chartModel(
      view(
        ringOf({
          gpu_utilization_ratio: [0.5],
          gpu_utilization_ratio_min: [0.2],
          gpu_utilization_ratio_max: [0.9],
        }),
      ),
      { metric: "gpu_utilization_ratio" },
    );
    expect(model?.lines[0]).toMatchObject({
      low: Float64Array.of(0.2),
      high: Float64Array.of(0.9),
    });
    expect(model?.range).toEqual([0, 1]);
  });

  it("has room for the limit and marks it", () => {
    const model = chartModel(
      view(ringOf({ gpu_power_watts: [300, 310], gpu_power_limit_watts: [700, 700] })),
      { metric: "gpu_power_watts", limit: "gpu_power_limit_watts" },
    );
    expect(model?.lines[1]?.isLimit).toBe(true);
    expect(model?.mark).toBe(700);
    expect(model?.range[1]).toBeCloseTo(756);
  });

  it("reaches to the whole", () => {
    const model = chartModel(
      view(ringOf({ gpu_memory_used_bytes: [1], gpu_memory_total_bytes: [80] })),
      { metric: "gpu_memory_used_bytes", whole: "gpu_memory_total_bytes" },
    );
    expect(model?.range).toEqual([0, 80]);
  });

  it("draws a counter as its rate and each label as a line", () => {
    const ring = ringOf({
      [seriesKey("host_disk_read_bytes_total", "a")]: [0, 10, 20],
      [seriesKey("host_disk_read_bytes_total", "b")]: [0, 0, 0],
      [seriesKey("host_disk_written_bytes_total", "a")]: [0, 40_000, 80_000],
    });
    const model = chartModel(view(ring), { metric: "host_disk_read_bytes_total" });
    expect(model?.lines.map((line) => line.label)).toEqual(["a", "b"]);
    expect(model?.lines[0]?.values[2]).toBe(10);
    const written = chartModel(view(ring), { metric: "host_disk_written_bytes_total" });
    const both = together(model, written);
    expect(both?.lines).toHaveLength(3);
    expect(both?.range).toEqual([0, 65_536]);
    expect(together(null, null)).toBeNull();
  });

  it("makes no wave of a degree's noise", () => {
    const model = chartModel(view(ringOf({ gpu_temperature_celsius: [61, 62, 61] })), {
      metric: "gpu_temperature_celsius",
    });
    expect(model?.range).toEqual([50, 80]);
  });

  it("smooths on view and leaves the ring raw", () => {
    const ring = ringOf({ gpu_power_watts: [0, 100, 0, 100] });
    const model = chartModel(view(ring, 2), { metric: "gpu_power_watts" });
    expect(Array.from(model?.lines[0]?.values ?? [])).toEqual([0, 50, 50, 50]);
    expect(Array.from(ring.column("gpu_power_watts") ?? [])).toEqual([0, 100, 0, 100]);
  });

  it("ends its axes at round numbers", () => {
    expect([0, 0.7, 1, 1.01, 640, 2.62e9].map(niceAbove)).toEqual([1, 0.8, 1, 1.2, 800, 3e9]);
  });
});
