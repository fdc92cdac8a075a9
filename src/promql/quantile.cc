#include "promql/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpusight::promql {
namespace {

bool nan_first(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; }

}  // namespace

double quantile(double q, std::span<double> numbers) {
  if (numbers.empty() || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
  if (q < 0) return -std::numeric_limits<double>::infinity();
  if (q > 1) return std::numeric_limits<double>::infinity();

  const double rank = q * static_cast<double>(numbers.size() - 1);
  const double weight = rank - std::floor(rank);
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(std::floor(rank));
  std::nth_element(numbers.begin(), at, numbers.end(), nan_first);
  const double lower = *at;
  const auto next = std::min_element(at + 1, numbers.end(), nan_first);
  const double upper = next == numbers.end() ? lower : *next;
  return lower * (1 - weight) + upper * weight;
}

}  // namespace gpusight::promql
