// Numbers and times for the eye: SI prefixes, IEC for bytes, no locale (a decimal point everywhere,
// 24 hours). The number and its unit stay apart so that views can set them differently.

export interface Shown {
  text: string;
  unit: string;
}

const SI = ["", "k", "M", "G", "T", "P", "E"];
const IEC = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const THIN_SPACE = "\u202f";

// Three digits that count, and no more than the number holds.
function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

function scaled(value: number, base: number): { value: number; step: number } {
  let step = 0;
  let left = value;
  // 999.5 would be shown as 1000 of the smaller unit.
  while (Math.abs(left) >= base * 0.9995 && step < SI.length - 1) {
    left /= base;
    step++;
  }
  return { value: left, step };
}

function si(value: number, unit: string): Shown {
  const { value: left, step } = scaled(value, 1000);
  return { text: threeDigits(left), unit: SI[step] + unit };
}

export function bytes(value: number): Shown {
  const { value: left, step } = scaled(value, 1024);
  const text = step === 0 ? left.toFixed(0) : threeDigits(left);
  return { text, unit: IEC[step] as string };
}

// A part and its whole in the whole's unit: "62.3" of "80.0 GiB".
export function bytesOf(part: number, whole: number): { part: string; whole: Shown } {
  const { step } = scaled(whole, 1024);
  const shown = bytes(whole);
  const decimals = shown.text.includes(".") ? shown.text.split(".")[1]?.length : 0;
  return {
    part: (part / 1024 ** step).toFixed(Math.max(decimals ?? 0, step > 0 ? 1 : 0)),
    whole: shown,
  };
}

export function ratio(value: number): Shown {
  const percent = value * 100;
  const isWhole = Math.abs(percent) >= 9.95 || percent === 0;
  return { text: percent.toFixed(isWhole ? 0 : 1), unit: "%" };
}

function watts(value: number): Shown {
  const size = Math.abs(value);
  if (size >= 9999.5) return si(value, "W");
  return { text: value.toFixed(size >= 99.95 ? 0 : 1), unit: "W" };
}

function hertz(value: number): Shown {
  if (Math.abs(value) < 1e9) return { text: (value / 1e6).toFixed(0), unit: "MHz" };
  return { text: (value / 1e9).toFixed(2), unit: "GHz" };
}

// "3 d 04 h", "2 h 07 min", "3 min 20 s", "12 s"
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const pad = (n: number): string => String(n).padStart(2, "0");
  const [d, h, m, s] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  if (d > 0) return `${d} d ${pad(h)} h`;
  if (h > 0) return `${h} h ${pad(m)} min`;
  if (m > 0) return `${m} min ${pad(s)} s`;
  return `${s} s`;
}

function seconds(value: number): Shown {
  const size = Math.abs(value);
  if (size === 0) return { text: "0", unit: "s" };
  if (size < 1e-3) return { text: threeDigits(value * 1e6), unit: "µs" };
  if (size < 1) return { text: threeDigits(value * 1e3), unit: "ms" };
  if (size < 120) return { text: threeDigits(value), unit: "s" };
  return { text: duration(value), unit: "" };
}

export function plain(value: number): string {
  if (!Number.isInteger(value)) return value.toFixed(2);
  return String(value).replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
}

export function humanize(value: number, unit: string): Shown {
  switch (unit) {
    case "ratio":
      return ratio(value);
    case "bytes":
      return bytes(value);
    case "bytes_per_second":
      return humanizeRate(value, "bytes");
    case "watts":
      return watts(value);
    case "joules":
      return si(value, "J");
    case "volts":
      return { text: value.toFixed(3), unit: "V" };
    case "celsius":
      return { text: value.toFixed(Number.isInteger(value) ? 0 : 1), unit: "°C" };
    case "hertz":
      return hertz(value);
    case "seconds":
      return seconds(value);
    default:
      return { text: plain(value), unit: "" };
  }
}

// A counter of this unit, per second. Seconds per second are a share of time.
export function humanizeRate(value: number, unit: string): Shown {
  if (unit === "seconds") return ratio(value);
  if (unit === "joules") return watts(value);
  if (unit === "") return { text: threeDigits(value), unit: "/s" };
  const shown = humanize(value, unit);
  return { text: shown.text, unit: `${shown.unit}/s` };
}

export const joined = (shown: Shown): string =>
  shown.unit === "" ? shown.text : `${shown.text}\u00a0${shown.unit}`;

// How old: a decimal below ten seconds, then whole units.
export const age = (value: number): string =>
  value < 9.95 ? `${value.toFixed(1)} s` : duration(value);

const two = (n: number): string => String(n).padStart(2, "0");

// Local time of day; with the date when it is not today's.
export function clock(unixSeconds: number, nowSeconds?: number): string {
  const at = new Date(unixSeconds * 1000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (nowSeconds === undefined) return time;
  const now = new Date(nowSeconds * 1000);
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

export function hourMinute(unixSeconds: number): string {
  const at = new Date(unixSeconds * 1000);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

// Enough of a UUID to tell devices apart; the whole stands in the tooltip.
export function shortUuid(uuid: string): string {
  return uuid.length > 13 ? `${uuid.slice(0, 12)}…` : uuid;
}
