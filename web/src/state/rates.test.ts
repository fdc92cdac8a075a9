import { describe, expect, it } from "vitest";
import { lastRate, rates } from "./rates";

const seconds = (n: number) => Float64Array.from({ length: n }, (_, i) => i);

describe("rates", () => {
  it("spans at least two seconds of samples", () => {
    const out = rates(seconds(5), [0, 10, 20, 40, 60], 1);
    expect(Array.from(out)).toEqual([Number.NaN, Number.NaN, 10, 15, 20]);
  });

  it("is absent until two seconds after a reset", () => {
    const out = rates(seconds(7), [100, 110, 120, 5, 15, 25, 35], 1);
    expect(Array.from(out)).toEqual([Number.NaN, Number.NaN, 10, Number.NaN, Number.NaN, 10, 10]);
  });

  it("goes on over one absent reading and stops at a long gap", () => {
    const short = rates([0, 1, 2, 3, 4], [0, 10, Number.NaN, 30, 40], 1);
    expect(Array.from(short)).toEqual([Number.NaN, Number.NaN, Number.NaN, 10, 10]);
    const long = rates([0, 1, 2, 100, 101, 102], [0, 1, 2, 100, 101, 102], 1);
    expect(Array.from(long)).toEqual([Number.NaN, Number.NaN, 1, Number.NaN, Number.NaN, 1]);
  });

  it("works with ticks of a minute", () => {
    expect(Array.from(rates([0, 60, 120], [0, 60, 180], 60))).toEqual([Number.NaN, 1, 2]);
  });

  it("gives the newest alone the same value", () => {
    const times = seconds(50);
    const values = times.map((t) => t * 7);
    expect(lastRate(times, values, 1)).toBe(7);
    expect(lastRate(times, undefined, 1)).toBeNaN();
  });
});
