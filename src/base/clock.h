// Time. Rates and ages come from the monotonic clock, names of moments from the wall clock; both
// are read through Clock so that a test can own them. All implementations are thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <stop_token>
#include <string>

#include "base/annotations.h"

namespace gpusight {

using Duration = std::chrono::nanoseconds;
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

inline double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
inline Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}
inline int64_t unix_milliseconds(WallTime t) {
  return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}
// "2026-11-30T03:12:00Z"
std::string utc_text(WallTime t);
inline double unix_seconds(WallTime t) { return seconds(t.time_since_epoch()); }

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonoTime mono() const = 0;
  virtual WallTime wall() const = 0;
  // Returns at `deadline` or as soon as `stop` is requested; true when the deadline was reached.
  virtual bool sleep_until(MonoTime deadline, std::stop_token stop) const = 0;
};

class SystemClock final : public Clock {
 public:
  MonoTime mono() const override;
  WallTime wall() const override;
  bool sleep_until(MonoTime deadline, std::stop_token stop) const override;
};

// Stands still until told otherwise; advance() wakes the sleepers whose deadline has come.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime wall = WallTime{std::chrono::hours(24 * 365 * 55)});
  MonoTime mono() const override;
  WallTime wall() const override;
  bool sleep_until(MonoTime deadline, std::stop_token stop) const override;
  void advance(Duration by);
  void set_wall(WallTime wall);  // a clock jump: the monotonic clock stays

 private:
  mutable Mutex mutex_;
  mutable std::condition_variable_any changed_;
  MonoTime mono_ GUARDED_BY(mutex_){std::chrono::hours(1)};
  WallTime wall_ GUARDED_BY(mutex_);
};

}  // namespace gpusight
