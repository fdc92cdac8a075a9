// When to draw: only what is on screen, only while the page is looked at, and not all in one frame.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

const BUDGET_MS = 10; // of a frame's 16, so that scrolling stays smooth beside it

const waiting = new Set<() => void>();
let scheduled = false;

function run(): void {
  scheduled = false;
  const until = performance.now() + BUDGET_MS;
  for (const draw of waiting) {
    waiting.delete(draw);
    draw();
    if (performance.now() >= until) break;
  }
  if (waiting.size > 0) schedule();
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(run);
}

export function drawSoon(draw: () => void): void {
  waiting.add(draw);
  schedule();
}

export const drawNever = (draw: () => void): void => {
  waiting.delete(draw);
};

const watchers = new WeakMap<Element, (isOnScreen: boolean) => void>();
let observer: IntersectionObserver | undefined;

function observe(element: Element, watcher: (isOnScreen: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) watchers.get(entry.target)?.(entry.isIntersecting);
    },
    { rootMargin: "150px" },
  );
  watchers.set(element, watcher);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

export function useOnScreen(ref: RefObject<Element | null>): boolean {
  const [isOnScreen, setOnScreen] = useState(false);
  useEffect(() => (ref.current === null ? undefined : observe(ref.current, setOnScreen)), [ref]);
  return isOnScreen;
}
