// The kernels behind the table in range_functions.cc, one file of them for each kin. Pure; a window
// has at least one sample. What they mean is Prometheus 3's function documentation.
#pragma once

#include <span>

#include "promql/range_functions.h"

namespace gpusight::promql {

using Args = std::span<const double>;

// counter_kernels.cc
double rate(const Window& window, Args args);
double increase(const Window& window, Args args);
double delta(const Window& window, Args args);
double irate(const Window& window, Args args);
double idelta(const Window& window, Args args);
double resets(const Window& window, Args args);
double changes(const Window& window, Args args);

// over_time_kernels.cc
double avg_over_time(const Window& window, Args args);
double count_over_time(const Window& window, Args args);
double last_over_time(const Window& window, Args args);
double max_over_time(const Window& window, Args args);
double min_over_time(const Window& window, Args args);
double present_over_time(const Window& window, Args args);
double quantile_over_time(const Window& window, Args args);
double stddev_over_time(const Window& window, Args args);
double stdvar_over_time(const Window& window, Args args);
double sum_over_time(const Window& window, Args args);

// regression_kernels.cc
double deriv(const Window& window, Args args);
double predict_linear(const Window& window, Args args);

// rolled_kernels.cc
double rolled_rate(const RolledWindow& window);
double rolled_increase(const RolledWindow& window);
double rolled_delta(const RolledWindow& window);
double rolled_avg(const RolledWindow& window);
double rolled_count(const RolledWindow& window);
double rolled_last(const RolledWindow& window);
double rolled_max(const RolledWindow& window);
double rolled_min(const RolledWindow& window);
double rolled_sum(const RolledWindow& window);

}  // namespace gpusight::promql
