#include "promql/range_functions.h"

#include <algorithm>
#include <array>

#include "promql/range_kernels.h"

namespace gpusight::promql {
namespace {

// Sorted by name. Where `rolled` is null the function cannot be had from rolled-up rows.
// clang-format off
constexpr std::array kRangeFunctions = {
    RangeFunction{.name = "avg_over_time", .raw = avg_over_time, .rolled = rolled_avg},
    RangeFunction{.name = "changes", .raw = changes},
    RangeFunction{.name = "count_over_time", .raw = count_over_time, .rolled = rolled_count},
    RangeFunction{.name = "delta", .raw = delta, .rolled = rolled_delta},
    RangeFunction{.name = "deriv", .raw = deriv},
    RangeFunction{.name = "idelta", .raw = idelta},
    RangeFunction{.name = "increase", .raw = increase, .rolled = rolled_increase, .wants_counter = true},
    RangeFunction{.name = "irate", .raw = irate},
    RangeFunction{.name = "last_over_time", .raw = last_over_time, .rolled = rolled_last, .keeps_name = true},
    RangeFunction{.name = "max_over_time", .raw = max_over_time, .rolled = rolled_max},
    RangeFunction{.name = "min_over_time", .raw = min_over_time, .rolled = rolled_min},
    RangeFunction{.name = "predict_linear", .raw = predict_linear},
    RangeFunction{.name = "present_over_time", .raw = present_over_time},
    RangeFunction{.name = "quantile_over_time", .raw = quantile_over_time},
    RangeFunction{.name = "rate", .raw = rate, .rolled = rolled_rate, .wants_counter = true},
    RangeFunction{.name = "resets", .raw = resets},
    RangeFunction{.name = "stddev_over_time", .raw = stddev_over_time},
    RangeFunction{.name = "stdvar_over_time", .raw = stdvar_over_time},
    RangeFunction{.name = "sum_over_time", .raw = sum_over_time, .rolled = rolled_sum},
};
// clang-format on

}  // namespace

const RangeFunction* find_range_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRangeFunctions, name, {}, &RangeFunction::name);
  return found != kRangeFunctions.end() && found->name == name ? &*found : nullptr;
}

}  // namespace gpusight::promql
