// From a subject's ring to what a chart draws: one metric, its band, its limit, its labels. One
// builder for every metric there is; what differs comes from the catalogue.
import type { Catalog } from "../api/catalog";
import type { MetricRow } from "../api/types";
import { humanize, humanizeRate, joined } from "../format";
import { rates } from "./rates";
import { type Ring, seriesKey } from "./ring";
import { smooth } from "./smooth";

export interface Line {
  label: string;
  values: Float64Array;
  low?: Float64Array;
  high?: Float64Array;
  isLimit?: boolean;
}

export interface ChartModel {
  from: number;
  to: number;
  times: Float64Array;
  lines: Line[];
  range: [number, number];
  // Where the label of the scale stands and what it says: the limit where there is one, else the top.
  mark: number;
  // The numbers beside the chart say the top already; a small chart need not repeat it.
  isMarkPlain: boolean;
  format: (value: number) => string;
}

export interface ChartRequest {
  metric: string;
  labels?: readonly string[]; // default: every label seen
  limit?: string; // a metric drawn as a dashed line
  whole?: string; // a metric that is the top of the axis
}

interface View {
  catalog: Catalog;
  ring: Ring;
  intervalSeconds: number;
  smoothingSeconds: number;
}

// An axis must not make a wave of noise: temperatures span at least this.
const LEAST_CELSIUS = 30;

function lastFinite(values: Float64Array | undefined): number | undefined {
  if (values === undefined) return undefined;
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i] as number;
    if (!Number.isNaN(value)) return value;
  }
  return undefined;
}

export function extent(lines: readonly Line[]): [number, number] | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const line of lines) {
    for (const column of [line.values, line.low, line.high]) {
      for (const value of column ?? []) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  return low > high ? undefined : [low, high];
}

// A round number at or above.
export function niceAbove(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]) {
    if (value <= step * power * 1.0000001) return step * power;
  }
  return 10 * power;
}

function niceBytesAbove(value: number): number {
  let step = 1024;
  while (step < value) step *= 2;
  return step;
}

export function rangeOf(
  row: MetricRow,
  extents: [number, number],
  whole?: number,
): [number, number] {
  const [low, high] = extents;
  if (whole !== undefined) return [0, whole];
  if (row.kind === "counter") {
    if (row.unit === "seconds") return [0, Math.max(niceAbove(high), 0.01)];
    return [0, row.unit === "bytes" ? niceBytesAbove(high) : niceAbove(high)];
  }
  if (row.unit === "ratio") return [0, Math.max(1, high)];
  if (row.unit === "celsius") {
    const bottom = Math.floor((low - 2) / 10) * 10;
    return [bottom, Math.max(bottom + LEAST_CELSIUS, Math.ceil((high + 2) / 10) * 10)];
  }
  if (row.unit === "bytes") return [Math.min(0, low), niceBytesAbove(high)];
  const top = niceAbove(high * 1.02);
  return [Math.min(0, low), row.unit === "" ? Math.max(2, Math.ceil(top)) : top];
}

function lineOf(view: View, row: MetricRow, label: string): Line | undefined {
  const { ring, smoothingSeconds: window } = view;
  const times = ring.times();
  const raw = ring.column(seriesKey(row.name, label));
  if (raw === undefined) return undefined;
  if (row.kind === "counter") {
    return { label, values: smooth(times, rates(times, raw, view.intervalSeconds), window) };
  }
  const line: Line = { label, values: smooth(times, raw, window) };
  const band = view.catalog.bandOf(row.name);
  if (band === undefined) return line;
  const low = ring.column(seriesKey(band.min, label));
  const high = ring.column(seriesKey(band.max, label));
  if (low !== undefined && high !== undefined) {
    line.low = smooth(times, low, window, "min");
    line.high = smooth(times, high, window, "max");
  }
  return line;
}

// null: nothing was read in the last ten minutes.
export function chartModel(view: View, request: ChartRequest): ChartModel | null {
  const row = view.catalog.metric(request.metric);
  const { ring } = view;
  if (row === undefined || ring.length === 0) return null;
  const labels = row.label === "" ? [""] : (request.labels ?? ring.labelsOf(row.name));
  const lines = labels.flatMap((label) => lineOf(view, row, label) ?? []);
  const extents = extent(lines);
  if (extents === undefined) return null;
  const limit = request.limit === undefined ? undefined : ring.column(request.limit);
  const top = lastFinite(limit);
  if (limit !== undefined && top !== undefined) {
    lines.push({ label: request.limit as string, values: limit, isLimit: true });
    extents[1] = Math.max(extents[1], top);
  }
  const whole = request.whole === undefined ? undefined : lastFinite(ring.column(request.whole));
  const range = rangeOf(row, extents, whole);
  // Room above a limit, so that its line is seen.
  if (top !== undefined) range[1] = Math.max(extents[1] * 1.02, top * 1.08);
  const show = row.kind === "counter" ? humanizeRate : humanize;
  return {
    from: ring.lastTime - ring.spanSeconds,
    to: ring.lastTime,
    times: ring.times(),
    lines,
    range,
    mark: top ?? range[1],
    isMarkPlain: top !== undefined || whole !== undefined,
    format: (value) => joined(show(value, row.unit)),
  };
}

// Two metrics of the same unit in one chart, such as read and written.
export function together(first: ChartModel | null, second: ChartModel | null): ChartModel | null {
  if (first === null || second === null) return first ?? second;
  return {
    ...first,
    lines: [...first.lines, ...second.lines],
    range: [Math.min(first.range[0], second.range[0]), Math.max(first.range[1], second.range[1])],
    mark: Math.max(first.mark, second.mark),
  };
}
