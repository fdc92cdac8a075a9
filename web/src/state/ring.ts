// The last minutes of one subject's series: one column of times and one column per series, raw as
// they came. Inside the columns NaN means absent; it leaves them only as a gap.
//
// Rows lie contiguously, so a chart takes a subarray without copying; room at the end is made by
// moving the rows to the front now and then.

// What keeps apart the label in a key; no metric name holds it.
const KEY_SEPARATOR = "\u0000";

export const seriesKey = (metric: string, label = ""): string =>
  label === "" ? metric : metric + KEY_SEPARATOR + label;

// How far back a ring reaches, as does the head that fills it.
export const SPAN_SECONDS = 600;

// Beyond this many intervals without a row, a gap is written into the columns.
const GAP_INTERVALS = 2.5;

export class Ring {
  readonly spanSeconds: number;
  private readonly intervalSeconds: number;
  private readonly columns = new Map<string, Float64Array>();
  private stamps: Float64Array;
  private begin = 0;
  private end = 0;

  constructor(intervalSeconds: number, spanSeconds = SPAN_SECONDS) {
    this.intervalSeconds = intervalSeconds;
    this.spanSeconds = spanSeconds;
    const rows = Math.ceil(spanSeconds / intervalSeconds) + 2;
    // A quarter more, so that rows are moved once in so many ticks and not each tick.
    this.stamps = new Float64Array(Math.ceil(rows * 1.25) + 8);
  }

  get length(): number {
    return this.end - this.begin;
  }

  get lastTime(): number {
    return this.end > this.begin ? (this.stamps[this.end - 1] as number) : Number.NaN;
  }

  times(): Float64Array {
    return this.stamps.subarray(this.begin, this.end);
  }

  // undefined while no number was ever seen: an absent series costs nothing.
  column(key: string): Float64Array | undefined {
    return this.columns.get(key)?.subarray(this.begin, this.end);
  }

  keys(): IterableIterator<string> {
    return this.columns.keys();
  }

  // Labels seen of one metric, in the order of their first number.
  labelsOf(metric: string): string[] {
    const prefix = metric + KEY_SEPARATOR;
    const labels: string[] = [];
    for (const key of this.columns.keys()) {
      if (key.startsWith(prefix)) labels.push(key.slice(prefix.length));
    }
    return labels;
  }

  // Time that does not grow (the wall clock was set back) begins the columns anew: an axis that runs
  // backwards shows nothing true.
  append(time: number, values: Iterable<[string, number]>): void {
    if (this.length > 0) {
      if (time <= this.lastTime) this.clear();
      else if (time - this.lastTime > GAP_INTERVALS * this.intervalSeconds) {
        this.push(this.lastTime + this.intervalSeconds, []);
      }
    }
    this.push(time, values);
    this.forget(time - this.spanSeconds);
  }

  clear(): void {
    this.begin = 0;
    this.end = 0;
    this.columns.clear();
  }

  private push(time: number, values: Iterable<[string, number]>): void {
    if (this.end === this.stamps.length) this.makeRoom();
    const row = this.end++;
    this.stamps[row] = time;
    for (const column of this.columns.values()) column[row] = Number.NaN;
    for (const [key, value] of values) {
      let column = this.columns.get(key);
      if (column === undefined) {
        if (Number.isNaN(value)) continue;
        column = new Float64Array(this.stamps.length).fill(Number.NaN);
        this.columns.set(key, column);
      }
      column[row] = value;
    }
  }

  private forget(before: number): void {
    while (this.begin < this.end && (this.stamps[this.begin] as number) < before) this.begin++;
  }

  private makeRoom(): void {
    const rows = this.length;
    // Ticks came faster than the interval says: grow rather than lose what is still asked for.
    if (rows > this.stamps.length * 0.9) this.grow(this.stamps.length * 2);
    const { begin, end } = this;
    this.stamps.copyWithin(0, begin, end);
    for (const column of this.columns.values()) column.copyWithin(0, begin, end);
    this.begin = 0;
    this.end = rows;
  }

  private grow(size: number): void {
    const grown = (old: Float64Array): Float64Array => {
      const column = new Float64Array(size).fill(Number.NaN);
      column.set(old);
      return column;
    };
    this.stamps = grown(this.stamps);
    for (const [key, column] of this.columns) this.columns.set(key, grown(column));
  }
}
