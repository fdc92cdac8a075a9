import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CLOSE_TOO_SLOW, type Connection, LiveClient, type Socket, unpackMessage } from "./live";
import type { LiveMessage } from "./types";

class FakeSocket implements Socket {
  binaryType = "blob";
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onerror: (() => void) | null = null;
  isClosed = false;

  close(): void {
    this.isClosed = true;
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

const snapshot = (n: number): object => ({
  type: "snapshot",
  n,
  snapshot: { interval_seconds: 1 },
  head: { groups: [] },
});
const delta = (n: number): object => ({ type: "delta", n });

interface Bench {
  client: LiveClient;
  sockets: FakeSocket[];
  messages: LiveMessage[];
  states: Connection[];
}

function bench(onMessage?: (message: LiveMessage) => void): Bench {
  const sockets: FakeSocket[] = [];
  const messages: LiveMessage[] = [];
  const states: Connection[] = [];
  const client = new LiveClient({
    url: () => "ws://here/live",
    onMessage: (message) => {
      messages.push(message);
      onMessage?.(message);
    },
    onConnection: (state) => states.push(state),
    openSocket: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    random: () => 1,
    nowMs: () => 0,
  });
  client.start();
  return { client, sockets, messages, states };
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const lastOf = <T>(all: readonly T[]): T => all[all.length - 1] as T;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("live stream", () => {
  it("takes a snapshot and the deltas after it in order", async () => {
    const { sockets, messages, states } = bench();
    sockets[0]?.say(snapshot(0));
    sockets[0]?.say(delta(1));
    sockets[0]?.say(delta(2));
    await settle();
    expect(messages.map((message) => message.n)).toEqual([0, 1, 2]);
    expect(lastOf(states)).toEqual({ phase: "live" });
  });

  it("unpacks the gzip of a binary message", async () => {
    const text = new Response(JSON.stringify(snapshot(0))).body as ReadableStream;
    const packed = await new Response(
      text.pipeThrough(new CompressionStream("gzip") as unknown as ReadableWritablePair),
    ).arrayBuffer();
    expect(JSON.parse(await unpackMessage(packed))).toEqual(snapshot(0));
    expect(await unpackMessage("text")).toBe("text");
  });

  it("says that it is connected while the first reading is awaited", async () => {
    const { sockets, states } = bench();
    sockets[0]?.onopen?.();
    expect(lastOf(states)).toEqual({ phase: "open" });
    sockets[0]?.say(snapshot(0));
    await settle();
    expect(lastOf(states)).toEqual({ phase: "live" });
  });

  it("takes a snapshot in mid-stream with whatever number it has", async () => {
    const { sockets, messages } = bench();
    sockets[0]?.say(snapshot(0));
    sockets[0]?.say(snapshot(7));
    sockets[0]?.say(delta(8));
    await settle();
    expect(messages).toHaveLength(3);
    expect(sockets).toHaveLength(1);
  });

  it("begins anew when a number is missing", async () => {
    const { sockets, messages } = bench();
    sockets[0]?.say(snapshot(0));
    sockets[0]?.say(delta(2));
    await settle();
    expect(messages).toHaveLength(1);
    expect(sockets[0]?.isClosed).toBe(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sockets).toHaveLength(2);
    sockets[1]?.say(snapshot(0));
    await settle();
    expect(messages).toHaveLength(2);
  });

  it("begins anew when a message cannot be read, or cannot be merged", async () => {
    for (const bad of ["{", JSON.stringify(delta(0)), JSON.stringify({ type: "what", n: 0 })]) {
      const { sockets } = bench();
      sockets[0]?.onmessage?.({ data: bad });
      await settle();
      expect(sockets[0]?.isClosed).toBe(true);
    }
    const { sockets } = bench(() => {
      throw new Error("does not fit");
    });
    sockets[0]?.say(snapshot(0));
    await settle();
    expect(sockets[0]?.isClosed).toBe(true);
  });

  it("waits 1, 2, 4 … 30 s and begins with short waits again once deltas came", async () => {
    const { sockets, states } = bench();
    const waits: number[] = [];
    for (let i = 0; i < 7; i++) {
      lastOf(sockets).onclose?.({ code: 1006 });
      const state = lastOf(states);
      const wait = state.phase === "waiting" ? state.retryAtMs : -1;
      waits.push(wait);
      await vi.advanceTimersByTimeAsync(wait);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    lastOf(sockets).say(snapshot(0));
    lastOf(sockets).say(delta(1));
    await settle();
    lastOf(sockets).onclose?.({ code: 1006 });
    expect(lastOf(states)).toMatchObject({ phase: "waiting", retryAtMs: 1000, why: "closed" });
  });

  it("takes its time after having been too slow, and says so", () => {
    const { sockets, states } = bench();
    sockets[0]?.onclose?.({ code: CLOSE_TOO_SLOW });
    expect(lastOf(states)).toMatchObject({ phase: "waiting", retryAtMs: 10_000, why: "too_slow" });
  });

  it("gives up on a connection that fell silent", async () => {
    const { sockets } = bench();
    sockets[0]?.say(snapshot(0));
    await settle();
    await vi.advanceTimersByTimeAsync(19_000);
    expect(sockets[0]?.isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(sockets[0]?.isClosed).toBe(true);
  });

  it("comes back at once when asked, and never twice", async () => {
    const { client, sockets } = bench();
    client.retryNow();
    expect(sockets).toHaveLength(1);
    sockets[0]?.onclose?.({ code: 1006 });
    client.retryNow();
    client.retryNow();
    await vi.advanceTimersByTimeAsync(5000);
    expect(sockets).toHaveLength(2);
  });

  it("ignores what a left socket still says", async () => {
    const { sockets, messages } = bench();
    sockets[0]?.onclose?.({ code: 1006 });
    sockets[0]?.say(snapshot(0));
    await settle();
    expect(messages).toHaveLength(0);
  });

  it("stays quiet after stop", async () => {
    const { client, sockets } = bench();
    client.stop();
    sockets[0]?.onclose?.({ code: 1006 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(1);
  });
});
