// Where the API is: beside the page, whatever prefix a proxy puts before both.
import type { CatalogDocument, EventRow } from "./types";

const ROOT = "api/gpusight/v1/";

export function apiUrl(path: string, base: string = document.baseURI): string {
  return new URL(ROOT + path, base).href;
}

export function liveUrl(base: string = document.baseURI): string {
  const url = new URL(apiUrl("live", base));
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

async function getJson<T>(path: string): Promise<T> {
  const response = await fetch(apiUrl(path), { cache: "no-cache", credentials: "same-origin" });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()) as T;
}

export const fetchCatalog = (): Promise<CatalogDocument> => getJson("catalog");

export const fetchEvents = async (limit: number): Promise<EventRow[]> =>
  (await getJson<{ events: EventRow[] }>(`events?limit=${limit}`)).events;
