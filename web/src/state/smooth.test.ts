import { describe, expect, it } from "vitest";
import { smooth } from "./smooth";

const times = Float64Array.from({ length: 8 }, (_, i) => i);
const raw = Float64Array.from([0, 10, 20, 30, Number.NaN, 100, 0, 50]);

describe("smoothing", () => {
  it("is off at zero and gives the very same column", () => {
    expect(smooth(times, raw, 0)).toBe(raw);
  });

  it("averages over the window behind each point and not across a gap", () => {
    expect(Array.from(smooth(times, raw, 2))).toEqual([0, 5, 15, 25, Number.NaN, 100, 50, 25]);
  });

  it("keeps the extremes of a window", () => {
    expect(Array.from(smooth(times, raw, 3, "max"))).toEqual([
      0,
      10,
      20,
      30,
      Number.NaN,
      100,
      100,
      100,
    ]);
    expect(Array.from(smooth(times, raw, 3, "min"))).toEqual([0, 0, 0, 10, Number.NaN, 100, 0, 0]);
  });

  it("leaves the raw column untouched", () => {
    const before = Array.from(raw);
    smooth(times, raw, 5);
    expect(Array.from(raw)).toEqual(before);
  });

  it("holds as many ticks as its seconds although ticks jitter", () => {
    const jittery = Float64Array.from([0, 1.01, 1.99, 3.02, 4.0, 4.99]);
    const ones = Float64Array.from([0, 0, 0, 0, 0, 5]);
    expect(smooth(jittery, ones, 5)[5]).toBeCloseTo(1);
  });
});
