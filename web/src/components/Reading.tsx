// A reading in text: a value, a value grown old with its age, or "n/a" with the reason. Never 0 for
// nothing.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { MetricRow, Subject } from "../api/types";
import { age, humanize, humanizeRate, type Shown } from "../format";
import { t, tx } from "../i18n";
import { type Reading, read } from "../state/reading";

// The driver's reason in words.
export const reasonText = (catalog: Catalog, reason: string): string =>
  tx(catalog.reason(reason)) || reason.replaceAll("_", " ");

export const notAvailable = (catalog: Catalog): string =>
  tx(catalog.message("word.not_available")) || "n/a";

// The whole story for a tooltip: what it means, and what is wrong with it now.
export function readingTitle(catalog: Catalog, row: MetricRow, reading: Reading): string {
  const name = tx(row.brief);
  const help = `${tx(row.help)}\n${row.name}`;
  if (reading.kind === "value") return help;
  const reason = reasonText(catalog, reading.reason);
  return reading.kind === "stale"
    ? `${t("stale_title", name, age(reading.ageSeconds), reason)}\n${help}`
    : `${t("absent_title", name, reason)}\n${help}`;
}

export function NumberUnit({ shown }: { shown: Shown }): JSX.Element {
  return (
    <>
      <span class="num">{shown.text}</span>
      {shown.unit !== "" && <span class="unit">{shown.unit}</span>}
    </>
  );
}

interface Props {
  catalog: Catalog;
  subject: Subject;
  metric: string;
  label?: string;
  // Shows the number otherwise than the unit alone would have it.
  show?: (value: number) => Shown;
}

export function ReadingText({
  catalog,
  subject,
  metric,
  label = "",
  show,
}: Props): JSX.Element | null {
  const row = catalog.metric(metric);
  if (row === undefined) return null;
  const reading = read(subject, metric, label);
  const title = readingTitle(catalog, row, reading);
  if (reading.kind === "absent") {
    return (
      <span class="reading is-absent" title={title}>
        {notAvailable(catalog)}
      </span>
    );
  }
  const shown = (show ?? ((value: number) => humanize(value, row.unit)))(reading.number);
  return (
    <span class={reading.kind === "stale" ? "reading is-stale" : "reading"} title={title}>
      <NumberUnit shown={shown} />
      {reading.kind === "stale" && <span class="age">{t("stale", age(reading.ageSeconds))}</span>}
    </span>
  );
}

// A rate that was derived here; undefined when it cannot be.
export function RateText({
  value,
  unit,
  title,
}: {
  value: number;
  unit: string;
  title: string;
}): JSX.Element {
  if (Number.isNaN(value)) {
    return (
      <span class="reading is-absent" title={title}>
        –
      </span>
    );
  }
  return (
    <span class="reading" title={title}>
      <NumberUnit shown={humanizeRate(value, unit)} />
    </span>
  );
}
