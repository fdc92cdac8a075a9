// One reading as a view sees it: a value, a value grown old, or nothing and why.
import type { Subject } from "../api/types";

export type Reading =
  | { kind: "value"; number: number }
  | { kind: "stale"; number: number; ageSeconds: number; reason: string }
  | { kind: "absent"; reason: string };

export function read(subject: Subject, metric: string, label = ""): Reading {
  const whole = subject.metrics[metric];
  const key = label === "" ? metric : `${metric}{${label}}`;
  const reason = subject.reasons[key] ?? subject.reasons[metric] ?? "unknown";
  const number =
    typeof whole === "object" && whole !== null ? own(whole, label) : label === "" ? whole : null;
  if (typeof number !== "number" || !Number.isFinite(number)) return { kind: "absent", reason };
  const ageSeconds = subject.stale[key] ?? (label === "" ? undefined : subject.stale[metric]);
  if (ageSeconds !== undefined) return { kind: "stale", number, ageSeconds, reason };
  return { kind: "value", number };
}

const own = (map: Record<string, number | null>, key: string): number | null | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

// Labels of a label-carrying metric, numbers in their order, then by name.
export function labelsOf(subject: Subject, metric: string): string[] {
  const whole = subject.metrics[metric];
  if (typeof whole !== "object" || whole === null) return [];
  return Object.keys(whole).sort((a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? (a < b ? -1 : a > b ? 1 : 0) : x - y;
  });
}

// The number of a fresh or stale reading.
export function numberOf(subject: Subject, metric: string, label = ""): number | undefined {
  const reading = read(subject, metric, label);
  return reading.kind === "absent" ? undefined : reading.number;
}

// Sums and means are over what is fresh, and say over how many.
export function freshOf(subjects: readonly Subject[], metric: string): number[] {
  return subjects.flatMap((subject) => {
    const reading = read(subject, metric);
    return reading.kind === "value" ? [reading.number] : [];
  });
}
