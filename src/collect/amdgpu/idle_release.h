// When to leave an idle GPU alone so that the kernel can put it to sleep: many drivers count our
// very reading as use, and a device that is read each second then never sleeps. One object a
// device; used by the control thread only.
#pragma once

#include <optional>

#include "base/clock.h"
#include "platform/pci.h"

namespace gpusight::collect::amdgpu {

class IdleRelease {
 public:
  bool is_released() const { return released_at_.has_value(); }
  // True: leave it alone from now on. `idle_for`: since it last showed work.
  bool should_release(const platform::PciPower& power, Duration idle_for, MonoTime now);
  // Of a released device: true when it is to be read again, because it slept and woke up or
  // because somebody else keeps it awake.
  bool should_return(platform::RuntimeStatus status, MonoTime now);

 private:
  // A second beyond what the kernel waits for.
  static constexpr Duration kMargin = std::chrono::seconds(1);
  // For a driver that does not tell; amdgpu's own.
  static constexpr Duration kUsualDelay = std::chrono::seconds(5);
  static constexpr Duration kFirstHold = std::chrono::minutes(10);
  static constexpr Duration kLongestHold = std::chrono::hours(2);

  std::optional<MonoTime> released_at_;
  Duration delay_{};  // of the kernel, at release
  bool has_slept_ = false;
  MonoTime not_before_{};  // the next attempt, after one that came to nothing
  Duration hold_ = kFirstHold;
};

}  // namespace gpusight::collect::amdgpu
