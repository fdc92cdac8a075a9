// How rate, increase and delta get from the change between the first and the last sample to that of
// the whole window.
//
// Samples seldom lie on the window's edges. Where the edge is no farther from the nearest sample
// than samples are from each other (and a tenth more), the series is taken to go on to the edge;
// where it is farther, the series began or ended inside the window, on average half a spacing away
// from that sample. A counter was never below zero, so it is not extrapolated to before its zero.
//
// Source: Prometheus 3's documentation of rate(), and its behaviour in the corner cases.
#pragma once

#include "promql/row.h"

namespace gpusight::promql {

enum class ChangeKind : uint8_t { kGauge, kCounter };

// Seconds all three; beyond the first and the last sample there is `to_start` and `to_end` of
// window.
struct SampledSpan {
  double sampled = 0;  // > 0
  double to_start = 0;
  double to_end = 0;
};

// How far the series is taken to reach beyond its outermost sample.
inline double reach(double to_edge, double average_spacing) {
  return to_edge >= average_spacing * 1.1 ? average_spacing / 2 : to_edge;
}

// The seconds before the first sample, but none in which the counter would have been below zero.
inline double stop_at_zero(double to_start, double sampled, double first, double change) {
  if (!(change > 0) || !(first >= 0)) return to_start;
  const double to_zero = sampled * (first / change);
  return to_zero < to_start ? to_zero : to_start;
}

// What to multiply the sampled change with.
inline double extrapolation_factor(const SampledSpan& span) {
  return (span.sampled + span.to_start + span.to_end) / span.sampled;
}

}  // namespace gpusight::promql
