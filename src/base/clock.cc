#include "base/clock.h"

#include <ctime>

namespace gpusight {

std::string utc_text(WallTime t) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(t.time_since_epoch()).count();
  const std::time_t unix_time = whole;
  std::tm utc{};
  ::gmtime_r(&unix_time, &utc);
  char text[64];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text, size};
}

MonoTime SystemClock::mono() const { return std::chrono::steady_clock::now(); }
WallTime SystemClock::wall() const { return std::chrono::system_clock::now(); }

bool SystemClock::sleep_until(MonoTime deadline, std::stop_token stop) const {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_until(lock, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

FakeClock::FakeClock(WallTime wall) : wall_(wall) {}

MonoTime FakeClock::mono() const {
  MutexLock lock(mutex_);
  return mono_;
}

WallTime FakeClock::wall() const {
  MutexLock lock(mutex_);
  return wall_;
}

bool FakeClock::sleep_until(MonoTime deadline,
                            std::stop_token stop) const NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mutex_);
  changed_.wait(lock, stop, [&]() NO_THREAD_SAFETY_ANALYSIS { return mono_ >= deadline; });
  return mono_ >= deadline;
}

void FakeClock::advance(Duration by) {
  {
    MutexLock lock(mutex_);
    mono_ += by;
    wall_ += by;
  }
  changed_.notify_all();
}

void FakeClock::set_wall(WallTime wall) {
  MutexLock lock(mutex_);
  wall_ = wall;
}

}  // namespace gpusight
