#include "store/clock_guard.h"

#include <fmt/core.h>

#include <cstdlib>

namespace gpusight::store {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr int64_t kFirstBelieved = 1'704'067'200'000;  // 2024-01-01
constexpr int64_t kJumpMs = 60'000;
constexpr int64_t kSmallStepBackMs = 2 * 3'600'000;
constexpr Duration kBelieveStepBackAfter = std::chrono::minutes(10);
constexpr Duration kBelieveAgesAfter = std::chrono::hours(1);

}  // namespace

Status ClockGuard::look(int64_t wall_ms, MonoTime mono, std::optional<int64_t> newest_ms) {
  const int64_t passed_ms = duration_cast<milliseconds>(mono - mono_).count();
  const bool jumped = !wall_ms_ || std::llabs(wall_ms - *wall_ms_ - passed_ms) > kJumpMs;
  if (jumped) stands_since_ = mono;
  wall_ms_ = wall_ms;
  mono_ = mono;
  if (wall_ms < kFirstBelieved) {
    return {Code::kUnavailable, "the machine's clock is not set"};
  }
  if (!newest_ms || wall_ms > *newest_ms - kSmallStepBackMs) return {};
  if (mono - stands_since_ >= kBelieveStepBackAfter) return {};
  return {Code::kUnavailable,
          fmt::format("the machine's clock is {} minutes before the newest record; it is believed "
                      "once it has stood for {} minutes",
                      (*newest_ms - wall_ms) / 60'000,
                      duration_cast<std::chrono::minutes>(kBelieveStepBackAfter).count())};
}

bool ClockGuard::is_settled() const {
  return wall_ms_ && *wall_ms_ >= kFirstBelieved && mono_ - stands_since_ >= kBelieveAgesAfter;
}

}  // namespace gpusight::store
