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
import { deviceName, GREAT_LINES, shortName } from "./device";
import { MetricLine } from "./MetricLine";
import { MigList } from "./MigList";
import { Users } from "./Owners";
import { deviceWords, StateMark } from "./StateMark";

interface Props {
  catalog: Catalog;
  device: Device;
  migs: readonly Device[];
  nowSeconds: number;
  isAlone: boolean;
  hasFewBeside: boolean; // room for a time axis at each chart
}

export function GpuCard(props: Props): JSX.Element {
  const root = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(props.isAlone);
  const detailsId = useId();
  const isOnScreen = useOnScreen(root);
  // Off screen the card stays as it was last drawn.
  const drawn = useRef(props);
  if (isOnScreen) drawn.current = props;
  const { catalog, device, migs, nowSeconds, hasFewBeside } = drawn.current;
  const words = deviceWords(catalog, device, nowSeconds);
  return (
    <article
      class={`card gpu is-${device.state}${isOpen ? " is-open" : ""}`}
      id={`gpu-${device.uuid}`}
      ref={root}
      aria-label={`GPU ${deviceName(device)}: ${device.name}`}
    >
      <header class="gpu-head">
        <span class="gpu-index">{deviceName(device)}</span>
        <h3 title={device.name}>{shortName(device)}</h3>
        <StateMark {...words} />
        <p class="gpu-ids">
          <span title={device.uuid}>{shortUuid(device.uuid)}</span>
          <span>{device.pci}</span>
        </p>
      </header>
      <div class="lines">
        {GREAT_LINES.map((spec, i) => (
          <MetricLine
            key={spec.metric}
            catalog={catalog}
            subjectKey={device.uuid}
            subject={device}
            hasAxis={hasFewBeside || isOpen || i === GREAT_LINES.length - 1}
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
