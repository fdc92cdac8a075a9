#include "collect/amdgpu/idle_release.h"

#include <algorithm>

namespace gpusight::collect::amdgpu {

bool IdleRelease::should_release(const platform::PciPower& power, Duration idle_for, MonoTime now) {
  if (released_at_ || now < not_before_) return false;
  if (!power.may_sleep || power.status == platform::RuntimeStatus::kUnmanaged) return false;
  constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;
  const int64_t delay_ms = power.autosuspend_delay_ms.value_or(
      std::chrono::duration_cast<std::chrono::milliseconds>(kUsualDelay).count());
  if (delay_ms < 0) return false;
  delay_ = std::chrono::milliseconds(std::min(delay_ms, kDayMs));
  if (idle_for <= delay_ + kMargin) return false;
  released_at_ = now;
  has_slept_ = false;
  return true;
}

bool IdleRelease::should_return(platform::RuntimeStatus status, MonoTime now) {
  if (!released_at_) return false;
  if (platform::is_asleep(status)) {
    has_slept_ = true;
    hold_ = kFirstHold;
    return false;
  }
  if (has_slept_) {
    released_at_.reset();
    return true;
  }
  // It had the time to fall asleep, and twice over.
  if (now - *released_at_ < 2 * (delay_ + kMargin)) return false;
  released_at_.reset();
  not_before_ = now + hold_;
  hold_ = std::min<Duration>(2 * hold_, kLongestHold);
  return true;
}

}  // namespace gpusight::collect::amdgpu
