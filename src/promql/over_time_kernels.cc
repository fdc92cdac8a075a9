// What the samples of a window are together: their mean, sum, extremes, spread, quantiles.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "promql/compensated_sum.h"
#include "promql/quantile.h"
#include "promql/range_kernels.h"

namespace gpusight::promql {
namespace {

// Welford's running variance, with mean and squares compensated.
double variance(std::span<const double> values) {
  CompensatedSum mean;
  CompensatedSum squares;
  double count = 0;
  for (const double value : values) {
    count += 1;
    const double from_mean = value - (mean.value + mean.correction);
    mean.add(from_mean / count);
    squares.add(from_mean * (value - (mean.value + mean.correction)));
  }
  return (squares.value + squares.correction) / count;
}

// The first of the values that none is better than; NaN is the answer only where there is nothing
// else. No number is better than `worst`.
template <typename Better>
double extreme(std::span<const double> values, double worst, Better better) {
  // Eight of them are compared at once, where one after another would wait for the one before.
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> best;
  best.fill(worst);
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      best[lane] = better(values[i + lane], best[lane]) ? values[i + lane] : best[lane];
    }
  }
  for (; i < values.size(); ++i) best[0] = better(values[i], best[0]) ? values[i] : best[0];
  double found = worst;
  for (const double of_lane : best) found = better(of_lane, found) ? of_lane : found;
  if (found != 0 && found != worst) return found;
  // A zero has the sign of the first one; and all may be NaN.
  const auto at = std::ranges::find(values, found);
  return at == values.end() ? values.back() : *at;
}

}  // namespace

double avg_over_time(const Window& window, Args) { return compensated_mean(window.values); }

double count_over_time(const Window& window, Args) {
  return static_cast<double>(window.values.size());
}

double last_over_time(const Window& window, Args) { return window.values.back(); }

double max_over_time(const Window& window, Args) {
  return extreme(window.values, -std::numeric_limits<double>::infinity(), std::greater<double>());
}

double min_over_time(const Window& window, Args) {
  return extreme(window.values, std::numeric_limits<double>::infinity(), std::less<double>());
}

double present_over_time(const Window&, Args) { return 1; }

double quantile_over_time(const Window& window, Args args) {
  std::vector<double> values(window.values.begin(), window.values.end());
  return quantile(args[0], values);
}

double stdvar_over_time(const Window& window, Args) { return variance(window.values); }

double stddev_over_time(const Window& window, Args) { return std::sqrt(variance(window.values)); }

double sum_over_time(const Window& window, Args) { return compensated_sum(window.values); }

}  // namespace gpusight::promql
