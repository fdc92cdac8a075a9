// The rate of a counter that grows, between two readings of it. Belongs to one lane.
#pragma once

#include <optional>

#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

class CounterRate {
 public:
  // What the count of `now` makes of the rate, a second; not ready at the first reading and after
  // one that failed or went down (the driver was reloaded, the board reset).
  Reading update(const Reading& count, MonoTime now);
  Duration window() const { return window_; }  // of the last rate

 private:
  struct Point {
    double count;
    MonoTime at;
  };
  std::optional<Point> last_;
  Duration window_{};
};

}  // namespace gpusight::collect::nvml
