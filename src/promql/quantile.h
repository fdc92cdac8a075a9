// The quantile of plain numbers, for quantile_over_time() and the quantile aggregation.
//
// Between two numbers it is interpolated linearly. NaN counts as smaller than any other number. A
// quantile below 0 is -Inf, one above 1 +Inf, NaN is NaN, and so is the quantile of nothing. (Next
// to an infinite number the interpolation can be NaN, as it is in Prometheus.) Pure.
#pragma once

#include <span>

namespace gpusight::promql {

// Reorders `numbers`.
double quantile(double q, std::span<double> numbers);

}  // namespace gpusight::promql
