import { describe, expect, it } from "vitest";
import { makeDevice, makeSnapshot } from "../test_data";
import { mergeDelta } from "./merge";
import type { DeltaMessage } from "./types";

const delta = (rest: Partial<DeltaMessage>): DeltaMessage => ({
  type: "delta",
  n: 1,
  sequence: 2,
  time: 1001,
  ...rest,
});

describe("a delta", () => {
  it("changes what it names and keeps the rest", () => {
    const merged = mergeDelta(
      makeSnapshot(),
      delta({
        devices: { "GPU-1": { metrics: { gpu_power_watts: 310 } } },
        host: { metrics: { host_load1: 2 } },
      }),
    );
    expect(merged.sequence).toBe(2);
    expect(merged.devices[0]?.metrics).toMatchObject({
      gpu_power_watts: 310,
      gpu_utilization_ratio: 0.5,
    });
    expect(merged.host.metrics.host_load1).toBe(2);
    expect(merged.host.name).toBe("box");
  });

  it("takes a metric away with its reason, and gives it back", () => {
    const gone = mergeDelta(
      makeSnapshot(),
      delta({
        devices: {
          "GPU-1": { metrics: { gpu_power_watts: null }, reasons: { gpu_power_watts: "lost" } },
        },
      }),
    );
    expect(gone.devices[0]?.metrics.gpu_power_watts).toBeNull();
    expect(gone.devices[0]?.reasons.gpu_power_watts).toBe("lost");
    const back = mergeDelta(
      gone,
      delta({
        devices: {
          "GPU-1": { metrics: { gpu_power_watts: 1 }, reasons: { gpu_power_watts: null } },
        },
      }),
    );
    expect(back.devices[0]?.metrics.gpu_power_watts).toBe(1);
    expect(back.devices[0]?.reasons).not.toHaveProperty("gpu_power_watts");
  });

  it("makes a value old and fresh again", () => {
    const old = mergeDelta(
      makeSnapshot(),
      delta({ devices: { "GPU-1": { stale: { gpu_power_watts: 3 } } } }),
    );
    expect(old.devices[0]?.stale).toEqual({ gpu_power_watts: 3 });
    const fresh = mergeDelta(
      old,
      delta({ devices: { "GPU-1": { stale: { gpu_power_watts: null } } } }),
    );
    expect(fresh.devices[0]?.stale).toEqual({});
  });

  it("replaces a metric with labels whole", () => {
    const merged = mergeDelta(
      makeSnapshot(),
      delta({ devices: { "GPU-1": { metrics: { gpu_clock_hertz: { graphics: 5 } } } } }),
    );
    expect(merged.devices[0]?.metrics.gpu_clock_hertz).toEqual({ graphics: 5 });
  });

  it("carries state, users and processes", () => {
    const merged = mergeDelta(
      makeSnapshot(),
      delta({
        devices: {
          "GPU-1": { state: "lost", state_since: 7, processes: null, processes_reason: "lost" },
        },
      }),
    );
    expect(merged.devices[0]).toMatchObject({
      state: "lost",
      state_since: 7,
      processes: null,
      name: "NVIDIA H100 80GB HBM3",
    });
  });

  it("keeps the very object of a device that did not change", () => {
    const base = makeSnapshot({ devices: [makeDevice(), makeDevice({ uuid: "GPU-2" })] });
    const merged = mergeDelta(
      base,
      delta({ devices: { "GPU-1": { metrics: { gpu_power_watts: 1 } } } }),
    );
    expect(merged.devices[1]).toBe(base.devices[1]);
    expect(merged.devices[0]).not.toBe(base.devices[0]);
    expect(base.devices[0]?.metrics.gpu_power_watts).toBe(300);
  });

  it("is refused when it speaks of an unknown device", () => {
    expect(() => mergeDelta(makeSnapshot(), delta({ devices: { "GPU-9": {} } }))).toThrow();
  });

  it("makes the page say SIMULATED once a source does", () => {
    const source = {
      name: "nvml",
      phase: "running",
      simulated: true,
      message: "",
      arguments: [],
      text: { en: "", zh: "" },
    };
    expect(mergeDelta(makeSnapshot(), delta({ sources: [source] })).simulated).toBe(true);
  });
});
