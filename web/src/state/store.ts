// What the page knows. Messages are merged as they come, whether anyone looks or not; views follow
// `frame`, which stands still while the page is hidden and moves once when it is looked at again.
import { signal } from "@preact/signals";
import { Catalog } from "../api/catalog";
import { mergeDelta } from "../api/merge";
import type {
  CatalogDocument,
  DeltaMessage,
  EventRow,
  LiveMessage,
  Snapshot,
  SnapshotMessage,
  Subject,
} from "../api/types";
import { fillRing } from "./head";
import { Ring, seriesKey } from "./ring";

const MOST_EVENTS = 200;
const EMPTY = new Ring(1, 1);

export class Store {
  readonly frame = signal(0);
  readonly catalog = signal<Catalog | null>(null);
  readonly catalogError = signal<string | null>(null);
  readonly events = signal<readonly EventRow[]>([]);
  readonly eventsFailed = signal(false);
  snapshot: Snapshot | null = null;
  // performance.now() of the last reading: ages do not depend on two clocks agreeing.
  receivedAtMs = Number.NaN;
  private readonly rings = new Map<string, Ring>();
  private readonly isLookedAt: () => boolean;
  private isBehind = false;

  constructor(isLookedAt: () => boolean = () => true) {
    this.isLookedAt = isLookedAt;
  }

  setCatalog(document: CatalogDocument): void {
    this.catalog.value = new Catalog(document);
    this.catalogError.value = null;
    this.showAgain();
  }

  // Throws when the message does not fit what is known: the stream must begin anew then.
  take(message: LiveMessage, nowMs: number): void {
    if (message.type === "event") {
      this.addEvents([message.event]);
      return;
    }
    if (message.type === "snapshot") this.takeSnapshot(message);
    else this.takeDelta(message);
    this.receivedAtMs = nowMs;
    this.changed();
  }

  addEvents(events: readonly EventRow[]): void {
    const byId = new Map([...this.events.value, ...events].map((event) => [event.id, event]));
    const sorted = [...byId.values()].sort((a, b) => b.time - a.time || b.id - a.id);
    this.events.value = sorted.slice(0, MOST_EVENTS);
  }

  ring(subject: string): Ring {
    return this.rings.get(subject) ?? EMPTY;
  }

  // The page is looked at again: one frame catches up on everything.
  showAgain(): void {
    this.isBehind = false;
    this.frame.value++;
  }

  private changed(): void {
    if (this.isLookedAt()) this.frame.value++;
    else this.isBehind = true;
  }

  catchUp(): void {
    if (this.isBehind) this.showAgain();
  }

  private takeSnapshot(message: SnapshotMessage): void {
    const { snapshot } = message;
    this.snapshot = snapshot;
    this.rings.clear();
    for (const subject of ["host", "self", ...snapshot.devices.map((device) => device.uuid)]) {
      const ring = new Ring(snapshot.interval_seconds);
      fillRing(
        ring,
        message.head.groups.filter((group) => group.subject === subject),
      );
      this.rings.set(subject, ring);
    }
    this.appendTick(snapshot);
  }

  private takeDelta(message: DeltaMessage): void {
    if (this.snapshot === null) throw new Error("a snapshot comes first");
    this.snapshot = mergeDelta(this.snapshot, message);
    this.appendTick(this.snapshot);
  }

  private appendTick(snapshot: Snapshot): void {
    this.appendSubject("host", snapshot.host, snapshot.time);
    this.appendSubject("self", snapshot.self, snapshot.time);
    for (const device of snapshot.devices) this.appendSubject(device.uuid, device, snapshot.time);
  }

  private appendSubject(key: string, subject: Subject, time: number): void {
    const ring = this.rings.get(key);
    // The head may end with the very tick that the snapshot shows.
    if (ring === undefined || Math.abs(ring.lastTime - time) < 1e-3) return;
    ring.append(time, this.valuesOf(subject));
  }

  // What charts draw: gauges and counters that are fresh. States are words, not lines.
  private *valuesOf(subject: Subject): Generator<[string, number]> {
    const catalog = this.catalog.value;
    for (const [metric, value] of Object.entries(subject.metrics)) {
      if (value === null || catalog?.metric(metric)?.kind === "state") continue;
      if (subject.stale[metric] !== undefined) continue;
      if (typeof value === "number") {
        yield [seriesKey(metric), value];
        continue;
      }
      for (const [label, number] of Object.entries(value)) {
        const isFresh = number !== null && subject.stale[`${metric}{${label}}`] === undefined;
        if (isFresh) yield [seriesKey(metric, label), number];
      }
    }
  }
}
