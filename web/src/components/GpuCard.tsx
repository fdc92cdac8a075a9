// One GPU: what it is, how it is, its four great numbers with ten minutes each, who holds it; on
// demand everything else that the catalogue knows and this device has, and why it lacks the rest.
import type { JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Catalog } from "../api/catalog";
import type { Device } from "../api/types";
import { shortUuid } from "../format";
import { t } from "../i18n";
import { useOnScreen } from "../state/frames";
import { DeviceDetails } from "./DeviceDetails";
import { type LineSpec, MetricLine } from "./MetricLine";
import { MigList } from "./MigList";
import { Users } from "./Owners";
import { deviceWords, StateMark } from "./StateMark";

export const GREAT_LINES: readonly LineSpec[] = [
  { metric: "gpu_utilization_ratio" },
  { metric: "gpu_memory_used_bytes", whole: "gpu_memory_total_bytes" },
  { metric: "gpu_power_watts", limit: "gpu_power_limit_watts" },
  { metric: "gpu_temperature_celsius" },
];

interface Props {
  catalog: Catalog;
  device: Device;
  migs: readonly Device[];
  nowSeconds: number;
  isAlone: boolean;
}

export const deviceName = (device: Device): string => (device.index === null ? "–" : String(device.index));

export function GpuCard(props: Props): JSX.Element {
  const root = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(props.isAlone);
  const detailsId = useId();
  const isOnScreen = useOnScreen(root);
  // Off screen the card stays as it was last drawn.
  const drawn = useRef(props);
  if (isOnScreen) drawn.current = props;
  const { catalog, device, migs, nowSeconds } = drawn.current;
  const words = deviceWords(catalog, device, nowSeconds);
  return (
    <article
      class={`card gpu is-${device.state}`}
      id={`gpu-${device.uuid}`}
      ref={root}
      aria-label={`GPU ${deviceName(device)}: ${device.name}`}
    >
      <header class="gpu-head">
        <span class="gpu-index">{deviceName(device)}</span>
        <div class="gpu-title">
          <h3 title={device.name}>{device.name}</h3>
          <p class="gpu-ids">
            <span title={device.uuid}>{shortUuid(device.uuid)}</span>
            <span>{device.pci}</span>
          </p>
        </div>
        <StateMark {...words} />
      </header>
      <div class="lines">
        {GREAT_LINES.map((spec, i) => (
          <MetricLine
            key={spec.metric}
            catalog={catalog}
            subjectKey={device.uuid}
            subject={device}
            hasAxis={i === GREAT_LINES.length - 1}
            {...spec}
          />
        ))}
      </div>
      {migs.length > 0 && <MigList catalog={catalog} devices={migs} nowSeconds={nowSeconds} />}
      <footer class="gpu-foot">
        <Users catalog={catalog} device={device} />
        <button
          type="button"
          class="more"
          aria-expanded={isOpen}
          aria-controls={detailsId}
          aria-label={`${isOpen ? t("details_less") : t("details")}: ${t("details_of", deviceName(device))}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t("details_less") : t("details")}
        </button>
      </footer>
      <div id={detailsId} hidden={!isOpen}>
        {isOpen && <DeviceDetails catalog={catalog} device={device} nowSeconds={nowSeconds} />}
      </div>
    </article>
  );
}
