// The page: header, what is wrong if anything is, the GPUs, the machine, what happened.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Catalog } from "./api/catalog";
import type { Device, Snapshot } from "./api/types";
import { EventList } from "./components/EventList";
import { GpuCard } from "./components/GpuCard";
import { dataAge, Header, isFresh, isLate, retryInSeconds } from "./components/Header";
import { HostPanel } from "./components/HostPanel";
import { NoDevices } from "./components/NoDevices";
import { SelfFooter } from "./components/SelfFooter";
import { Summary } from "./components/Summary";
import { age } from "./format";
import { t, tx } from "./i18n";
import { connection, retryNow, store } from "./state/app";

function Notice({ snapshot }: { snapshot: Snapshot | null }): JSX.Element | null {
  const state = connection.value;
  const hasData = snapshot !== null;
  if (state.phase === "live" && !isLate.value) return null;
  if (state.phase === "live") {
    return <p class="notice is-bad">{t("late_long", age(dataAge.value))}</p>;
  }
  if (!hasData && state.phase !== "waiting") return null;
  const ageText = hasData ? age(dataAge.value) : "–";
  const text =
    state.phase === "waiting"
      ? t("disconnected_long", ageText, age(retryInSeconds.value))
      : t("disconnected_now", ageText);
  return (
    <p class="notice is-bad">
      {state.phase === "waiting" && state.why === "too_slow" && <span>{t("too_slow")} </span>}
      <span>{hasData ? text : t("disconnected")}</span>
      {state.phase === "waiting" && (
        <button type="button" class="more" onClick={retryNow}>
          {t("retry_now")}
        </button>
      )}
    </p>
  );
}

// A source that runs says nothing here; any other says why, in its own words.
function SourceNotes({ snapshot }: { snapshot: Snapshot }): JSX.Element | null {
  const troubled = snapshot.sources.filter((source) => source.phase !== "running");
  if (troubled.length === 0) return null;
  return (
    <ul class="notice is-warn">
      {troubled.map((source) => (
        <li key={source.name}>
          <b>{source.name}</b> {tx(source.text)}
        </li>
      ))}
    </ul>
  );
}

function migsOf(devices: readonly Device[]): Map<string, Device[]> {
  const byParent = new Map<string, Device[]>();
  for (const device of devices) {
    if (device.kind !== "mig" || device.parent === null) continue;
    byParent.set(device.parent, [...(byParent.get(device.parent) ?? []), device]);
  }
  return byParent;
}

function Machine({ catalog, snapshot }: { catalog: Catalog; snapshot: Snapshot }): JSX.Element {
  const { devices, time } = snapshot;
  const migs = migsOf(devices);
  // An instance whose parent is not among the devices (a container that was given it alone) stands by itself.
  const known = new Set(devices.map((device) => device.uuid));
  const tops = devices.filter(
    (device) => device.kind === "gpu" || device.parent === null || !known.has(device.parent),
  );
  const events = <EventList catalog={catalog} devices={devices} nowSeconds={time} />;
  const hasRoomBelow = tops.length <= 8;
  return (
    <main id="main" class={isFresh.value ? "page" : "page is-old"}>
      <div class="gpus">
        {devices.length > 0 && <SourceNotes snapshot={snapshot} />}
        {tops.length === 0 && <NoDevices catalog={catalog} sources={snapshot.sources} />}
        <Summary catalog={catalog} gpus={tops} nowSeconds={time} />
        <h2 class="visually-hidden">{t("gpus")}</h2>
        <div class={`grid has-${Math.min(tops.length, 5)}`}>
          {tops.map((device) => (
            <GpuCard
              key={device.uuid}
              catalog={catalog}
              device={device}
              migs={migs.get(device.uuid) ?? []}
              nowSeconds={time}
              isAlone={tops.length === 1}
              hasFewBeside={tops.length <= 4}
            />
          ))}
        </div>
        {hasRoomBelow && events}
      </div>
      <div class="beside">
        <HostPanel catalog={catalog} host={snapshot.host} />
        {!hasRoomBelow && events}
      </div>
    </main>
  );
}

function Waiting({ text }: { text: string }): JSX.Element {
  return (
    <main id="main" class="waiting">
      <svg class="waiting-mark" viewBox="0 0 120 40" aria-hidden="true">
        <path d="M0 26h30l10-18 14 28 10-16 6 6h50" />
      </svg>
      <p role="status">{text}</p>
    </main>
  );
}

function titleOf(catalog: Catalog | null, snapshot: Snapshot | null): string {
  if (snapshot === null) return "gpusight";
  const badge = snapshot.simulated
    ? `${tx(catalog?.message("simulated.badge")) || "SIMULATED"} · `
    : "";
  return `${badge}${snapshot.host.name} · gpusight`;
}

export function App(): JSX.Element {
  store.frame.value; // redraws with every reading while the page is looked at
  const catalog = store.catalog.value;
  const { snapshot } = store;
  const title = titleOf(catalog, snapshot);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const failure = store.catalogError.value;
  const isReady = catalog !== null && snapshot !== null && snapshot.sequence > 0;
  return (
    <>
      <Header catalog={catalog} snapshot={snapshot} />
      <Notice snapshot={snapshot} />
      {isReady && <Machine catalog={catalog} snapshot={snapshot} />}
      {!isReady && (
        <Waiting
          text={
            failure !== null
              ? t("catalog_failed", failure)
              : snapshot !== null || connection.value.phase === "open"
                ? t("waiting_first")
                : t("loading")
          }
        />
      )}
      {isReady && <SelfFooter catalog={catalog} snapshot={snapshot} />}
    </>
  );
}
