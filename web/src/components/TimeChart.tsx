// The last ten minutes of one metric. Where nothing was read there is no axis, only the reason.
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import { store } from "../state/app";
import { drawNever, drawSoon, useOnScreen } from "../state/frames";
import { isDark, lang, smoothing } from "../state/prefs";
import { SPAN_SECONDS } from "../state/ring";
import { type ChartModel, extent } from "../state/series";
import { type ChartColours, ChartView } from "./chart_view";

interface Props {
  title: string;
  hue: string; // names the CSS property --hue-…
  build: () => ChartModel | null;
  emptyText: string;
  hasAxis?: boolean;
}

// How often the words for those who do not see the chart follow it.
const SPOKEN_MS = 5000;

// A chart is drawn anew when it would move by this much: less nobody can see. A small chart of ten
// minutes at one reading a second so takes two readings in one drawing.
const LEAST_PIXELS = 0.5;

const timeNow = (): number => store.snapshot?.time ?? Number.NaN;

const MANY = ["--many-0", "--many-1", "--many-2", "--many-3", "--many-4", "--many-5"];

// Reading a style is dear, and a colour changes with the theme only.
const coloursKnown = new Map<string, ChartColours>();

function coloursOf(hue: string, lines: number): ChartColours {
  const key = `${isDark.value} ${lines > 1 ? "many" : hue}`;
  let colours = coloursKnown.get(key);
  if (colours === undefined) {
    colours = readColours(lines > 1 ? MANY : [`--hue-${hue}`]);
    coloursKnown.set(key, colours);
  }
  return colours;
}

function readColours(lines: readonly string[]): ChartColours {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  return {
    lines: lines.map(get),
    grid: get("--chart-grid"),
    text: get("--muted"),
    limit: get("--chart-limit"),
    isDark: isDark.value,
  };
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

// What a reader who does not see the chart is told.
function spoken(title: string, model: ChartModel | null): string {
  const lines = model?.lines.filter((line) => line.isLimit !== true) ?? [];
  const extents = extent(lines);
  if (model === null || extents === undefined) return t("chart_nothing", title);
  const now = lines.map((line) => line.values[line.values.length - 1] as number);
  const words = now.map((value) => (Number.isNaN(value) ? "–" : model.format(value))).join(", ");
  return t("chart_label", title, words, model.format(extents[0]), model.format(extents[1]));
}

export function TimeChart({ title, hue, build, emptyText, hasAxis = false }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const bottom = useRef<HTMLDivElement>(null);
  const view = useRef<ChartView | null>(null);
  const latest = useRef({ title, build, hue });
  latest.current = { title, build, hue };
  const isOnScreen = useOnScreen(box);

  useEffect(() => {
    if (host.current === null || readout.current === null) return;
    const made = new ChartView(host.current, readout.current, hasAxis);
    view.current = made;
    const sizes = new ResizeObserver(() => made.resize());
    sizes.observe(host.current);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, [hasAxis]);

  useEffect(() => {
    if (!isOnScreen) return;
    let speakAt = 0;
    const draw = (): void => {
      const { title, build, hue } = latest.current;
      const model = build();
      const many = model?.lines.filter((line) => line.isLimit !== true).length ?? 0;
      box.current?.classList.toggle("is-empty", model === null);
      if (performance.now() >= speakAt) {
        speakAt = performance.now() + SPOKEN_MS;
        box.current?.setAttribute("aria-label", spoken(title, model));
      }
      if (top.current !== null && bottom.current !== null && model !== null) {
        const [low, high] = model.range;
        const isShare = low === 0 && high === 1; // 0 to 100 % goes without saying
        setText(top.current, isShare ? "" : model.format(model.mark));
        top.current.classList.toggle("is-plain", model.isMarkPlain);
        top.current.style.top = `${((high - model.mark) / (high - low)) * 100}%`;
        setText(bottom.current, low === 0 ? "" : model.format(low));
      }
      view.current?.show(model, coloursOf(hue, many));
    };
    let drawnAt = Number.NaN; // the newest reading in the picture
    const drawAt = (time: number): void => {
      drawnAt = time;
      drawSoon(draw);
    };
    const stopLooks = effect(() => {
      smoothing.value;
      isDark.value;
      lang.value;
      drawAt(timeNow());
    });
    const stopFrames = effect(() => {
      store.frame.value;
      const time = timeNow();
      const moved = ((time - drawnAt) / SPAN_SECONDS) * (view.current?.width ?? 0);
      if (!(Math.abs(moved) < LEAST_PIXELS)) drawAt(time);
    });
    return () => {
      stopLooks();
      stopFrames();
      drawNever(draw);
    };
  }, [isOnScreen, hasAxis]);

  return (
    <div class={hasAxis ? "chart has-axis" : "chart"} ref={box} role="img" aria-label={title}>
      <div class="chart-host" ref={host} />
      <div class="chart-scale">
        <div class="chart-top" ref={top} />
        <div class="chart-bottom" ref={bottom} />
      </div>
      <div class="chart-readout" ref={readout} hidden />
      <div class="chart-empty">{emptyText}</div>
    </div>
  );
}
