// How a device is, in words and by a shape; the colour only repeats what both say.
import type { JSX } from "preact";
import type { Catalog } from "../api/catalog";
import type { Device } from "../api/types";
import { clock } from "../format";
import { fill, t, tx } from "../i18n";
import { labelsOf, numberOf } from "../state/reading";
import { reasonText } from "./Reading";

export type Tone = "ok" | "quiet" | "warn" | "bad";

export interface DeviceWords {
  tone: Tone;
  words: string;
  title: string;
}

const THROTTLE = "gpu_throttle_active";

// A reason slows the device down if the catalogue has a word for it; the other bits only say how the
// clocks are set.
export const throttleWord = (catalog: Catalog, label: string): string =>
  tx(catalog.message(`throttle.${label}`));

function throttleWords(catalog: Catalog, device: Device): string[] {
  return labelsOf(device, THROTTLE).flatMap((label) => {
    const word = throttleWord(catalog, label);
    return word !== "" && numberOf(device, THROTTLE, label) === 1 ? [word] : [];
  });
}

export function deviceWords(catalog: Catalog, device: Device, nowSeconds: number): DeviceWords {
  const since = clock(device.state_since, nowSeconds);
  const message = (key: string): string => tx(catalog.message(key));
  switch (device.state) {
    case "lost":
      return {
        tone: "bad",
        words: fill(message("word.lost_since"), [since]),
        title: reasonText(catalog, "lost"),
      };
    case "busy":
      return {
        tone: "warn",
        words: t("state_busy_since", message("word.busy"), since),
        title: reasonText(catalog, "busy"),
      };
    case "asleep":
      return {
        tone: "quiet",
        words: message("word.asleep"),
        title: `${reasonText(catalog, "asleep")} · ${since}`,
      };
    case "released":
      return {
        tone: "quiet",
        words: message("word.released"),
        title: `${reasonText(catalog, "disabled")} · ${since}`,
      };
    default: {
      const reasons = throttleWords(catalog, device);
      if (reasons.length === 0) return { tone: "ok", words: t("state_active"), title: since };
      return {
        tone: "warn",
        words: t("state_throttled", reasons.join(", ")),
        title: reasons.join(", "),
      };
    }
  }
}

const SHAPES: Record<Tone, JSX.Element> = {
  ok: <circle cx="6" cy="6" r="3.5" />,
  quiet: <path d="M8.8 8.6A4.4 4.4 0 0 1 5 1.6a4.6 4.6 0 1 0 5.4 6.4 4.3 4.3 0 0 1-1.6.6Z" />,
  warn: <path d="M6 1 11.5 11H.5Z" />,
  bad: (
    <path d="M2.2.8 6 4.6 9.8.8l1.4 1.4L7.4 6l3.8 3.8-1.4 1.4L6 7.4l-3.8 3.8L.8 9.8 4.6 6 .8 2.2Z" />
  ),
};

export const Shape = ({ tone }: { tone: Tone }): JSX.Element => (
  <svg class="shape" viewBox="0 0 12 12" aria-hidden="true">
    {SHAPES[tone]}
  </svg>
);

export function StateMark({ tone, words, title }: DeviceWords): JSX.Element {
  return (
    <span class={`mark mark-${tone}`} title={title}>
      <Shape tone={tone} />
      <span>{words}</span>
    </span>
  );
}
