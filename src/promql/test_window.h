// For tests: a window over samples written by hand, and what a range function makes of it.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "promql/range_functions.h"

namespace gpusight::promql {

// Seconds and values in (start, end], both in seconds; evaluated at the end.
class TestWindow {
 public:
  TestWindow(double start_s, double end_s, const std::vector<std::pair<double, double>>& samples)
      : start_ms_(to_ms(start_s)), end_ms_(to_ms(end_s)) {
    for (const auto& [time_s, value] : samples) {
      if (to_ms(time_s) <= start_ms_ || to_ms(time_s) > end_ms_) continue;
      times_ms_.push_back(to_ms(time_s));
      values_.push_back(value);
    }
  }
  // One sample a second at 1, 2, …
  explicit TestWindow(std::initializer_list<double> values)
      : end_ms_(static_cast<int64_t>(values.size()) * 1000), values_(values) {
    for (size_t i = 0; i < values_.size(); ++i) {
      times_ms_.push_back(static_cast<int64_t>(i + 1) * 1000);
    }
  }

  Window get() const {
    return {.times_ms = times_ms_,
            .values = values_,
            .start_ms = start_ms_,
            .end_ms = end_ms_,
            .eval_ms = end_ms_};
  }
  bool empty() const { return times_ms_.empty(); }

 private:
  static int64_t to_ms(double seconds) { return static_cast<int64_t>(seconds * 1000); }
  int64_t start_ms_ = 0;
  int64_t end_ms_ = 0;
  std::vector<int64_t> times_ms_;
  std::vector<double> values_;
};

inline double call(std::string_view function, const Window& window,
                   std::initializer_list<double> args = {}) {
  const RangeFunction* found = find_range_function(function);
  CHECK(found != nullptr, function);
  const std::vector<double> given(args);
  return found->raw(window, given);
}
inline double call(std::string_view function, const TestWindow& window,
                   std::initializer_list<double> args = {}) {
  return call(function, window.get(), args);
}

}  // namespace gpusight::promql
