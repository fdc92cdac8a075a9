// The notation in which test scripts and rule tests write series:
//
//   metric{label="value"} 5 2+3x2 _ _x3 stale 1e3 NaN -Inf {{schema:1 sum:3 count:2}}
//
// "a+bxn" and "a-bxn" are n + 1 points rising or falling by b, "axn" n + 1 times a, "_" no point
// and
// "_xn" n of them, "stale" a stale marker. Source: the "series" section of Prometheus's unit
// testing documentation. Points of native histograms are recognised, not kept: such a series says
// so. Pure; any thread. Expansions are bounded by kMaxExpandedPoints a series.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"

namespace gpusight::promql {

inline constexpr size_t kMaxExpandedPoints = 1'000'000;

struct NotedSeries {
  model::Labels labels;
  // One for each interval from time 0; nullopt where there is no point (or a histogram).
  std::vector<std::optional<double>> points;
  bool has_histograms = false;
  std::vector<bool> is_histogram;  // for each point; empty without histograms
};
Result<NotedSeries> parse_series(std::string_view line);

}  // namespace gpusight::promql
