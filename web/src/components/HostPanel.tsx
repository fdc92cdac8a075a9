// The machine beside its GPUs.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Catalog } from "../api/catalog";
import type { HostSubject } from "../api/types";
import { bytesOf, duration, humanize, joined, ratio } from "../format";
import { labelWord, t, tx } from "../i18n";
import { store } from "../state/app";
import { smoothing } from "../state/prefs";
import { lastRate } from "../state/rates";
import { labelsOf, numberOf, read } from "../state/reading";
import { seriesKey } from "../state/ring";
import { chartModel, together } from "../state/series";
import { Bar, Cells } from "./Bar";
import { MetricLine } from "./MetricLine";
import { RateText, ReadingText, readingTitle, reasonText } from "./Reading";
import { TimeChart } from "./TimeChart";

interface Props {
  catalog: Catalog;
  host: HostSubject;
}

const SHOWN_FEW = 3;

const interval = (): number => store.snapshot?.interval_seconds ?? 1;

function rateOf(metric: string, label: string): number {
  const ring = store.ring("host");
  return lastRate(ring.times(), ring.column(seriesKey(metric, label)), interval());
}

function Block({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="block">
      <h3>
        {title}
        {aside !== undefined && <span class="block-aside">{aside}</span>}
      </h3>
      {children}
    </section>
  );
}

// Why a whole block has nothing to show.
function Nothing({ catalog, host, metric }: Props & { metric: string }): JSX.Element {
  return <p class="note">{reasonText(catalog, host.reasons[metric] ?? "unknown")}</p>;
}

function Cores({ catalog, host }: Props): JSX.Element | null {
  const metric = "host_cpu_core_utilization_ratio";
  const labels = labelsOf(host, metric);
  if (labels.length === 0) return null;
  const cells = labels.map((label) => {
    const reading = read(host, metric, label);
    const words =
      reading.kind === "absent"
        ? reasonText(catalog, reading.reason)
        : joined(ratio(reading.number));
    return {
      key: label,
      title: `${t("core")} ${label}: ${words}`,
      share: reading.kind === "absent" ? undefined : reading.number,
      tone: reading.kind === "stale" ? ("quiet" as const) : undefined,
    };
  });
  return <Cells cells={cells} hue="host-cpu" label={t("cores", String(labels.length))} />;
}

function Load({ catalog, host }: Props): JSX.Element {
  return (
    <p class="pair">
      <span class="pair-name">{t("load")}</span>
      <span class="pair-values">
        {["host_load1", "host_load5", "host_load15"].map((metric) => (
          <ReadingText
            key={metric}
            catalog={catalog}
            subject={host}
            metric={metric}
            show={(v) => ({ text: v.toFixed(2), unit: "" })}
          />
        ))}
      </span>
    </p>
  );
}

function Swap({ catalog, host }: Props): JSX.Element {
  const used = numberOf(host, "host_swap_used_bytes");
  const total = numberOf(host, "host_swap_total_bytes");
  return (
    <p class="pair">
      <span class="pair-name">{t("swap")}</span>
      {used === undefined || total === undefined || total === 0 ? (
        <ReadingText
          catalog={catalog}
          subject={host}
          metric={total === 0 ? "host_swap_total_bytes" : "host_swap_used_bytes"}
        />
      ) : (
        <span class="pair-values">
          <Bar share={used / total} hue="host-memory" title={joined(ratio(used / total))} />
          <span class="num">
            {bytesOf(used, total).part} / {joined(humanize(total, "bytes"))}
          </span>
        </span>
      )}
    </p>
  );
}

