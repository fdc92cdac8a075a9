import { describe, expect, it } from "vitest";
import { fillRing } from "./head";
import { Ring, seriesKey } from "./ring";

const columnOf = (ring: Ring, key: string) => Array.from(ring.column(key) ?? []);

describe("ring", () => {
  it("keeps rows in order and forgets what is older than its span", () => {
    const ring = new Ring(1, 10);
    for (let t = 0; t < 1000; t++) ring.append(t, [["a", t * 2]]);
    expect(Array.from(ring.times())).toEqual([
      989, 990, 991, 992, 993, 994, 995, 996, 997, 998, 999,
    ]);
    expect(columnOf(ring, "a")).toEqual(Array.from(ring.times()).map((t) => t * 2));
    expect(ring.lastTime).toBe(999);
  });

  it("holds absent as NaN and gives an absent series no column", () => {
    const ring = new Ring(1, 10);
    ring.append(1, [
      ["a", 1],
      ["never", Number.NaN],
    ]);
    ring.append(2, [["b", 5]]);
    expect(columnOf(ring, "a")).toEqual([1, Number.NaN]);
    expect(columnOf(ring, "b")).toEqual([Number.NaN, 5]);
    expect(ring.column("never")).toBeUndefined();
  });

  it("writes a gap where ticks are missing", () => {
    const ring = new Ring(1, 100);
    ring.append(1, [["a", 1]]);
    ring.append(20, [["a", 2]]);
    expect(Array.from(ring.times())).toEqual([1, 2, 20]);
    expect(columnOf(ring, "a")).toEqual([1, Number.NaN, 2]);
  });

  it("begins anew when the clock runs backwards", () => {
    const ring = new Ring(1, 100);
    ring.append(50, [["a", 1]]);
    ring.append(10, [["a", 2]]);
    expect(Array.from(ring.times())).toEqual([10]);
    expect(columnOf(ring, "a")).toEqual([2]);
  });

  it("grows when ticks come faster than the interval says", () => {
    const ring = new Ring(1, 60);
    for (let i = 0; i < 2000; i++) ring.append(i / 10, [["a", i]]);
    expect(ring.length).toBe(601);
    expect(columnOf(ring, "a")[0]).toBe(1399);
  });

  it("knows the labels of a metric", () => {
    const ring = new Ring(1);
    ring.append(1, [
      [seriesKey("fan", "0"), 1],
      [seriesKey("fan", "1"), 2],
      ["fans", 3],
    ]);
    expect(ring.labelsOf("fan")).toEqual(["0", "1"]);
  });
});

describe("head", () => {
  it("fills the rows of the fast column and holds slow readings until they are too old", () => {
    const ring = new Ring(1);
    const fast = Array.from({ length: 61 }, (_, i) => i * 1000);
    fillRing(ring, [
      {
        subject: "x",
        times_ms: [0, 10_000, 20_000],
        series: [{ metric: "slow", label: "", values: [1, null, 3] }],
      },
      { subject: "x", times_ms: fast, series: [{ metric: "fast", label: "l", values: fast }] },
    ]);
    const slow = columnOf(ring, "slow");
    expect(ring.length).toBe(61);
    expect(slow[9]).toBe(1);
    expect(slow[15]).toBeNaN();
    expect(slow[45]).toBe(3);
    expect(slow[46]).toBeNaN();
    expect(columnOf(ring, seriesKey("fast", "l"))[60]).toBe(60_000);
  });

  it("leaves the ring empty when there is nothing", () => {
    const ring = new Ring(1);
    fillRing(ring, []);
    expect(ring.length).toBe(0);
  });
});
