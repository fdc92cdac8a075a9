// The workload's signals as pure functions of time, with closed integrals, so that averages,
// counters and current values agree with one another whenever they are asked for.
#pragma once

#include <cstdint>

#include "scenario.h"

namespace gpusight::sim {

enum class Channel { kActivity, kMemory, kEncoder, kDecoder, kJpeg, kOfa, kTensor };

// The value at `t`, 0..1.
double level(const Workload& workload, Channel channel, double t);

// The integral from 0 to `t` (negative before the start).
double integral(const Workload& workload, Channel channel, double t);

// The mean over [from, to]; the value at `to` when that is empty.
double mean(const Workload& workload, Channel channel, double from, double to);

// A reproducible number in [-1, 1) for a slot of time.
double noise(std::uint64_t seed, std::uint64_t stream, std::int64_t slot);

// 64 well mixed bits.
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

}  // namespace gpusight::sim
