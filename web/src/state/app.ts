// The page's one store and its one stream, started once by main.
import { signal } from "@preact/signals";
import { fetchCatalog, fetchEvents, liveUrl } from "../api/http";
import { type Connection, LiveClient } from "../api/live";
import type { LiveMessage } from "../api/types";
import { Store } from "./store";

const EARLIER_EVENTS = 100;
const CATALOG_RETRY_MS = 3000;

export const connection = signal<Connection>({ phase: "connecting" });
export const store = new Store(() => !document.hidden);

const live = new LiveClient({
  url: liveUrl,
  onMessage: takeMessage,
  onConnection: (state) => {
    connection.value = state;
  },
});

export const retryNow = (): void => live.retryNow();

function takeMessage(message: LiveMessage): void {
  store.take(message, performance.now());
  if (message.type !== "snapshot") return;
  void loadEvents();
  // Another version serves now: its metrics may have other names.
  const isOther = message.snapshot.version !== store.catalog.value?.version;
  if (isOther)
    void fetchCatalog().then(
      (document) => store.setCatalog(document),
      () => {},
    );
}

async function loadEvents(): Promise<void> {
  try {
    store.addEvents(await fetchEvents(EARLIER_EVENTS));
    store.eventsFailed.value = false;
  } catch {
    store.eventsFailed.value = true;
  }
}

async function begin(): Promise<void> {
  try {
    store.setCatalog(await fetchCatalog());
    live.start();
  } catch (error) {
    store.catalogError.value = error instanceof Error ? error.message : String(error);
    setTimeout(() => void begin(), CATALOG_RETRY_MS);
  }
}

export function startApp(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    store.catchUp();
    live.retryNow();
  });
  window.addEventListener("online", () => live.retryNow());
  void begin();
}
