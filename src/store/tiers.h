// The tiers of history: raw samples, and rows rolled up over a minute and an hour; how long each is
// kept and how its chunks grow. Constant data.
//
// A window of width W holds the times in (k·W, (k+1)·W], so that a window is made of whole
// rolled-up rows. Every width is a multiple of the ones before it and of the resolutions inside.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace gpusight::store {

inline constexpr int64_t kMinuteMs = 60'000;
inline constexpr int64_t kHourMs = 60 * kMinuteMs;
inline constexpr int64_t kDayMs = 24 * kHourMs;

enum class Tier : uint8_t { kRaw, kMinute, kHour };  // the numbers are part of the format
inline constexpr size_t kTierCount = 3;

struct TierRow {
  Tier tier;
  std::string_view name;
  int64_t resolution_ms;  // 0: raw
  // Chunks start at level 0 and are merged into one of the next level when its window is over.
  std::array<int64_t, 2> window_ms;
  Duration keep;  // unless told otherwise
};

inline constexpr std::array<TierRow, kTierCount> kTiers = {{
    {Tier::kRaw, "raw", 0, {10 * kMinuteMs, 4 * kHourMs}, std::chrono::hours(24 * 7)},
    {Tier::kMinute, "1m", kMinuteMs, {kDayMs, kDayMs}, std::chrono::hours(24 * 90)},
    {Tier::kHour, "1h", kHourMs, {kDayMs, 30 * kDayMs}, std::chrono::hours(24 * 365 * 5)},
}};
constexpr const TierRow& tier_row(Tier tier) { return kTiers[static_cast<size_t>(tier)]; }

// What is raw is rolled up a window of this width at a time.
inline constexpr int64_t kRollWindowMs = 4 * kHourMs;
// No chunk that is committed reaches over a border of these.
inline constexpr int64_t kSmallestWindowMs = kTiers[0].window_ms[0];

// The end of the window that a time lies in.
constexpr int64_t window_end(int64_t time_ms, int64_t width_ms) {
  const int64_t before = time_ms - 1;
  const int64_t k = before >= 0 ? before / width_ms : -((-before - 1) / width_ms) - 1;
  return (k + 1) * width_ms;
}

}  // namespace gpusight::store
