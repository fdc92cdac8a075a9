// Smoothing for the eye: computed on view from the raw columns, which stay as they are. Each point
// looks back over the window; a gap stays a gap and nothing reaches across one.

type Fold = "mean" | "min" | "max";

function trailingMean(times: ArrayLike<number>, values: ArrayLike<number>, window: number) {
  const out = new Float64Array(values.length);
  let from = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) {
      out[i] = Number.NaN;
      from = i + 1;
      sum = 0;
      continue;
    }
    sum += value;
    while ((times[i] as number) - (times[from] as number) >= window) {
      sum -= values[from] as number;
      from++;
    }
    out[i] = sum / (i - from + 1);
  }
  return out;
}

// `isBetter(a, b)`: a makes b irrelevant. The queue holds indices whose values get ever worse.
function trailingExtreme(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  window: number,
  isBetter: (a: number, b: number) => boolean,
) {
  const out = new Float64Array(values.length);
  const queue: number[] = [];
  let head = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) {
      out[i] = Number.NaN;
      queue.length = head = 0;
      continue;
    }
    while (
      queue.length > head &&
      isBetter(value, values[queue[queue.length - 1] as number] as number)
    ) {
      queue.pop();
    }
    queue.push(i);
    while ((times[i] as number) - (times[queue[head] as number] as number) >= window) head++;
    out[i] = values[queue[head] as number] as number;
  }
  return out;
}

// `windowSeconds` 0 is raw.
export function smooth(
  times: ArrayLike<number>,
  values: Float64Array,
  windowSeconds: number,
  fold: Fold = "mean",
): Float64Array {
  if (windowSeconds <= 0) return values;
  // Ticks are a little early or late: a window of five seconds holds five of them all the same.
  const window = windowSeconds - 0.05;
  if (fold === "min") return trailingExtreme(times, values, window, (a, b) => a <= b);
  if (fold === "max") return trailingExtreme(times, values, window, (a, b) => a >= b);
  return trailingMean(times, values, window);
}
