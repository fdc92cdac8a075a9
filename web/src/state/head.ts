// The ten minutes that come with a snapshot, laid into a ring. A subject may have several time
// columns (one per cadence): the one with most rows gives the rows, and a series of another column
// stands in each row until its next reading, as the live values of a slow metric do.
import type { HeadGroup } from "../api/types";
import { type Ring, seriesKey } from "./ring";

// A slow reading counts for this many of its own intervals, then it is absent.
const HOLD_INTERVALS = 2.5;

interface Held {
  key: string;
  times: number[];
  values: (number | null)[];
  holdMs: number;
  next: number;
}

function medianStep(times: number[]): number {
  const steps: number[] = [];
  for (let i = 1; i < times.length; i++) {
    steps.push((times[i] as number) - (times[i - 1] as number));
  }
  steps.sort((a, b) => a - b);
  return steps[steps.length >> 1] ?? 10_000;
}

function valueAt(held: Held, timeMs: number): number {
  while (held.next < held.times.length && (held.times[held.next] as number) <= timeMs) held.next++;
  const at = held.next - 1;
  if (at < 0 || timeMs - (held.times[at] as number) > held.holdMs) return Number.NaN;
  return held.values[at] ?? Number.NaN;
}

export function fillRing(ring: Ring, groups: HeadGroup[]): void {
  const base = groups.reduce<HeadGroup | undefined>(
    (best, group) => (group.times_ms.length > (best?.times_ms.length ?? 0) ? group : best),
    undefined,
  );
  if (base === undefined) return;
  const held: Held[] = groups
    .filter((group) => group !== base)
    .flatMap((group) => {
      const holdMs = HOLD_INTERVALS * medianStep(group.times_ms);
      return group.series.map((series) => ({
        key: seriesKey(series.metric, series.label),
        times: group.times_ms,
        values: series.values,
        holdMs,
        next: 0,
      }));
    });
  const own = base.series.map((series) => ({
    key: seriesKey(series.metric, series.label),
    values: series.values,
  }));
  base.times_ms.forEach((timeMs, row) => {
    const values: [string, number][] = [];
    for (const series of own) values.push([series.key, series.values[row] ?? Number.NaN]);
    for (const series of held) values.push([series.key, valueAt(series, timeMs)]);
    ring.append(timeMs / 1000, values);
  });
}
