// Rolled-up rows against the raw samples they were made of.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "promql/range_functions.h"
#include "promql/row.h"
#include "promql/test_window.h"

namespace gpusight::promql {
namespace {

using Samples = std::vector<std::pair<double, double>>;
constexpr int64_t kResolutionMs = 60'000;

struct Rows {
  std::vector<int64_t> times_ms;
  std::vector<model::Rollup> rows;

  // The rows whose time lies in (start, end].
  RolledWindow window(double start_s, double end_s) const {
    const auto start_ms = static_cast<int64_t>(start_s * 1000);
    const auto end_ms = static_cast<int64_t>(end_s * 1000);
    const auto from = std::ranges::upper_bound(times_ms, start_ms) - times_ms.begin();
    const auto to = std::ranges::upper_bound(times_ms, end_ms) - times_ms.begin();
    const auto count = static_cast<size_t>(to - from);
    return {.times_ms = std::span(times_ms).subspan(static_cast<size_t>(from), count),
            .rows = std::span(rows).subspan(static_cast<size_t>(from), count),
            .resolution_ms = kResolutionMs,
            .start_ms = start_ms,
            .end_ms = end_ms};
  }
};

Rows roll_up(const Samples& samples) {
  Rows rolled;
  double before = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [time_s, value] : samples) {
    const auto time_ms = static_cast<int64_t>(time_s * 1000);
    const int64_t row_ms = (time_ms + kResolutionMs - 1) / kResolutionMs * kResolutionMs;
    if (rolled.times_ms.empty() || rolled.times_ms.back() != row_ms) {
      rolled.times_ms.push_back(row_ms);
      rolled.rows.push_back({.min = value, .max = value, .first = value});
    }
    model::Rollup& row = rolled.rows.back();
    row.min = std::min(row.min, value);
    row.max = std::max(row.max, value);
    row.sum += value;
    row.last = value;
    row.count += 1;
    if (!std::isnan(before)) row.increase += value < before ? value : value - before;
    before = value;
  }
  return rolled;
}

double call_rolled(std::string_view function, const RolledWindow& window) {
  return find_range_function(function)->rolled(window);
}

// Every `spacing` seconds over (from, to], a tick late by `phase`: a counter that is reset now and
// then, but in no row twice.
Samples counter(std::mt19937_64& random, double from, double to, double spacing, double phase = 0) {
  Samples samples;
  double value = 5000;
  int64_t reset_row = -10;
  for (double t = from + spacing - phase; t <= to; t += spacing) {
    const auto row = static_cast<int64_t>(std::ceil(t / 60));
    const bool may_reset = row > reset_row + 3 && random() % 50 == 0;
    if (may_reset) {
      reset_row = row;
      value = 500 + static_cast<double>(random() % 3);
    } else {
      value += static_cast<double>(random() % 3);
    }
    samples.emplace_back(t, value);
  }
  return samples;
}

class Rolled : public ::testing::Test {
 protected:
  void expect_like_raw(const Samples& samples, double start, double end, double tolerance) {
    const Rows rows = roll_up(samples);
    const TestWindow raw(start, end, samples);
    const RolledWindow rolled = rows.window(start, end);
    for (const auto* name : {"avg_over_time", "sum_over_time", "count_over_time", "min_over_time",
                             "max_over_time", "last_over_time", "rate", "increase", "delta"}) {
      const double expected = call(name, raw);
      EXPECT_NEAR(call_rolled(name, rolled), expected, tolerance * (1 + std::abs(expected)))
          << name << " over (" << start << ", " << end << "]";
    }
  }
  std::mt19937_64 random_{3};
};

TEST_F(Rolled, WindowsOnTheGridAreAsRawOnes) {
  for (const double spacing : {1.0, 5.0, 15.0, 60.0}) {
    for (int round = 0; round < 20; ++round) {
      const Samples samples = counter(random_, 0, 3600, spacing);
      for (const double range : {120.0, 300.0, 1800.0}) {
        expect_like_raw(samples, 3600 - range, 3600, 1e-9);
        expect_like_raw(samples, 2400 - range, 2400, 1e-9);
      }
    }
  }
}

TEST_F(Rolled, SoAreThoseOfSamplesThatComeAllABitLate) {
  const Samples samples = counter(random_, 0, 3600, 10, 4);
  expect_like_raw(samples, 1200, 2400, 1e-9);
}

TEST_F(Rolled, ASeriesThatBeginsOrEndsInsideIsExtrapolatedAsRawOnesAre) {
  Samples samples;
  for (double t = 905; t <= 2700; t += 5) samples.emplace_back(t, 1e6 + 3 * t);
  expect_like_raw(samples, 0, 1800, 1e-9);     // begins
  expect_like_raw(samples, 1800, 3600, 1e-9);  // ends
  expect_like_raw(samples, 0, 3600, 1e-9);     // both
}

TEST_F(Rolled, BeginsInTheMiddleOfARow) {
  Samples samples;
  for (double t = 935; t <= 1800; t += 5) samples.emplace_back(t, 1e6 + 3 * t);
  expect_like_raw(samples, 0, 1800, 1e-9);
}

TEST_F(Rolled, EndsInTheMiddleOfARow) {
  Samples samples;
  for (double t = 5; t <= 1240; t += 5) samples.emplace_back(t, 1e6 + 3 * t);
  expect_like_raw(samples, 600, 1800, 1e-9);
}

TEST_F(Rolled, ASteadyCounterHasItsRateWhereverTheWindowLies) {
  Samples samples;
  for (double t = 1; t <= 3600; t += 1) samples.emplace_back(t, 1e6 + 3 * t);
  const Rows rows = roll_up(samples);
  for (double end = 1800; end < 1860; end += 7) {
    EXPECT_NEAR(call_rolled("rate", rows.window(end - 150, end)), 3, 1e-9) << end;
    EXPECT_NEAR(call_rolled("increase", rows.window(end - 600, end)), 1800, 1e-6) << end;
    EXPECT_NEAR(call_rolled("delta", rows.window(end - 600, end)), 1800, 1e-6) << end;
  }
}

TEST_F(Rolled, AGapInsideCountsWhatTheCounterGainedInIt) {
  Samples samples;
  for (double t = 5; t <= 1800; t += 5) {
    if (t <= 600 || t > 1200) samples.emplace_back(t, 1e6 + 2 * t);
  }
  expect_like_raw(samples, 0, 1800, 1e-9);
}

// What was gained before the window does not belong to it, however long ago the row before was.
TEST_F(Rolled, AGapBeforeTheWindowIsNotCounted) {
  Samples samples;
  for (double t = 5; t <= 1800; t += 5) {
    if (t <= 300 || t > 1200) samples.emplace_back(t, 1e6 + 2 * t);
  }
  expect_like_raw(samples, 900, 1800, 1e-9);
}

TEST_F(Rolled, ACounterIsNotExtrapolatedBelowZero) {
  Samples samples;
  for (double t = 605; t <= 1800; t += 5) samples.emplace_back(t, t - 605);
  expect_like_raw(samples, 0, 1800, 1e-9);
}

TEST_F(Rolled, OneSampleMakesNoRate) {
  const Rows rows = roll_up({{60, 1}});
  EXPECT_FALSE(has_value(call_rolled("rate", rows.window(0, 60))));
  EXPECT_FALSE(has_value(call_rolled("delta", rows.window(0, 60))));
  EXPECT_EQ(call_rolled("count_over_time", rows.window(0, 60)), 1);
}

TEST_F(Rolled, OneFullRowMakesARate) {
  Samples samples;
  for (double t = 1; t <= 60; t += 1) samples.emplace_back(t, 1000 + t);
  expect_like_raw(samples, 0, 60, 1e-9);
}

TEST_F(Rolled, TheMeanOfSumsThatOverflowTogether) {
  const double big = std::numeric_limits<double>::max() / 2;
  Rows rows;
  for (int64_t i = 1; i <= 4; ++i) {
    rows.times_ms.push_back(i * kResolutionMs);
    rows.rows.push_back(
        {.min = big, .max = big, .sum = big, .first = big, .last = big, .count = 1});
  }
  EXPECT_EQ(call_rolled("avg_over_time", rows.window(0, 240)), big);
}

TEST_F(Rolled, NanIsPassedOverByTheExtremes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Rows rows;
  rows.times_ms = {60'000, 120'000};
  rows.rows = {{.min = nan, .max = nan, .sum = nan, .first = nan, .last = nan, .count = 1},
               {.min = 2, .max = 3, .sum = 5, .first = 2, .last = 3, .count = 2}};
  EXPECT_EQ(call_rolled("max_over_time", rows.window(0, 120)), 3);
  EXPECT_EQ(call_rolled("min_over_time", rows.window(0, 120)), 2);
  EXPECT_TRUE(std::isnan(call_rolled("sum_over_time", rows.window(0, 120))));
}

}  // namespace
}  // namespace gpusight::promql
