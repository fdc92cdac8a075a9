// rate and increase, delta and their instant kin; how often a value changed or a counter was reset.
#include <cmath>

#include "promql/extrapolation.h"
#include "promql/range_kernels.h"
#include "promql/row.h"

namespace gpusight::promql {
namespace {

// Last minus first; of a counter, what it had before each reset is added.
double change_between(std::span<const double> values, ChangeKind kind) {
  double change = values.back() - values.front();
  if (kind == ChangeKind::kGauge) return change;
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] < values[i - 1]) change += values[i - 1];
  }
  return change;
}

double window_seconds(const Window& window) {
  return static_cast<double>(window.end_ms - window.start_ms) / 1000;
}

// `per_seconds` is 1 for a change, the window's width for a rate.
double extrapolated_change(const Window& window, ChangeKind kind, double per_seconds) {
  const size_t count = window.values.size();
  if (count < 2) return no_value();
  const int64_t first_ms = window.times_ms.front();
  const int64_t last_ms = window.times_ms.back();
  const double change = change_between(window.values, kind);

  SampledSpan span{.sampled = static_cast<double>(last_ms - first_ms) / 1000,
                   .to_start = static_cast<double>(first_ms - window.start_ms) / 1000,
                   .to_end = static_cast<double>(window.end_ms - last_ms) / 1000};
  const double spacing = span.sampled / static_cast<double>(count - 1);
  span.to_start = reach(span.to_start, spacing);
  span.to_end = reach(span.to_end, spacing);
  if (kind == ChangeKind::kCounter) {
    span.to_start = stop_at_zero(span.to_start, span.sampled, window.values.front(), change);
  }
  return change * (extrapolation_factor(span) / per_seconds);
}

// Of the last two samples.
struct LastTwo {
  double before = 0;
  double last = 0;
  double seconds = 0;  // between them; 0: there are no two
};

LastTwo last_two(const Window& window) {
  const size_t count = window.values.size();
  if (count < 2) return {};
  return {.before = window.values[count - 2],
          .last = window.values[count - 1],
          .seconds =
              static_cast<double>(window.times_ms[count - 1] - window.times_ms[count - 2]) / 1000};
}

}  // namespace

double rate(const Window& window, Args) {
  return extrapolated_change(window, ChangeKind::kCounter, window_seconds(window));
}

double increase(const Window& window, Args) {
  return extrapolated_change(window, ChangeKind::kCounter, 1);
}

double delta(const Window& window, Args) {
  return extrapolated_change(window, ChangeKind::kGauge, 1);
}

double irate(const Window& window, Args) {
  const LastTwo two = last_two(window);
  if (two.seconds == 0) return no_value();
  const double change = two.last < two.before ? two.last : two.last - two.before;
  return change / two.seconds;
}

double idelta(const Window& window, Args) {
  const LastTwo two = last_two(window);
  return two.seconds == 0 ? no_value() : two.last - two.before;
}

double resets(const Window& window, Args) {
  size_t count = 0;
  for (size_t i = 1; i < window.values.size(); ++i) {
    count += window.values[i] < window.values[i - 1] ? 1 : 0;
  }
  return static_cast<double>(count);
}

double changes(const Window& window, Args) {
  size_t count = 0;
  for (size_t i = 1; i < window.values.size(); ++i) {
    const double before = window.values[i - 1];
    const double now = window.values[i];
    count += now != before && !(std::isnan(now) && std::isnan(before)) ? 1 : 0;
  }
  return static_cast<double>(count);
}

}  // namespace gpusight::promql
