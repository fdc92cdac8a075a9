// What happened, newest first.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Catalog } from "../api/catalog";
import type { Device, EventRow } from "../api/types";
import { clock } from "../format";
import { t, tx } from "../i18n";
import { store } from "../state/app";
import { deviceName } from "./device";
import { Shape } from "./StateMark";

const SHOWN_FEW = 12;
const TONES = { info: "ok", warning: "warn", error: "bad" } as const;

interface Props {
  catalog: Catalog;
  devices: readonly Device[];
  nowSeconds: number;
}

function Event({ event, catalog, devices, nowSeconds }: Props & { event: EventRow }): JSX.Element {
  const kind = catalog.eventKind(event.kind);
  const device = event.uuid === null ? undefined : devices.find((one) => one.uuid === event.uuid);
  const tone = TONES[event.severity] ?? "ok";
  return (
    <li class={`event is-${tone}`} title={tx(kind?.title) || event.kind}>
      <Shape tone={tone} />
      <span class="visually-hidden">{t(`severity_${event.severity}`)}</span>
      <time class="event-time">{clock(event.time, nowSeconds)}</time>
      {device !== undefined && (
        <span class="event-gpu">GPU {device.profile ?? deviceName(device)}</span>
      )}
      <span class="event-text">{tx(event.message)}</span>
    </li>
  );
}

export function EventList(props: Props): JSX.Element {
  const [showsAll, setShowsAll] = useState(false);
  const events = store.events.value;
  return (
    <section class="card events" aria-labelledby="events-title">
      <h2 id="events-title">{t("events")}</h2>
      {store.eventsFailed.value && <p class="note">{t("events_failed")}</p>}
      {events.length === 0 && <p class="note">{t("no_events")}</p>}
      <ul>
        {(showsAll ? events : events.slice(0, SHOWN_FEW)).map((event) => (
          <Event key={event.id} event={event} {...props} />
        ))}
      </ul>
      {events.length > SHOWN_FEW && (
        <button
          type="button"
          class="more"
          aria-expanded={showsAll}
          onClick={() => setShowsAll(!showsAll)}
        >
          {showsAll ? t("show_fewer") : t("show_all", String(events.length))}
        </button>
      )}
    </section>
  );
}
