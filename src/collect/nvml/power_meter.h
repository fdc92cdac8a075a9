// Power out of a growing energy counter: the difference over at least a second. Belongs to one
// lane.
#pragma once

#include <deque>
#include <optional>

#include "base/clock.h"

namespace gpusight::collect::nvml {

class PowerMeter {
 public:
  struct Reading {
    double watts = 0;
    Duration window{};
  };

  // A counter reading, taken at `now`. nullopt until a reading lies far enough back, and when the
  // counter went down: the driver was reloaded or the board reset, and counting starts again.
  std::optional<Reading> update(double joules, MonoTime now);
  // The counter could not be read: what was before says nothing about what comes.
  void reset() { points_.clear(); }

 private:
  // Boards renew the counter every few tens of milliseconds; over a second that is a small error. A
  // tick that comes a little early is still a tick: without the allowance every other reading of a
  // one-second tick would span two.
  static constexpr Duration kShortest = std::chrono::milliseconds(980);

  struct Point {
    double joules;
    MonoTime at;
  };
  std::deque<Point> points_;  // oldest first; the first one is the base
};

}  // namespace gpusight::collect::nvml
