// Rates of counters, derived on reading. A rate spans at least two seconds of samples, so that the
// jitter of a tick does not show as a wave; across a decrease (the counter began anew) and across a
// long gap it is absent: what happened in between is not known.

const LEAST_SECONDS = 2;
const MOST_SECONDS = 10;
const MOST_INTERVALS = 3;

interface Sample {
  time: number;
  value: number;
}

function between(from: Sample, to: Sample): number {
  return (to.value - from.value) / (to.time - from.time);
}

// Ticks come a little early: 1.95 s between three of them are two seconds.
const isLongEnough = (seconds: number): boolean => seconds >= LEAST_SECONDS * 0.95;

export function rates(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  intervalSeconds: number,
) {
  const out = new Float64Array(values.length).fill(Number.NaN);
  const most = Math.max(MOST_SECONDS, MOST_INTERVALS * intervalSeconds);
  let run: Sample[] = []; // samples since the last reset, oldest first
  let first = 0;
  for (let i = 0; i < values.length; i++) {
    const sample = { time: times[i] as number, value: values[i] as number };
    if (Number.isNaN(sample.value)) continue;
    const last = run[run.length - 1];
    if (last !== undefined && (sample.value < last.value || sample.time - last.time > most)) {
      run = [];
      first = 0;
    }
    run.push(sample);
    // The shortest span that is long enough.
    while (first + 1 < run.length && isLongEnough(sample.time - (run[first + 1] as Sample).time)) {
      first++;
    }
    const from = run[first] as Sample;
    if (isLongEnough(sample.time - from.time)) out[i] = between(from, sample);
  }
  return out;
}

// The newest rate, NaN when there is none.
export function lastRate(
  times: Float64Array,
  values: Float64Array | undefined,
  intervalSeconds: number,
): number {
  if (values === undefined || values.length === 0) return Number.NaN;
  // Enough rows for the longest span; the rest of the column does not matter.
  const rows = Math.ceil(
    Math.max(MOST_SECONDS, MOST_INTERVALS * intervalSeconds) / intervalSeconds,
  );
  const from = Math.max(0, values.length - rows - 2);
  const tail = rates(times.subarray(from), values.subarray(from), intervalSeconds);
  return tail[tail.length - 1] as number;
}
