// One metric of one subject: its name, its number now, what stands beside it, and its ten minutes.
import type { ComponentChildren, JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { MetricRow, Subject } from "../api/types";
import { age, bytesOf, humanize, joined, ratio } from "../format";
import { labelWord, t, tx } from "../i18n";
import { store } from "../state/app";
import { smoothing } from "../state/prefs";
import { numberOf, read } from "../state/reading";
import { chartModel } from "../state/series";
import { ReadingText, readingTitle, reasonText } from "./Reading";
import { TimeChart } from "./TimeChart";

export interface LineSpec {
  metric: string;
  whole?: string;
  limit?: string;
}

interface Props extends LineSpec {
  catalog: Catalog;
  subjectKey: string;
  subject: Subject;
  hasAxis?: boolean;
  // Instead of the metric's own number: what a counter's or a labelled metric's line says.
  children?: ComponentChildren;
  note?: string;
}

export const groupHue = (row: MetricRow): string => row.group.replaceAll("_", "-");

function besideText(catalog: Catalog, subject: Subject, row: MetricRow, spec: LineSpec): string {
  const reading = read(subject, row.name);
  if (reading.kind === "absent") return reasonText(catalog, reading.reason);
  if (reading.kind === "stale") return t("stale", age(reading.ageSeconds));
  const whole = spec.whole === undefined ? undefined : numberOf(subject, spec.whole);
  if (whole !== undefined && whole > 0) {
    return `${t("of", joined(bytesOf(reading.number, whole).whole))} · ${joined(ratio(reading.number / whole))}`;
  }
  const limit = spec.limit === undefined ? undefined : numberOf(subject, spec.limit);
  if (limit !== undefined) return t("limit", joined(humanize(limit, row.unit)));
  const band = catalog.bandOf(row.name);
  const low = band && numberOf(subject, band.min);
  const high = band && numberOf(subject, band.max);
  if (low === undefined || high === undefined) return "";
  return `${humanize(low, row.unit).text} – ${joined(humanize(high, row.unit))}`;
}

export function emptyText(catalog: Catalog, subject: Subject, metric: string): string {
  const reading = read(subject, metric);
  return reading.kind === "absent" ? reasonText(catalog, reading.reason) : t("nothing_yet");
}

export function MetricLine(props: Props): JSX.Element | null {
  const { catalog, subjectKey, subject, metric, hasAxis = false, children, note } = props;
  const row = catalog.metric(metric);
  if (row === undefined) return null;
  const build = () =>
    chartModel(
      {
        catalog,
        ring: store.ring(subjectKey),
        intervalSeconds: store.snapshot?.interval_seconds ?? 1,
        smoothingSeconds: smoothing.peek(),
      },
      props,
    );
  const title = readingTitle(catalog, row, read(subject, metric));
  const isPlain = children === undefined;
  const beside = note ?? (isPlain ? besideText(catalog, subject, row, props) : "");
  const isAbsent = isPlain && read(subject, metric).kind === "absent";
  return (
    <div class="line">
      <div class="line-text">
        <div class="line-label" title={title}>
          {tx(row.brief)}
        </div>
        <div class="line-number">
          {children ?? <ReadingText catalog={catalog} subject={subject} metric={metric} />}
        </div>
        <div class={isAbsent ? "line-beside is-reason" : "line-beside"}>{beside}</div>
      </div>
      <TimeChart
        title={tx(row.brief)}
        hue={groupHue(row)}
        build={build}
        emptyText={row.label === "" ? emptyText(catalog, subject, metric) : t("nothing_yet")}
        hasAxis={hasAxis}
      />
    </div>
  );
}

// Label and number of each line of a chart with many; the swatch says which is which.
export function Legend({
  catalog,
  subject,
  metric,
  labels,
}: {
  catalog: Catalog;
  subject: Subject;
  metric: string;
  labels: readonly string[];
}): JSX.Element {
  return (
    <span class="legend">
      {labels.map((label, i) => (
        <span class="legend-item" key={label}>
          <i class={`swatch swatch-${i % 6}`} />
          <span class="legend-label">{labelWord(label)}</span>
          <ReadingText catalog={catalog} subject={subject} metric={metric} label={label} />
        </span>
      ))}
    </span>
  );
}
