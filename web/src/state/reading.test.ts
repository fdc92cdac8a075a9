import { describe, expect, it } from "vitest";
import { makeDevice } from "../test_data";
import { freshOf, labelsOf, read } from "./reading";

describe("a reading", () => {
  it("is a value, an old value with its age, or absent with the reason", () => {
    const device = makeDevice({ stale: { gpu_power_watts: 3.2 } });
    device.reasons.gpu_power_watts = "busy";
    expect(read(device, "gpu_utilization_ratio")).toEqual({ kind: "value", number: 0.5 });
    expect(read(device, "gpu_power_watts")).toEqual({
      kind: "stale",
      number: 300,
      ageSeconds: 3.2,
      reason: "busy",
    });
    expect(read(device, "gpu_fan_speed_ratio")).toEqual({
      kind: "absent",
      reason: "not_supported",
    });
  });

  it("is unknown where nothing was said of it", () => {
    expect(read(makeDevice(), "gpu_energy_joules_total")).toEqual({
      kind: "absent",
      reason: "unknown",
    });
  });

  it("knows each label's own reason", () => {
    const device = makeDevice();
    expect(read(device, "gpu_clock_hertz", "graphics")).toEqual({ kind: "value", number: 1e9 });
    expect(read(device, "gpu_clock_hertz", "video")).toEqual({
      kind: "absent",
      reason: "driver_error",
    });
    expect(read(device, "gpu_clock_hertz", "nothing")).toEqual({
      kind: "absent",
      reason: "unknown",
    });
  });

  it("is not fooled by labels that are names of objects' own parts", () => {
    for (const label of ["constructor", "__proto__", "toString"]) {
      expect(read(makeDevice(), "gpu_clock_hertz", label).kind).toBe("absent");
    }
  });

  it("sorts labels that are numbers as numbers", () => {
    const device = makeDevice({ metrics: { m: { "10": 1, "9": 1, "2": 1 }, n: { b: 1, a: 1 } } });
    expect(labelsOf(device, "m")).toEqual(["2", "9", "10"]);
    expect(labelsOf(device, "n")).toEqual(["a", "b"]);
  });

  it("sums over what is fresh only", () => {
    const old = makeDevice({ stale: { gpu_power_watts: 1 } });
    expect(freshOf([makeDevice(), old, makeDevice()], "gpu_power_watts")).toEqual([300, 300]);
  });
});
