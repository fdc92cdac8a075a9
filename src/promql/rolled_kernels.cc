// Range functions over rolled-up rows, and what "exact" means there.
//
// A window holds the rows whose time t lies in (start, end]; a row stands for the samples in
// (t - resolution, t]. Where both edges of the window lie on the grid of rows these are the very
// samples that a raw window would hold. Where they do not, the window is, in effect, moved to the
// grid by less than one row: the first row's samples from before the edge are in, those after the
// last row are not.
//
//  - sum, count, avg, min, max, last: exactly those of the rows' samples.
//  - delta: exactly the last row's last less the first row's first, extrapolated as below.
//  - increase, rate: resets between and inside rows are in Rollup.increase, which counts from the
//    last sample of the row before. Of the first row only what happened inside of it belongs to the
//    window, and that is known from its first, last, min and max: exact unless the counter was
//    reset twice in that one row, or was reset and passed its old value again before the row ended.
//
// Extrapolation is that of raw samples (extrapolation.h), and the results agree with those of
// evenly spaced raw samples. It needs the times of the first and the last sample, which rows do not
// keep: samples are taken to fill their row evenly. Only where the neighbouring row would be in the
// window and is not there did the series begin (or end) inside the outermost row; then its samples
// lie at that row's end (or beginning), spaced as in the fullest row. An edge less than a row
// beyond the last one is reached all the way, since the samples up to it are in a row that is not
// in the window; where the first row began before the window, its share outside is taken off at the
// average slope.
#include <algorithm>
#include <cmath>

#include "promql/compensated_sum.h"
#include "promql/extrapolation.h"
#include "promql/range_kernels.h"
#include "promql/row.h"

namespace gpusight::promql {
namespace {

using model::Rollup;

double total_count(const RolledWindow& window) {
  uint64_t count = 0;
  for (const Rollup& row : window.rows) count += row.count;
  return static_cast<double>(count);
}

// What the counter gained between the row's own first and last sample.
double gain_inside(const Rollup& row) {
  const bool fell = row.first > row.min || row.last < row.max;
  if (!fell) return row.last - row.first;
  return std::min(row.increase, row.max - row.first + row.last);
}

double counter_change(const RolledWindow& window) {
  CompensatedSum change;
  change.add(gain_inside(window.rows.front()));
  for (const Rollup& row : window.rows.subspan(1)) change.add(row.increase);
  return change.result();
}

double gauge_change(const RolledWindow& window) {
  return window.rows.back().last - window.rows.front().first;
}

// Milliseconds between samples in the fullest row.
double sample_spacing_ms(const RolledWindow& window) {
  uint64_t most = 1;
  for (const Rollup& row : window.rows) most = std::max(most, row.count);
  return static_cast<double>(window.resolution_ms) / static_cast<double>(most);
}

SampledSpan sampled_span(const RolledWindow& window, double count) {
  const auto resolution = static_cast<double>(window.resolution_ms);
  const double spacing = sample_spacing_ms(window);
  const auto begin = static_cast<double>(window.times_ms.front() - window.resolution_ms);
  const auto end = static_cast<double>(window.times_ms.back());
  const auto first_count = static_cast<double>(window.rows.front().count);
  const auto last_count = static_cast<double>(window.rows.back().count);
  const double from_start = begin - static_cast<double>(window.start_ms);
  const double until_end = static_cast<double>(window.end_ms) - end;
  // Only a single row can have begun and ended in the window's inside; it is taken for a full one.
  const bool is_single = window.rows.size() == 1;
  const bool began_inside = from_start > 0 && !is_single;
  const bool ended_inside = until_end >= resolution && !is_single;

  const double first_ms = began_inside ? begin + resolution - (first_count - 1) * spacing
                                       : begin + resolution / first_count;
  const double last_ms = ended_inside ? end - resolution + last_count * spacing : end;
  SampledSpan span{.sampled = (last_ms - first_ms) / 1000,
                   .to_start = (first_ms - static_cast<double>(window.start_ms)) / 1000,
                   .to_end = (static_cast<double>(window.end_ms) - last_ms) / 1000};
  const double average_spacing = span.sampled / (count - 1);
  if (from_start > 0) span.to_start = reach(span.to_start, average_spacing);
  if (until_end >= resolution) span.to_end = reach(span.to_end, average_spacing);
  return span;
}

// `per_seconds` is 1 for a change, the window's width for a rate.
double extrapolated_change(const RolledWindow& window, ChangeKind kind, double per_seconds) {
  const double count = total_count(window);
  if (count < 2) return no_value();
  const double change =
      kind == ChangeKind::kCounter ? counter_change(window) : gauge_change(window);
  SampledSpan span = sampled_span(window, count);
  if (kind == ChangeKind::kCounter) {
    span.to_start = stop_at_zero(span.to_start, span.sampled, window.rows.front().first, change);
  }
  return change * (extrapolation_factor(span) / per_seconds);
}

}  // namespace

double rolled_rate(const RolledWindow& window) {
  return extrapolated_change(window, ChangeKind::kCounter,
                             static_cast<double>(window.end_ms - window.start_ms) / 1000);
}

double rolled_increase(const RolledWindow& window) {
  return extrapolated_change(window, ChangeKind::kCounter, 1);
}

double rolled_delta(const RolledWindow& window) {
  return extrapolated_change(window, ChangeKind::kGauge, 1);
}

double rolled_sum(const RolledWindow& window) {
  CompensatedSum sum;
  for (const Rollup& row : window.rows) sum.add(row.sum);
  return sum.result();
}

double rolled_avg(const RolledWindow& window) {
  const double count = total_count(window);
  const double sum = rolled_sum(window);
  if (!std::isinf(sum)) return sum / count;
  // The sum of all may overflow where that of each row did not.
  CompensatedSum mean;
  for (const Rollup& row : window.rows) mean.add(row.sum / count);
  return mean.result();
}

double rolled_count(const RolledWindow& window) { return total_count(window); }

double rolled_last(const RolledWindow& window) { return window.rows.back().last; }

double rolled_max(const RolledWindow& window) {
  double found = window.rows.front().max;
  for (const Rollup& row : window.rows) {
    if (row.max > found || std::isnan(found)) found = row.max;
  }
  return found;
}

double rolled_min(const RolledWindow& window) {
  double found = window.rows.front().min;
  for (const Rollup& row : window.rows) {
    if (row.min < found || std::isnan(found)) found = row.min;
  }
  return found;
}

}  // namespace gpusight::promql
