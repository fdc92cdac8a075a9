// The MIG instances of a GPU, nested in its card: each is a device of its own.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { Device } from "../api/types";
import { bytesOf, joined, ratio } from "../format";
import { t } from "../i18n";
import { read } from "../state/reading";
import { Bar } from "./Bar";
import { Users } from "./Owners";
import { ReadingText, reasonText } from "./Reading";
import { deviceWords, StateMark } from "./StateMark";

const USED = "gpu_memory_used_bytes";
const TOTAL = "gpu_memory_total_bytes";

function MigMemory({ catalog, device }: { catalog: Catalog; device: Device }): JSX.Element {
  const used = read(device, USED);
  const total = read(device, TOTAL);
  if (used.kind === "absent" || total.kind === "absent" || total.number <= 0) {
    return (
      <span class="mig-memory">
        <ReadingText catalog={catalog} subject={device} metric={USED} />
        {used.kind === "absent" && (
          <span class="is-reason">{reasonText(catalog, used.reason)}</span>
        )}
      </span>
    );
  }
  const { part, whole } = bytesOf(used.number, total.number);
  return (
    <span class="mig-memory">
      <Bar
        share={used.number / total.number}
        hue="memory"
        title={joined(ratio(used.number / total.number))}
      />
      <span class={used.kind === "stale" ? "num is-stale" : "num"}>
        {part} / {joined(whole)}
      </span>
    </span>
  );
}

export function MigList({
  catalog,
  devices,
  nowSeconds,
}: {
  catalog: Catalog;
  devices: readonly Device[];
  nowSeconds: number;
}): JSX.Element {
  return (
    <div class="migs">
      <h4 class="migs-title">{t("mig_instances", String(devices.length))}</h4>
      <ul>
        {devices.map((device) => {
          const words = deviceWords(catalog, device, nowSeconds);
          return (
            <li class="mig" key={device.uuid} title={device.uuid}>
              <span class="mig-name">
                <b>{device.profile ?? device.name}</b>
                <span class="mig-ids">
                  GI {device.gpu_instance ?? "–"} CI {device.compute_instance ?? "–"}
                </span>
                {words.tone !== "ok" && <StateMark {...words} />}
              </span>
              <MigMemory catalog={catalog} device={device} />
              <Users catalog={catalog} device={device} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
