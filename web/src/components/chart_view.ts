// One uPlot and the two words beside it. It is told what to show; it asks nobody for anything.
import uPlot from "uplot";
import { clock, hourMinute } from "../format";
import type { ChartModel } from "../state/series";

export interface ChartColours {
  lines: readonly string[];
  grid: string;
  text: string;
  limit: string;
  isDark: boolean;
}

const AXIS_HEIGHT = 18;
const TICK_SECONDS = 120;
const HALF_LABEL = 15;
const FONT = '10px system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif';

type Column = (number | null)[];

function toColumn(values: Float64Array): Column {
  const column: Column = new Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    column[i] = Number.isNaN(value) ? null : value;
  }
  return column;
}

// "#rrggbb", as theme.css has them, to what a canvas of any age understands.
function withAlpha(colour: string, alpha: number): string {
  const part = (at: number): number => Number.parseInt(colour.slice(at, at + 2), 16);
  return `rgba(${part(1)}, ${part(3)}, ${part(5)}, ${alpha})`;
}

// A line with a band takes three columns: value, lowest, highest; the order is that of seriesOf().
function columnsOf(model: ChartModel): Column[] {
  return model.lines.flatMap((line) =>
    line.low === undefined || line.high === undefined
      ? [toColumn(line.values)]
      : [toColumn(line.values), toColumn(line.low), toColumn(line.high)],
  );
}

const shapeOf = (model: ChartModel): string =>
  model.lines
    .map((line) => `${line.label}${line.low === undefined ? "" : "±"}${line.isLimit ?? ""}`)
    .join() + (model.range[0] === 0 ? "0" : "");

export class ChartView {
  private readonly host: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly hasAxis: boolean;
  private plot: uPlot | null = null;
  private shape = "";
  private model: ChartModel | null = null;
  width = 0; // CSS pixels, as last measured: reading it anew each time would force a layout

  constructor(host: HTMLElement, readout: HTMLElement, hasAxis: boolean) {
    this.host = host;
    this.width = host.clientWidth;
    this.readout = readout;
    this.hasAxis = hasAxis;
  }

  show(model: ChartModel | null, colours: ChartColours): void {
    this.model = model;
    const shape = model === null ? "" : `${shapeOf(model)}|${colours.isDark}`;
    if (shape !== this.shape || model === null) this.destroy();
    if (model === null) return;
    const data = [Array.from(model.times), ...columnsOf(model)] as uPlot.AlignedData;
    if (this.plot === null) {
      this.plot = this.make(model, colours, data);
      this.shape = shape;
    } else {
      this.plot.setData(data, false);
    }
    this.plot.batch((plot: uPlot) => {
      plot.setScale("x", { min: model.from, max: model.to });
      plot.setScale("y", { min: model.range[0], max: model.range[1] });
    });
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    this.width = width;
    if (width > 0 && height > 0) this.plot?.setSize({ width, height });
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
    this.shape = "";
    this.readout.hidden = true;
  }

  private make(model: ChartModel, colours: ChartColours, data: uPlot.AlignedData): uPlot {
    const { series, bands } = seriesOf(model, colours);
    return new uPlot(
      {
        width: Math.max(this.host.clientWidth, 10),
        height: Math.max(this.host.clientHeight, 10),
        padding: [3, 0, this.hasAxis ? 0 : 2, 0],
        legend: { show: false },
        cursor: {
          y: false,
          drag: { x: false, y: false, setScale: false },
          points: { show: false },
          sync: { key: "gpusight", setSeries: false },
        },
        scales: { x: { time: true, auto: false }, y: { auto: false } },
        axes: [xAxis(colours, this.hasAxis), yAxis(colours)],
        series,
        bands,
        hooks: { setCursor: [(plot) => this.point(plot)] },
      },
      data,
      this.host,
    );
  }

  // The moment under the pointer, in this chart and in every other one.
  private point(plot: uPlot): void {
    const { idx, left } = plot.cursor;
    const model = this.model;
    const isOver = idx !== null && idx !== undefined && (left ?? -1) >= 0 && model !== null;
    this.readout.hidden = !isOver;
    if (!isOver) return;
    const time = model.times[idx];
    const values = model.lines
      .filter((line) => line.isLimit !== true)
      .slice(0, 4)
      .map((line) => {
        const value = line.values[idx];
        return value === undefined || Number.isNaN(value) ? "–" : model.format(value);
      });
    // The time stands once, under the pointer; every other chart follows with its value alone.
    const isPointed = plot.over.matches(":hover");
    const at = isPointed && time !== undefined ? `${clock(time)}  ` : "";
    this.readout.textContent = at + values.join(" · ");
    this.readout.classList.toggle("is-pointed", isPointed);
    this.readout.dataset.side = (left ?? 0) > plot.over.clientWidth / 2 ? "left" : "right";
  }
}

function seriesOf(model: ChartModel, colours: ChartColours) {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const plain = { points: { show: false }, spanGaps: false };
  const many = model.lines.filter((line) => line.isLimit !== true).length > 1;
  model.lines.forEach((line, i) => {
    const colour = colours.lines[i % colours.lines.length] as string;
    if (line.isLimit === true) {
      series.push({ ...plain, stroke: colours.limit, width: 1, dash: [4, 3] });
      return;
    }
    const hasBand = line.low !== undefined && line.high !== undefined;
    series.push({
      ...plain,
      stroke: colour,
      width: 1,
      ...(many || hasBand || model.range[0] !== 0 ? {} : { fill: withAlpha(colour, 0.13) }),
    });
    if (!hasBand) return;
    const at = series.length;
    series.push({ ...plain, width: 0 }, { ...plain, width: 0 });
    bands.push({ series: [at + 1, at], fill: withAlpha(colour, 0.28) });
  });
  return { series, bands };
}

// A label that the edge would cut is left out.
function hasRoom(plot: uPlot, at: number): boolean {
  const { min, max } = plot.scales.x ?? {};
  if (min == null || max == null) return false;
  const x = ((at - min) / (max - min)) * plot.width;
  return x >= HALF_LABEL && x <= plot.width - HALF_LABEL;
}

function xAxis(colours: ChartColours, isShown: boolean): uPlot.Axis {
  return {
    show: true,
    size: isShown ? AXIS_HEIGHT : 0,
    gap: 3,
    font: FONT,
    stroke: colours.text,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { show: false },
    border: { show: false },
    splits: (_plot, _axis, min, max) => {
      const splits: number[] = [];
      const first = Math.ceil(min / TICK_SECONDS) * TICK_SECONDS;
      for (let at = first; at <= max; at += TICK_SECONDS) splits.push(at);
      return splits;
    },
    values: (plot, splits) =>
      splits.map((at) => (isShown && hasRoom(plot, at) ? hourMinute(at) : "")),
  };
}

function yAxis(colours: ChartColours): uPlot.Axis {
  return {
    show: true,
    size: 0,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { show: false },
    border: { show: false },
    splits: (_plot, _axis, min, max) => [min, (min + max) / 2, max],
    values: (_plot, splits) => splits.map(() => ""),
  };
}