function Pressure({ catalog, host }: Props): JSX.Element {
  const waiting = "host_pressure_waiting_seconds_total";
  const stalled = "host_pressure_stalled_seconds_total";
  const labels = labelsOf(host, waiting);
  const title = (metric: string, label: string): string => {
    const row = catalog.metric(metric);
    return row === undefined ? "" : readingTitle(catalog, row, read(host, metric, label));
  };
  if (labels.length === 0) return <Nothing catalog={catalog} host={host} metric={waiting} />;
  return (
    <table class="rates">
      <thead>
        <tr>
          <td />
          <th class="is-number">{tx(catalog.metric(waiting)?.brief)}</th>
          <th class="is-number">{tx(catalog.metric(stalled)?.brief)}</th>
        </tr>
      </thead>
      <tbody>
        {labels.map((label) => (
          <tr key={label}>
            <th scope="row">{labelWord(label)}</th>
            <td class="is-number">
              <RateText
                value={rateOf(waiting, label)}
                unit="seconds"
                title={title(waiting, label)}
              />
            </td>
            <td class="is-number">
              <RateText
                value={rateOf(stalled, label)}
                unit="seconds"
                title={title(stalled, label)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface FlowProps extends Props {
  inward: string;
  outward: string;
  hue: string;
}

// One disk or interface: both directions, as numbers and over time.
function Flow({
  catalog,
  host,
  inward,
  outward,
  hue,
  label,
}: FlowProps & { label: string }): JSX.Element {
  const build = () => {
    const view = {
      catalog,
      ring: store.ring("host"),
      intervalSeconds: interval(),
      smoothingSeconds: smoothing.peek(),
    };
    return together(
      chartModel(view, { metric: inward, labels: [label] }),
      chartModel(view, { metric: outward, labels: [label] }),
    );
  };
  return (
    <div class="flow">
      <div class="flow-name" title={label}>
        {label}
      </div>
      <div class="flow-rates">
        {[inward, outward].map((metric, i) => {
          const row = catalog.metric(metric);
          if (row === undefined) return null;
          return (
            <span class="flow-rate" key={metric}>
              <i class={`swatch swatch-${i}`} />
              <RateText
                value={rateOf(metric, label)}
                unit={row.unit}
                title={readingTitle(catalog, row, read(host, metric, label))}
              />
            </span>
          );
        })}
      </div>
      <TimeChart title={label} hue={hue} build={build} emptyText={t("nothing_yet")} />
    </div>
  );
}

// Those that ever moved a byte first; the quiet ones behind a button.
function Flows(props: FlowProps): JSX.Element {
  const { catalog, host, inward, outward } = props;
  const [showsAll, setShowsAll] = useState(false);
  const labels = labelsOf(host, inward);
  if (labels.length === 0) return <Nothing catalog={catalog} host={host} metric={inward} />;
  const total = (label: string): number =>
    label === "lo"
      ? -1
      : (numberOf(host, inward, label) ?? 0) + (numberOf(host, outward, label) ?? 0);
  const sorted = [...labels].sort((a, b) => total(b) - total(a));
  return (
    <>
      {(showsAll ? sorted : sorted.slice(0, SHOWN_FEW)).map((label) => (
        <Flow key={label} {...props} label={label} />
      ))}
      {labels.length > SHOWN_FEW && (
        <button
          type="button"
          class="more"
          aria-expanded={showsAll}
          onClick={() => setShowsAll(!showsAll)}
        >
          {showsAll ? t("show_fewer") : t("show_all", String(labels.length))}
        </button>
      )}
    </>
  );
}

function Temperatures({ catalog, host }: Props): JSX.Element {
  const metric = "host_temperature_celsius";
  const labels = labelsOf(host, metric);
  if (labels.length === 0) return <Nothing catalog={catalog} host={host} metric={metric} />;
  return (
    <ul class="sensors">
      {labels.map((label) => (
        <li key={label}>
          <span class="sensor-name" title={label}>
            {label}
          </span>
          <ReadingText catalog={catalog} subject={host} metric={metric} label={label} />
        </li>
      ))}
    </ul>
  );
}

export function HostPanel({ catalog, host }: Props): JSX.Element {
  const groupTitle = (key: string): string =>
    tx(catalog.groups.find((group) => group.key === key)?.title);
  const line = { catalog, subjectKey: "host", subject: host };
  const uptime = numberOf(host, "host_uptime_seconds");
  return (
    <section class="card host" aria-labelledby="host-title">
      <header class="host-head">
        <h2 id="host-title">{t("host")}</h2>
        <span class="host-name">{host.name}</span>
        <span class="host-uptime" title={tx(catalog.metric("host_uptime_seconds")?.help)}>
          {tx(catalog.metric("host_uptime_seconds")?.brief)}{" "}
          {uptime === undefined ? (
            <ReadingText catalog={catalog} subject={host} metric="host_uptime_seconds" />
          ) : (
            <span class="num">{duration(uptime)}</span>
          )}
        </span>
      </header>
      <div class="blocks">
        <section class="block">
          <MetricLine {...line} metric="host_cpu_utilization_ratio" />
          <Cores catalog={catalog} host={host} />
          <Load catalog={catalog} host={host} />
        </section>
        <section class="block">
          <MetricLine {...line} metric="host_memory_used_bytes" whole="host_memory_total_bytes" />
          <Swap catalog={catalog} host={host} />
        </section>
        <Block title={groupTitle("host_network")} aside={t("network_rates")}>
          <Flows
            catalog={catalog}
            host={host}
            inward="host_network_receive_bytes_total"
            outward="host_network_transmit_bytes_total"
            hue="host-network"
          />
        </Block>
        <Block title={groupTitle("host_disk")} aside={t("disk_rates")}>
          <Flows
            catalog={catalog}
            host={host}
            inward="host_disk_read_bytes_total"
            outward="host_disk_written_bytes_total"
            hue="host-disk"
          />
        </Block>
        <Block title={groupTitle("host_pressure")}>
          <Pressure catalog={catalog} host={host} />
        </Block>
        <Block title={groupTitle("host_sensors")}>
          <Temperatures catalog={catalog} host={host} />
        </Block>
      </div>
    </section>
  );
}
