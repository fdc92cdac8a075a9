// Converts between our monotonic clock and the driver's time stamps, which are microseconds of wall
// time: their difference is measured whenever a field value comes back with its stamp, and taken
// from the machine's wall clock until then.
//
// Thread-safe: the lanes of one GPU share it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace gpusight::collect::nvml {

class DriverClock {
 public:
  // A stamp that the driver made between two moments of ours, `wall` being the machine's wall time
  // at `after`. One that is a day or more off it is no time at all and is left out.
  void observe(int64_t stamp_us, MonoTime before, MonoTime after, WallTime wall);
  // The driver's time now.
  uint64_t now_us(const Clock& clock) const;
  // The moment at which the driver made a stamp.
  MonoTime mono_of(uint64_t stamp_us, const Clock& clock) const;

 private:
  static constexpr int64_t kUnknown = INT64_MIN;

  int64_t offset_us(const Clock& clock) const;

  std::atomic<int64_t> offset_us_{kUnknown};  // driver's stamps less our monotonic clock
  std::atomic<int64_t> wall_offset_us_{0};    // wall clock less monotonic clock at that time
};

}  // namespace gpusight::collect::nvml
