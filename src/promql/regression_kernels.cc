// deriv and predict_linear: the line through the samples with the least squares.
#include <cmath>
#include <limits>

#include "promql/compensated_sum.h"
#include "promql/range_kernels.h"
#include "promql/row.h"

namespace gpusight::promql {
namespace {

struct Line {
  double slope = 0;  // per second
  double at_origin = 0;
};

bool all_equal(std::span<const double> values) {
  for (const double value : values) {
    if (value != values.front()) return false;
  }
  return true;
}

// Seconds are counted from `origin_ms`: near the samples, so that no digits are lost.
Line fit(const Window& window, int64_t origin_ms) {
  const double first = window.values.front();
  if (all_equal(window.values)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return std::isinf(first) ? Line{nan, nan} : Line{0, first};
  }
  CompensatedSum sum_x;
  CompensatedSum sum_y;
  CompensatedSum sum_xy;
  CompensatedSum sum_xx;
  for (size_t i = 0; i < window.values.size(); ++i) {
    const double x = static_cast<double>(window.times_ms[i] - origin_ms) / 1000;
    const double y = window.values[i];
    sum_x.add(x);
    sum_y.add(y);
    sum_xy.add(x * y);
    sum_xx.add(x * x);
  }
  const auto count = static_cast<double>(window.values.size());
  const double x = sum_x.value + sum_x.correction;
  const double y = sum_y.value + sum_y.correction;
  const double covariance = sum_xy.value + sum_xy.correction - x * y / count;
  const double variance = sum_xx.value + sum_xx.correction - x * x / count;
  const double slope = covariance / variance;
  return {.slope = slope, .at_origin = y / count - slope * x / count};
}

}  // namespace

double deriv(const Window& window, Args) {
  if (window.values.size() < 2) return no_value();
  return fit(window, window.times_ms.front()).slope;
}

double predict_linear(const Window& window, Args args) {
  if (window.values.size() < 2) return no_value();
  const Line line = fit(window, window.eval_ms);
  return line.slope * args[0] + line.at_origin;
}

}  // namespace gpusight::promql
