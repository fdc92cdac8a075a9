import { describe, expect, it } from "vitest";
import type { DeltaMessage, EventRow, SnapshotMessage } from "../api/types";
import { catalogDocument, makeSnapshot } from "../test_data";
import { seriesKey } from "./ring";
import { Store } from "./store";

const first = (): SnapshotMessage => ({
  type: "snapshot",
  n: 0,
  snapshot: makeSnapshot(),
  head: {
    groups: [
      {
        subject: "GPU-1",
        times_ms: [998_000, 999_000, 1_000_000],
        series: [{ metric: "gpu_power_watts", label: "", values: [280, null, 300] }],
      },
    ],
  },
});

const tick = (time: number, device: object): DeltaMessage => ({
  type: "delta",
  n: 1,
  sequence: time,
  time,
  devices: { "GPU-1": device },
});

function ready(isLookedAt?: () => boolean): Store {
  const store = new Store(isLookedAt);
  store.setCatalog(catalogDocument);
  store.take(first(), 0);
  return store;
}

describe("store", () => {
  it("begins with the ten minutes of the snapshot, each tick once", () => {
    const ring = ready().ring("GPU-1");
    expect(Array.from(ring.times())).toEqual([998, 999, 1000]);
    expect(Array.from(ring.column("gpu_power_watts") ?? [])).toEqual([280, Number.NaN, 300]);
  });

  it("repeats a value that a delta does not name, as it is still the reading", () => {
    const store = ready();
    store.take(tick(1001, { metrics: { gpu_utilization_ratio: 0.7 } }), 1);
    expect(Array.from(store.ring("GPU-1").column("gpu_power_watts") ?? []).at(-1)).toBe(300);
    expect(Array.from(store.ring("GPU-1").column("gpu_utilization_ratio") ?? []).at(-1)).toBe(0.7);
  });

  it("draws no line through absent or old values", () => {
    const store = ready();
    store.take(tick(1001, { stale: { gpu_power_watts: 4 } }), 1);
    store.take(
      tick(1002, { metrics: { gpu_power_watts: null }, stale: { gpu_power_watts: null } }),
      2,
    );
    store.take(tick(1003, { metrics: { gpu_power_watts: 5 } }), 3);
    const column = Array.from(store.ring("GPU-1").column("gpu_power_watts") ?? []);
    expect(column.slice(-3)).toEqual([Number.NaN, Number.NaN, 5]);
  });

  it("keeps one column a label", () => {
    const store = ready();
    store.take(tick(1001, { metrics: { gpu_clock_hertz: { graphics: 7, memory: null } } }), 1);
    const ring = store.ring("GPU-1");
    expect(Array.from(ring.column(seriesKey("gpu_clock_hertz", "graphics")) ?? []).at(-1)).toBe(7);
    expect(ring.column(seriesKey("gpu_clock_hertz", "memory"))).toBeUndefined();
  });

  it("merges while nobody looks, and shows all of it in one frame later", () => {
    let isLookedAt = true;
    const store = ready(() => isLookedAt);
    const before = store.frame.value;
    isLookedAt = false;
    for (let t = 1001; t < 1011; t++) store.take(tick(t, { metrics: { gpu_power_watts: t } }), t);
    expect(store.frame.value).toBe(before);
    expect(store.ring("GPU-1").lastTime).toBe(1010);
    store.catchUp();
    store.catchUp();
    expect(store.frame.value).toBe(before + 1);
  });

  it("refuses a delta before a snapshot", () => {
    expect(() => new Store().take(tick(1, {}), 0)).toThrow();
  });

  it("keeps events newest first, each once, and not without end", () => {
    const store = new Store();
    const event = (id: number): EventRow => ({
      id,
      time: id,
      kind: "xid",
      severity: "error",
      uuid: null,
      code: 0,
      fields: {},
      message: { en: "", zh: "" },
    });
    store.addEvents([event(2), event(1)]);
    store.addEvents([event(3), event(2)]);
    expect(store.events.value.map((one) => one.id)).toEqual([3, 2, 1]);
    store.addEvents(Array.from({ length: 1000 }, (_, i) => event(i)));
    expect(store.events.value).toHaveLength(200);
  });
});
