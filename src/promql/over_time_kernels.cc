// What the samples of a window are together: their mean, sum, extremes, spread, quantiles.
#include <algorithm>
#include <cmath>
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

}  // namespace

double avg_over_time(const Window& window, Args) { return compensated_mean(window.values); }

double count_over_time(const Window& window, Args) {
  return static_cast<double>(window.values.size());
}

double last_over_time(const Window& window, Args) { return window.values.back(); }

// NaN is the answer only where there is nothing else.
double max_over_time(const Window& window, Args) {
  double found = window.values.front();
  for (const double value : window.values) {
    if (value > found || std::isnan(found)) found = value;
  }
  return found;
}

double min_over_time(const Window& window, Args) {
  double found = window.values.front();
  for (const double value : window.values) {
    if (value < found || std::isnan(found)) found = value;
  }
  return found;
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
