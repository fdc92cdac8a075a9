// Numbers that look random and are the same each time: a made-up machine must agree with itself.

export const GIB = 1024 ** 3;

export const noise = (seed, t) => {
  const x = Math.sin(seed * 127.1 + Math.floor(t) * 311.7) * 43758.5453;
  return x - Math.floor(x);
};
export const wave = (t, period, phase = 0) =>
  0.5 + 0.5 * Math.sin((2 * Math.PI * (t + phase)) / period);
export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
export const to = (step, x) => Math.round(x / step) * step;
export const milli = (x) => Math.round(x * 1000) / 1000;

export const hex = (seed, n) => {
  let out = "";
  for (let i = 0; out.length < n; i++)
    out += Math.floor(noise(seed + i * 7.3, i) * 65536)
      .toString(16)
      .padStart(4, "0");
  return out.slice(0, n);
};
export const uuidOf = (seed, prefix = "GPU") =>
  `${prefix}-${hex(seed, 8)}-${hex(seed + 1, 4)}-${hex(seed + 2, 4)}-${hex(seed + 3, 4)}-${hex(seed + 4, 12)}`;
