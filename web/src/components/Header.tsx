// Who is shown, whether it is real, how fresh it is, and how the reader wants it.
import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { Snapshot } from "../api/types";
import { age, clock } from "../format";
import { t, tx } from "../i18n";
import { connection, store } from "../state/app";
import {
  chooseLang,
  chooseSmoothing,
  chooseTheme,
  lang,
  SMOOTHING_SECONDS,
  smoothing,
  type Theme,
  theme,
} from "../state/prefs";

const CLOCK_MS = 500;

const nowMs = signal(performance.now());
setInterval(() => {
  if (!document.hidden) nowMs.value = performance.now();
}, CLOCK_MS);

// Seconds since the last message; NaN before the first.
export const dataAge = computed(() => {
  store.frame.value;
  return (nowMs.value - store.receivedAtMs) / 1000;
});
export const retryInSeconds = computed(() =>
  connection.value.phase === "waiting"
    ? Math.max(0, (connection.value.retryAtMs - nowMs.value) / 1000)
    : 0,
);

// Late: three ticks without a word, and at least ten seconds as for any reading.
export const isLate = computed(() => {
  store.frame.value;
  return dataAge.value > Math.max(3 * (store.snapshot?.interval_seconds ?? 1), 10);
});

export const isFresh = computed(() => connection.value.phase === "live" && !isLate.value);

const WORDS_OF_PHASE = {
  connecting: "connecting",
  open: "waiting",
  live: "live",
  waiting: "disconnected",
} as const;

function ConnectionMark({ snapshot }: { snapshot: Snapshot | null }): JSX.Element {
  const { phase } = connection.value;
  const hasData = !Number.isNaN(dataAge.value);
  const tone = isFresh.value ? "live" : phase === "waiting" || isLate.value ? "lost" : "wait";
  const words = t(WORDS_OF_PHASE[phase]);
  const isOld = hasData && dataAge.value > 2 * (snapshot?.interval_seconds ?? 1) + 1;
  return (
    <span class={`connection is-${tone}`} title={t("last_reading")}>
      <i class="dot" />
      <span>{words}</span>
      {snapshot !== null && hasData && (
        <span class="num connection-time">
          {isOld ? t("stale", age(dataAge.value)) : clock(snapshot.time)}
        </span>
      )}
    </span>
  );
}

interface ChoiceProps<T> {
  name: string;
  legend: string;
  title?: string;
  isPlain?: boolean; // goes without its legend where room is short
  options: readonly { value: T; text: string; label?: string; icon?: JSX.Element }[];
  chosen: T;
  choose: (value: T) => void;
}

function Choice<T extends string | number>(props: ChoiceProps<T>): JSX.Element {
  return (
    <fieldset
      class={props.isPlain === true ? "choice is-plain" : "choice"}
      title={props.title ?? props.legend}
    >
      <legend>{props.legend}</legend>
      <span class="choice-options">
        {props.options.map((option) => (
          <label key={option.value} title={option.label ?? option.text}>
            <input
              type="radio"
              name={props.name}
              value={String(option.value)}
              checked={option.value === props.chosen}
              onChange={() => props.choose(option.value)}
              aria-label={option.label ?? option.text}
            />
            <span aria-hidden="true">{option.icon ?? option.text}</span>
          </label>
        ))}
      </span>
    </fieldset>
  );
}

const icon = (path: string): JSX.Element => (
  <svg viewBox="0 0 16 16" class="icon" aria-hidden="true">
    <path d={path} />
  </svg>
);

const THEME_ICONS: Record<Theme, JSX.Element> = {
  auto: icon("M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 13V3a5 5 0 0 1 0 10Z"),
  light: icon(
    "M8 4.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4ZM7.3.8h1.4v2.4H7.3ZM7.3 12.8h1.4v2.4H7.3ZM.8 7.3h2.4v1.4H.8ZM12.8 7.3h2.4v1.4h-2.4ZM2.4 3.4l1-1 1.7 1.7-1 1ZM10.9 11.9l1-1 1.7 1.7-1 1ZM2.4 12.6l1.7-1.7 1 1-1.7 1.7ZM10.9 4.1l1.7-1.7 1 1-1.7 1.7Z",
  ),
  dark: icon("M13.8 10.4A6.3 6.3 0 0 1 5.6 2.2a6.3 6.3 0 1 0 8.2 8.2Z"),
};

function Controls(): JSX.Element {
  return (
    <div class="controls">
      <Choice
        name="smoothing"
        legend={t("smoothing")}
        title={t("smoothing_help")}
        options={SMOOTHING_SECONDS.map((s) => ({
          value: s,
          text: s === 0 ? t("smoothing_raw") : `${s} s`,
        }))}
        chosen={smoothing.value}
        choose={chooseSmoothing}
      />
      <Choice
        name="theme"
        legend={t("theme")}
        isPlain
        options={(["auto", "light", "dark"] as const).map((value) => ({
          value,
          text: t(`theme_${value}`),
          label: t(`theme_${value}`),
          icon: THEME_ICONS[value],
        }))}
        chosen={theme.value}
        choose={chooseTheme}
      />
      <Choice
        name="lang"
        legend={t("language")}
        isPlain
        options={[
          { value: "en" as const, text: "EN", label: "English" },
          { value: "zh" as const, text: "中文", label: "中文" },
        ]}
        chosen={lang.value}
        choose={chooseLang}
      />
    </div>
  );
}

function drivers(snapshot: Snapshot): string {
  return [...new Set(snapshot.devices.map((device) => device.driver).filter(Boolean))].join(", ");
}

export function Header({
  catalog,
  snapshot,
}: {
  catalog: Catalog | null;
  snapshot: Snapshot | null;
}): JSX.Element {
  const isSimulated = snapshot?.simulated === true;
  const badge = tx(catalog?.message("simulated.badge")) || "SIMULATED";
  const driver = snapshot === null ? "" : drivers(snapshot);
  return (
    <>
      {isSimulated && (
        <p class="simulated-band">
          <strong>{badge}</strong>
          <span>{t("simulated_note")}</span>
        </p>
      )}
      <header class={isSimulated ? "top is-simulated" : "top"}>
        <a class="brand" href="#main" aria-label={`gpusight: ${t("skip")}`}>
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M2 21h6l3-10 5 14 4-9 2 5h8" />
          </svg>
          <span>gpusight</span>
        </a>
        {snapshot !== null && <h1 class="host-title">{snapshot.host.name}</h1>}
        {isSimulated && <strong class="badge">{badge}</strong>}
        <ConnectionMark snapshot={snapshot} />
        {driver !== "" && (
          <span class="driver">
            {t("driver")} <span class="num">{driver}</span>
          </span>
        )}
        <Controls />
      </header>
    </>
  );
}
