// What gpusight itself costs, small and always there.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { MetricRow, Snapshot } from "../api/types";
import { humanize, humanizeRate, joined, plain } from "../format";
import { labelWord, t, tx } from "../i18n";
import { store } from "../state/app";
import { lastRate } from "../state/rates";
import { labelsOf, numberOf, read } from "../state/reading";
import { seriesKey } from "../state/ring";
import { notAvailable, readingTitle } from "./Reading";

// Counters that stand for something wrong say how often since the start; the others how fast.
const isTrouble = (row: MetricRow): boolean =>
  /late|dropped|implausible|generations/.test(row.name);

function words(catalog: Catalog, snapshot: Snapshot, row: MetricRow, label: string): string {
  const number = numberOf(snapshot.self, row.name, label);
  if (number === undefined) return notAvailable(catalog);
  if (row.kind !== "counter") return joined(humanize(number, row.unit));
  if (isTrouble(row)) return plain(number);
  const ring = store.ring("self");
  const rate = lastRate(
    ring.times(),
    ring.column(seriesKey(row.name, label)),
    snapshot.interval_seconds,
  );
  if (Number.isNaN(rate)) return "–";
  const shown = joined(humanizeRate(rate, row.unit));
  return row.unit === "seconds" ? t("self_rate", shown) : shown;
}

export function SelfFooter({
  catalog,
  snapshot,
}: {
  catalog: Catalog;
  snapshot: Snapshot;
}): JSX.Element {
  const { self } = snapshot;
  return (
    <footer class="self">
      <h2>{t("self")}</h2>
      <dl>
        <div>
          <dt>{t("version", snapshot.version)}</dt>
          <dd />
        </div>
        {catalog.rowsOf("self").flatMap((row) => {
          const labels = row.label === "" ? [""] : labelsOf(self, row.name);
          if (labels.length > 4) return [];
          return labels.map((label) => (
            <div
              key={`${row.name}/${label}`}
              title={readingTitle(catalog, row, read(self, row.name, label))}
            >
              <dt>
                {tx(row.brief)}
                {label !== "" && ` ${labelWord(label)}`}
              </dt>
              <dd class="num">{words(catalog, snapshot, row, label)}</dd>
            </div>
          ));
        })}
      </dl>
    </footer>
  );
}
