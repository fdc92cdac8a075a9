// The live stream: one snapshot with the last ten minutes, then numbered deltas. Whatever goes wrong
// (a gap in the numbers, an unreadable message, silence, a closed socket) ends in a new connection,
// which begins with a whole snapshot: the page never goes on from a state it is not sure of.
import type { LiveMessage } from "./types";

// The server closes with this when the page could not keep up three times within a minute.
export const CLOSE_TOO_SLOW = 4008;

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
// Silence for this long, or for ten ticks where they are longer, is a dead connection.
const SILENCE_MS = 20_000;

export type Connection =
  | { phase: "connecting" }
  | { phase: "open" } // connected, and the first reading not there yet
  | { phase: "live" }
  | { phase: "waiting"; retryAtMs: number; why: "closed" | "too_slow" | "broken" };

export interface Socket {
  binaryType: string;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onerror: (() => void) | null;
  close(): void;
}

export interface LiveOptions {
  url: () => string;
  onMessage: (message: LiveMessage) => void;
  onConnection: (connection: Connection) => void;
  openSocket?: (url: string) => Socket;
  unpack?: (data: unknown) => Promise<string>;
  random?: () => number;
  nowMs?: () => number;
}

// Text as it is; binary is gzip.
export async function unpackMessage(data: unknown): Promise<string> {
  if (typeof data === "string") return data;
  const body = new Response(data as BodyInit).body;
  if (body === null) throw new Error("empty message");
  const gunzip = new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>;
  return new Response(body.pipeThrough(gunzip) as unknown as BodyInit).text();
}

export class LiveClient {
  private readonly options: Required<LiveOptions>;
  private socket: Socket | null = null;
  private expected = -1; // next n; -1 until the first snapshot of a connection
  private failures = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private silenceMs = SILENCE_MS;
  private stopped = true;
  // Unpacking takes a turn of the event loop; messages are taken one after another all the same.
  private queue: Promise<void> = Promise.resolve();

  constructor(options: LiveOptions) {
    this.options = {
      openSocket: (url) => new WebSocket(url) as unknown as Socket,
      unpack: unpackMessage,
      random: Math.random,
      nowMs: () => performance.now(),
      ...options,
    };
  }

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    this.drop();
    clearTimeout(this.retryTimer);
  }

  // The network came back or the user asked: no reason to wait any longer.
  retryNow(): void {
    if (this.stopped || this.socket !== null) return;
    clearTimeout(this.retryTimer);
    this.connect();
  }

  private connect(): void {
    this.options.onConnection({ phase: "connecting" });
    this.expected = -1;
    let socket: Socket;
    try {
      socket = this.options.openSocket(this.options.url());
    } catch {
      this.lose("broken");
      return;
    }
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      if (this.socket === socket) this.options.onConnection({ phase: "open" });
    };
    socket.onmessage = (event) => {
      if (this.socket === socket) this.watchSilence();
      this.queue = this.queue.then(() => this.take(socket, event.data));
    };
    socket.onclose = (event) => {
      if (this.socket === socket) this.lose(event.code === CLOSE_TOO_SLOW ? "too_slow" : "closed");
    };
    socket.onerror = () => {}; // a close follows
    this.watchSilence();
  }

  private async take(socket: Socket, data: unknown): Promise<void> {
    if (this.socket !== socket) return;
    try {
      const message = JSON.parse(await this.options.unpack(data)) as LiveMessage;
      if (this.socket !== socket) return; // closed meanwhile
      this.accept(message);
    } catch {
      if (this.socket === socket) this.lose("broken");
    }
  }

  private accept(message: LiveMessage): void {
    const isSnapshot = message.type === "snapshot";
    if (this.expected < 0 && !isSnapshot) throw new Error("a snapshot comes first");
    // A snapshot makes whole whatever was missed before it.
    if (!isSnapshot && message.n !== this.expected) throw new Error("a message is missing");
    this.expected = message.n + 1;
    if (isSnapshot) {
      this.silenceMs = Math.max(SILENCE_MS, message.snapshot.interval_seconds * 10_000);
      this.options.onConnection({ phase: "live" });
    } else if (message.type === "delta") {
      this.failures = 0; // it works: the next loss begins with short waits again
    }
    this.options.onMessage(message);
  }

  private watchSilence(): void {
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => this.lose("broken"), this.silenceMs);
  }

  private drop(): void {
    clearTimeout(this.silenceTimer);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  private lose(why: "closed" | "too_slow" | "broken"): void {
    this.drop();
    if (this.stopped) return;
    // Half to the whole of the step, so that many pages do not come back in the same moment.
    const step = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.failures);
    const slowest = why === "too_slow" ? Math.max(step, 10_000) : step;
    const waitMs = Math.max(FIRST_WAIT_MS, slowest * (0.5 + this.options.random() / 2));
    this.failures = Math.min(this.failures + 1, 10);
    this.options.onConnection({ phase: "waiting", retryAtMs: this.options.nowMs() + waitMs, why });
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => this.connect(), waitMs);
  }
}
