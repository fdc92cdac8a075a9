// What this reader chose: language, colours, smoothing. Kept in the browser where it lets us.
import { computed, effect, signal } from "@preact/signals";

export type Lang = "en" | "zh";
export type Theme = "auto" | "light" | "dark";
export const SMOOTHING_SECONDS = [0, 1, 5, 15, 60] as const;

const hasWindow = typeof window !== "undefined";

// Storage may be forbidden or full: the choice then lasts as long as the page.
function remembered(key: string): string | null {
  try {
    return hasWindow ? window.localStorage.getItem(`gpusight.${key}`) : null;
  } catch {
    return null;
  }
}

function remember(key: string, value: string): void {
  try {
    window.localStorage.setItem(`gpusight.${key}`, value);
  } catch {
    // lasts as long as the page
  }
}

export function pickLang(
  query: string | null,
  stored: string | null,
  wished: readonly string[],
): Lang {
  for (const tag of [query, stored, ...wished]) {
    const language = tag?.toLowerCase().split(/[-_]/)[0];
    if (language === "zh" || language === "en") return language;
  }
  return "en";
}

const query = hasWindow ? new URLSearchParams(window.location.search) : new URLSearchParams();
const oneOf = <T extends string>(value: string | null, all: readonly T[], fallback: T): T =>
  all.find((choice) => choice === value) ?? fallback;

export const lang = signal<Lang>(
  pickLang(query.get("lang"), remembered("lang"), hasWindow ? navigator.languages : []),
);
export const theme = signal<Theme>(
  oneOf(query.get("theme") ?? remembered("theme"), ["auto", "light", "dark"], "auto"),
);
export const smoothing = signal<number>(
  SMOOTHING_SECONDS.find((s) => String(s) === remembered("smoothing")) ?? 0,
);

const systemDark = hasWindow ? window.matchMedia("(prefers-color-scheme: dark)") : undefined;
const systemIsDark = signal(systemDark?.matches ?? false);
systemDark?.addEventListener("change", (event) => {
  systemIsDark.value = event.matches;
});

export const isDark = computed(() =>
  theme.value === "auto" ? systemIsDark.value : theme.value === "dark",
);

export function chooseLang(choice: Lang): void {
  lang.value = choice;
  remember("lang", choice);
}

export function chooseTheme(choice: Theme): void {
  theme.value = choice;
  remember("theme", choice);
}

export function chooseSmoothing(seconds: number): void {
  smoothing.value = seconds;
  remember("smoothing", String(seconds));
}

if (hasWindow) {
  effect(() => {
    document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
  });
  effect(() => {
    document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
  });
}
