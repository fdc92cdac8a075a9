#include "waveform.h"

#include <algorithm>
#include <cmath>

namespace gpusight::sim {
namespace {

// Integral of the pulse train of a phase from the start of a step to `x` seconds later.
double pulses_to(const Phase& phase, double x) {
  if (phase.pulse_hz <= 0) return phase.high * x;
  const double period = 1 / phase.pulse_hz;
  const double busy = period * phase.duty;
  const double whole = std::floor(x / period);
  const double rest = x - whole * period;
  const double one = busy * phase.high + (period - busy) * phase.low;
  return whole * one + std::min(rest, busy) * phase.high + std::max(0.0, rest - busy) * phase.low;
}

// Integral of one step (pulses, then the gap) from its start to `x`.
double step_to(const Phase& phase, double x) {
  const double pulsing = phase.step_seconds - phase.gap_seconds;
  if (x <= pulsing) return pulses_to(phase, x);
  return pulses_to(phase, pulsing) + (x - pulsing) * phase.gap;
}

double activity_to(const Phase& phase, double x) {
  if (phase.step_seconds <= 0) return pulses_to(phase, x);
  const double whole = std::floor(x / phase.step_seconds);
  return whole * step_to(phase, phase.step_seconds) +
         step_to(phase, x - whole * phase.step_seconds);
}

double channel_to(const Phase& phase, Channel channel, double x) {
  switch (channel) {
    case Channel::kActivity: return activity_to(phase, x);
    case Channel::kMemory: return activity_to(phase, x) * phase.memory;
    case Channel::kEncoder: return phase.encoder * x;
    case Channel::kDecoder: return phase.decoder * x;
    case Channel::kJpeg: return phase.jpeg * x;
    case Channel::kOfa: return phase.ofa * x;
    case Channel::kTensor: return activity_to(phase, x) * phase.tensor;
  }
  return 0;
}

double activity_at(const Phase& phase, double x) {
  if (phase.step_seconds > 0) {
    x = std::fmod(x, phase.step_seconds);
    if (x >= phase.step_seconds - phase.gap_seconds) return phase.gap;
  }
  if (phase.pulse_hz <= 0) return phase.high;
  const double period = 1 / phase.pulse_hz;
  return std::fmod(x, period) < period * phase.duty ? phase.high : phase.low;
}

double channel_at(const Phase& phase, Channel channel, double x) {
  switch (channel) {
    case Channel::kActivity: return activity_at(phase, x);
    case Channel::kMemory: return activity_at(phase, x) * phase.memory;
    case Channel::kEncoder: return phase.encoder;
    case Channel::kDecoder: return phase.decoder;
    case Channel::kJpeg: return phase.jpeg;
    case Channel::kOfa: return phase.ofa;
    case Channel::kTensor: return activity_at(phase, x) * phase.tensor;
  }
  return 0;
}

// Position in the cycle and the number of whole cycles before it.
double into_cycle(const Workload& workload, double t, double* cycles) {
  *cycles = std::floor(t / workload.cycle_seconds);
  return t - *cycles * workload.cycle_seconds;
}

double cycle_to(const Workload& workload, Channel channel, double x) {
  double sum = 0;
  for (const Phase& phase : workload.phases) {
    if (x <= 0) break;
    sum += channel_to(phase, channel, std::min(x, phase.seconds));
    x -= phase.seconds;
  }
  return sum;
}

}  // namespace

double level(const Workload& workload, Channel channel, double t) {
  double cycles = 0;
  double x = into_cycle(workload, t, &cycles);
  for (const Phase& phase : workload.phases) {
    if (x < phase.seconds) {
      return channel_at(phase, channel, x);
    }
    x -= phase.seconds;
  }
  return 0;
}

double integral(const Workload& workload, Channel channel, double t) {
  double cycles = 0;
  const double x = into_cycle(workload, t, &cycles);
  return cycles * cycle_to(workload, channel, workload.cycle_seconds) +
         cycle_to(workload, channel, x);
}

double mean(const Workload& workload, Channel channel, double from, double to) {
  if (!(to > from)) return level(workload, channel, to);
  return (integral(workload, channel, to) - integral(workload, channel, from)) / (to - from);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b + 0x632BE59BD9B4E019ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

double noise(std::uint64_t seed, std::uint64_t stream, std::int64_t slot) {
  const std::uint64_t bits = mix(mix(seed, stream), static_cast<std::uint64_t>(slot));
  return static_cast<double>(bits >> 11) / static_cast<double>(1ULL << 52) - 1.0;
}

}  // namespace gpusight::sim
