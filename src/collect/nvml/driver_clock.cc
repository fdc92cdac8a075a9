#include "collect/nvml/driver_clock.h"

#include <algorithm>
#include <cstdlib>

namespace gpusight::collect::nvml {
namespace {

constexpr int64_t kDayUs = 86'400'000'000;
// A wall clock that moved by more than this was set: what was measured before holds no longer.
constexpr int64_t kStepUs = 500'000;

template <typename Time>
int64_t us(Time time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

}  // namespace

void DriverClock::observe(int64_t stamp_us, MonoTime before, MonoTime after, WallTime wall) {
  if (std::llabs(stamp_us - us(wall)) >= kDayUs) return;
  // The stamp was made at some moment of the call; an offset within these bounds explains it.
  const int64_t lowest = stamp_us - us(after);
  const int64_t highest = stamp_us - us(before);
  const int64_t known = offset_us_.load();
  offset_us_ = known == kUnknown ? (lowest + highest) / 2 : std::clamp(known, lowest, highest);
  wall_offset_us_ = us(wall) - us(after);
}

int64_t DriverClock::offset_us(const Clock& clock) const {
  const int64_t wall_offset = us(clock.wall()) - us(clock.mono());
  const int64_t known = offset_us_.load();
  if (known == kUnknown) return wall_offset;
  const int64_t moved = wall_offset - wall_offset_us_.load();
  return std::llabs(moved) > kStepUs ? known + moved : known;
}

uint64_t DriverClock::now_us(const Clock& clock) const {
  return static_cast<uint64_t>(std::max<int64_t>(0, us(clock.mono()) + offset_us(clock)));
}

MonoTime DriverClock::mono_of(uint64_t stamp_us, const Clock& clock) const {
  return MonoTime(std::chrono::microseconds(static_cast<int64_t>(stamp_us) - offset_us(clock)));
}

}  // namespace gpusight::collect::nvml
