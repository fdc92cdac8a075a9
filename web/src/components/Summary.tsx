// All GPUs in one line, over what is fresh and saying over how many; from nine GPUs on a strip with
// one cell each leads to their cards.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { Device } from "../api/types";
import { bytesOf, humanize, joined, ratio } from "../format";
import { t, tx } from "../i18n";
import { freshOf, read } from "../state/reading";
import { type Cell, CellFill, cellClass } from "./Bar";
import { deviceName } from "./device";
import { reasonText } from "./Reading";
import { deviceWords } from "./StateMark";

const STRIP_FROM = 9;

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

interface Props {
  catalog: Catalog;
  gpus: readonly Device[];
  nowSeconds: number;
}

interface TotalProps {
  name: string;
  text: string;
  over: string;
  all: boolean; // nothing to add then
  isPartial?: boolean;
}

function Total({ name, text, over, all, isPartial = true }: TotalProps): JSX.Element {
  return (
    <div class="total">
      <dt>{name}</dt>
      <dd>
        <span class="num">{text}</span>
        {!all && <span class={isPartial ? "total-over is-partial" : "total-over"}>{over}</span>}
      </dd>
    </div>
  );
}

function Strip({ catalog, gpus, nowSeconds }: Props): JSX.Element {
  const cellOf = (device: Device): Cell => {
    const reading = read(device, "gpu_utilization_ratio");
    const words = deviceWords(catalog, device, nowSeconds);
    const value =
      reading.kind === "absent"
        ? reasonText(catalog, reading.reason)
        : joined(ratio(reading.number));
    return {
      key: device.uuid,
      title: `GPU ${deviceName(device)} · ${value} · ${words.words}`,
      share: reading.kind === "absent" ? undefined : reading.number,
      tone: words.tone === "ok" ? undefined : words.tone,
    };
  };
  return (
    <nav class="strip" aria-label={t("gpu_summary")}>
      {gpus.map((device) => {
        const cell = cellOf(device);
        return (
          <a
            class={cellClass(cell)}
            key={cell.key}
            href={`#gpu-${device.uuid}`}
            title={cell.title}
            aria-label={cell.title}
          >
            <CellFill share={cell.share} hue="utilization" />
          </a>
        );
      })}
    </nav>
  );
}

export function Summary(props: Props): JSX.Element | null {
  const { catalog, gpus } = props;
  if (gpus.length < 2) return null;
  const util = freshOf(gpus, "gpu_utilization_ratio");
  const power = freshOf(gpus, "gpu_power_watts");
  const used = freshOf(gpus, "gpu_memory_used_bytes");
  const total = freshOf(gpus, "gpu_memory_total_bytes");
  const answering = gpus.filter((device) => device.state === "active").length;
  const title = (metric: string): string => tx(catalog.metric(metric)?.brief);
  const count = (numbers: readonly number[]): { over: string; all: boolean } => ({
    over: t("sum_of", String(numbers.length)),
    all: numbers.length === gpus.length,
  });
  const wholes = used.length === total.length ? sum(total) : 0;
  return (
    <div class="summary">
      <dl class="totals">
        <Total
          name={t("gpus")}
          text={String(gpus.length)}
          over={t("answering", String(answering), String(gpus.length))}
          all={answering === gpus.length}
        />
        {util.length > 0 && (
          <Total
            name={title("gpu_utilization_ratio")}
            text={joined(ratio(sum(util) / util.length))}
            over={util.length === gpus.length ? t("mean") : t("mean_of", String(util.length))}
            isPartial={util.length !== gpus.length}
            all={false}
          />
        )}
        {used.length > 0 && (
          <Total
            name={title("gpu_memory_used_bytes")}
            text={
              wholes > 0
                ? `${bytesOf(sum(used), wholes).part} / ${joined(humanize(wholes, "bytes"))}`
                : joined(humanize(sum(used), "bytes"))
            }
            {...count(used)}
          />
        )}
        {power.length > 0 && (
          <Total
            name={title("gpu_power_watts")}
            text={joined(humanize(sum(power), "watts"))}
            {...count(power)}
          />
        )}
      </dl>
      {gpus.length >= STRIP_FROM && <Strip {...props} />}
    </div>
  );
}
