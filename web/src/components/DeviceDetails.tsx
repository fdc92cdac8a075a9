// Everything else of a device, group by group as the catalogue orders them. No metric has a panel of
// its own: what a row is decides how it is drawn.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { Device, MetricRow } from "../api/types";
import { clock, humanizeRate, joined, plain, type Shown } from "../format";
import { labelWord, t, tx } from "../i18n";
import { store } from "../state/app";
import { lastRate } from "../state/rates";
import { labelsOf, read } from "../state/reading";
import { GREAT_LINES } from "./device";
import { Legend, MetricLine } from "./MetricLine";
import { Processes } from "./Owners";
import { ReadingText, readingTitle, reasonText } from "./Reading";
import { throttleWord } from "./StateMark";

// Shown with another row: as its whole, its limit, or as words in the card's head.
const SHOWN_ELSEWHERE = new Set([
  ...GREAT_LINES.flatMap((line) => [line.metric, line.whole, line.limit]),
  "gpu_up",
  "gpu_asleep",
]);

// What is read seldom and moves all the same: shares of time, and rates that are measured.
const isSlowLine = (row: MetricRow): boolean =>
  row.kind === "gauge" &&
  (row.group === "utilization" || row.unit === "bytes_per_second") &&
  !row.name.endsWith("_speed_bytes_per_second");

// What rarely changes is told in words; a line would be flat.
const isFact = (row: MetricRow): boolean =>
  row.kind === "state" ||
  (row.cadence === "slow" && !isSlowLine(row)) ||
  (row.kind === "counter" && row.unit === "");

const isAbsent = (device: Device, row: MetricRow): boolean =>
  row.label === ""
    ? read(device, row.name).kind === "absent"
    : labelsOf(device, row.name).length === 0;

function Facts({
  catalog,
  device,
  rows,
}: {
  catalog: Catalog;
  device: Device;
  rows: readonly MetricRow[];
}): JSX.Element {
  return (
    <dl class="facts">
      {rows.map((row) => (
        <div
          key={row.name}
          class={row.label === "" ? "" : "is-many"}
          title={readingTitle(catalog, row, read(device, row.name))}
        >
          <dt>{tx(row.brief)}</dt>
          <dd>
            {row.label === "" ? (
              <ReadingText catalog={catalog} subject={device} metric={row.name} {...showOf(row)} />
            ) : (
              labelsOf(device, row.name).map((label) => (
                <span class="fact-part" key={label}>
                  {throttleWord(catalog, label) || labelWord(label)}{" "}
                  <ReadingText
                    catalog={catalog}
                    subject={device}
                    metric={row.name}
                    label={label}
                    {...showOf(row)}
                  />
                </span>
              ))
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

// A state of 0 and 1 is off and on; any other is its number.
const showOf = (row: MetricRow): { show?: (value: number) => Shown } =>
  row.kind === "state" && row.min === 0 && row.max === 1
    ? {
        show: (value) => ({
          text: value === 1 ? t("yes") : value === 0 ? t("no") : plain(value),
          unit: "",
        }),
      }
    : {};

function DetailLine({
  catalog,
  device,
  row,
}: {
  catalog: Catalog;
  device: Device;
  row: MetricRow;
}): JSX.Element {
  const line = { catalog, subjectKey: device.uuid, subject: device, metric: row.name };
  if (row.label !== "") {
    const labels = labelsOf(device, row.name);
    return (
      <MetricLine {...line}>
        <Legend catalog={catalog} subject={device} metric={row.name} labels={labels} />
      </MetricLine>
    );
  }
  if (row.kind !== "counter") return <MetricLine {...line} />;
  const ring = store.ring(device.uuid);
  const rate = lastRate(ring.times(), ring.column(row.name), store.snapshot?.interval_seconds ?? 1);
  const note = Number.isNaN(rate) ? "" : joined(humanizeRate(rate, row.unit));
  return (
    <MetricLine {...line} note={note}>
      <ReadingText catalog={catalog} subject={device} metric={row.name} />
    </MetricLine>
  );
}

function Absent({
  catalog,
  device,
  rows,
}: {
  catalog: Catalog;
  device: Device;
  rows: readonly MetricRow[];
}): JSX.Element | null {
  if (rows.length === 0) return null;
  const byReason = new Map<string, MetricRow[]>();
  for (const row of rows) {
    const reason = device.reasons[row.name] ?? "unknown";
    byReason.set(reason, [...(byReason.get(reason) ?? []), row]);
  }
  return (
    <section class="detail-group">
      <h4>{t("absent_list")}</h4>
      <dl class="absents">
        {[...byReason].map(([reason, absent]) => (
          <div key={reason}>
            <dt>{reasonText(catalog, reason)}</dt>
            <dd>
              {absent.map((row) => (
                <span key={row.name} title={`${tx(row.help)}\n${row.name}`}>
                  {tx(row.brief)}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Identity({ device, nowSeconds }: { device: Device; nowSeconds: number }): JSX.Element {
  const facts: [string, string | null][] = [
    ["UUID", device.uuid],
    ["PCI", device.pci],
    [t("driver"), device.driver],
    [t("fact_serial"), device.serial],
    [t("fact_vbios"), device.vbios],
    [t("fact_index"), device.index === null ? null : String(device.index)],
    [t("fact_cuda"), device.cuda_index === null ? null : String(device.cuda_index)],
    [t("fact_minor"), device.minor === null ? null : `/dev/nvidia${device.minor}`],
    [t("fact_state"), clock(device.state_since, nowSeconds)],
  ];
  return (
    <section class="detail-group">
      <h4>{t("facts")}</h4>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={value ? "is-text" : "is-text is-absent"}>{value || "–"}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function DeviceDetails({
  catalog,
  device,
  nowSeconds,
}: {
  catalog: Catalog;
  device: Device;
  nowSeconds: number;
}): JSX.Element {
  const rows = catalog.rowsOf("device").filter((row) => !SHOWN_ELSEWHERE.has(row.name));
  const there = rows.filter((row) => !isAbsent(device, row));
  return (
    <div class="details">
      <section class="detail-group is-wide">
        <h4>{t("processes")}</h4>
        <Processes catalog={catalog} device={device} />
      </section>
      {catalog.groups.map((group) => {
        const own = there.filter((row) => row.group === group.key);
        if (own.length === 0) return null;
        const facts = own.filter(isFact);
        const charts = own.filter((row) => !facts.includes(row));
        return (
          <section class="detail-group" key={group.key}>
            <h4>{tx(group.title)}</h4>
            <div class="lines">
              {charts.map((row) => (
                <DetailLine key={row.name} catalog={catalog} device={device} row={row} />
              ))}
            </div>
            {facts.length > 0 && <Facts catalog={catalog} device={device} rows={facts} />}
          </section>
        );
      })}
      <Identity device={device} nowSeconds={nowSeconds} />
      <Absent
        catalog={catalog}
        device={device}
        rows={rows.filter((row) => isAbsent(device, row))}
      />
    </div>
  );
}
