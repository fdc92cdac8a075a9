// What a function makes of the samples of one series in one window.
//
// Windows are open on the left: they hold the samples in (start, end]. Stale markers are taken out
// before. A kernel gives no_value() where the function has no answer. Kernels are pure.
// Formulas: Prometheus 3's function documentation; the header of each kernel names what differs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/queryable.h"

namespace gpusight::promql {

struct Window {
  std::span<const int64_t> times_ms;  // ascending
  std::span<const double> values;
  int64_t start_ms = 0;  // of the range, with offset and @ taken into account
  int64_t end_ms = 0;
  int64_t eval_ms = 0;  // the step for which it is computed: predict_linear looks from here
};

// The same of rolled-up rows: a row at t stands for the samples in (t - resolution, t].
struct RolledWindow {
  std::span<const int64_t> times_ms;
  std::span<const model::Rollup> rows;
  int64_t resolution_ms = 0;
  int64_t start_ms = 0;
  int64_t end_ms = 0;
};

struct RangeFunction {
  std::string_view name;
  // `args` are the scalar arguments at this step, in order, without the range vector.
  double (*raw)(const Window& window, std::span<const double> args) = nullptr;
  double (*rolled)(const RolledWindow& window) = nullptr;  // null: refuses a rolled-up tier
  bool keeps_name = false;                                 // last_over_time does
  bool wants_counter =
      false;  // rate and kin: an info where the name does not look like a counter's
};

// nullptr for names that are no range function (absent_over_time is the engine's own: it answers
// where there is nothing).
const RangeFunction* find_range_function(std::string_view name);

}  // namespace gpusight::promql
