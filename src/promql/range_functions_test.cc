#include "promql/range_functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "promql/function.h"
#include "promql/row.h"
#include "promql/test_window.h"

namespace gpusight::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(RangeFunctions, EveryBuiltFunctionOfARangeIsThere) {
  for (const Function& function : functions()) {
    bool takes_range = false;
    for (const ValueType type : function.args) takes_range |= type == ValueType::kMatrix;
    const bool expected = takes_range && function.standing == Function::Standing::kBuilt &&
                          function.name != "absent_over_time";
    EXPECT_EQ(find_range_function(function.name) != nullptr, expected) << function.name;
  }
  EXPECT_EQ(find_range_function("no_such_function"), nullptr);
}

TEST(RangeFunctions, OnlySomeCanBeHadFromRolledUpRows) {
  for (const auto* name : {"avg_over_time", "sum_over_time", "count_over_time", "min_over_time",
                           "max_over_time", "last_over_time", "rate", "increase", "delta"}) {
    EXPECT_NE(find_range_function(name)->rolled, nullptr) << name;
  }
  for (const auto* name :
       {"irate", "idelta", "deriv", "predict_linear", "changes", "resets", "stddev_over_time",
        "stdvar_over_time", "quantile_over_time", "present_over_time"}) {
    EXPECT_EQ(find_range_function(name)->rolled, nullptr) << name;
  }
}

// Counters: samples at 10, 20, … 60 s in (0, 60]. Spacing 10 s, so both edges are reached: at the
// start 10 s are missing, at the end none. 50 s are seen, 60 s wanted: factor 1.2.
TEST(Rate, ReachesTheEdgesOfAWindowThatSamplesFill) {
  const TestWindow window(0, 60,
                          {{10, 100}, {20, 110}, {30, 120}, {40, 130}, {50, 140}, {60, 150}});
  EXPECT_DOUBLE_EQ(call("increase", window), 60);
  EXPECT_DOUBLE_EQ(call("rate", window), 1);
  EXPECT_DOUBLE_EQ(call("delta", window), 60);
}

TEST(Rate, ASampleOnTheLeftEdgeIsNotInTheWindow) {
  const TestWindow window(10, 30, {{10, 1000}, {20, 5}, {30, 10}});
  EXPECT_EQ(window.get().values.size(), 2U);
  // 10 s are seen, 20 s wanted; counted from zero at 10 s before the first sample.
  EXPECT_DOUBLE_EQ(call("increase", window), 10);
}

// The series begins at 40 s: 40 s before it is more than 1.1 spacings, so half a spacing is taken.
TEST(Rate, ASeriesThatBeganInsideIsExtrapolatedByHalfASpacing) {
  const TestWindow window(0, 60, {{40, 100}, {50, 110}, {60, 120}});
  EXPECT_DOUBLE_EQ(call("increase", window), 20 * (20 + 5) / 20.0);
}

TEST(Rate, ASeriesThatEndedInsideIsExtrapolatedByHalfASpacing) {
  const TestWindow window(0, 60, {{10, 100}, {20, 110}, {30, 120}});
  EXPECT_DOUBLE_EQ(call("increase", window), 20 * (20 + 10 + 5) / 20.0);
}

// From 2 to 22 in 20 s: zero was 2 s before the first sample, nearer than the 5 s taken otherwise.
TEST(Rate, ACounterIsNotExtrapolatedBelowZero) {
  const TestWindow window(0, 60, {{40, 2}, {50, 12}, {60, 22}});
  EXPECT_DOUBLE_EQ(call("increase", window), 20 * (20 + 2) / 20.0);
  EXPECT_DOUBLE_EQ(call("rate", window), 22 / 60.0);
  // delta knows no counters.
  EXPECT_DOUBLE_EQ(call("delta", window), 25);
}

TEST(Rate, ACounterThatStartsAtZeroIsNotExtrapolatedToBeforeIt) {
  const TestWindow window(0, 60, {{10, 0}, {20, 10}, {30, 20}, {40, 30}, {50, 40}, {60, 50}});
  EXPECT_DOUBLE_EQ(call("increase", window), 50);
}

TEST(Rate, NegativeCountersAreExtrapolatedAsTheyAre) {
  const TestWindow window(0, 30, {{10, -30}, {20, -20}, {30, -10}});
  EXPECT_DOUBLE_EQ(call("increase", window), 30);
}

TEST(Rate, AddsWhatTheCounterHadBeforeAReset) {
  // 100 → 130, reset to 5, → 25: 30 + 25 gained in 40 s; all of it seen but 10 s at the start.
  const TestWindow window(0, 50, {{10, 100}, {20, 130}, {30, 5}, {40, 15}, {50, 25}});
  EXPECT_DOUBLE_EQ(call("increase", window), 55 * 50 / 40.0);
  EXPECT_DOUBLE_EQ(call("delta", window), -75 * 50 / 40.0);
}

TEST(Rate, NeedsTwoSamples) {
  const TestWindow one(0, 60, {{30, 1}});
  for (const auto* name : {"rate", "increase", "delta", "irate", "idelta", "deriv"}) {
    EXPECT_FALSE(has_value(call(name, one))) << name;
  }
  EXPECT_FALSE(has_value(call("predict_linear", one, {60})));
}

TEST(Rate, NanAndInfinityPassThrough) {
  EXPECT_TRUE(std::isnan(call("rate", TestWindow{1, 2, kNan})));
  EXPECT_TRUE(has_value(call("rate", TestWindow{1, 2, kNan})));
  EXPECT_EQ(call("increase", TestWindow{1, 2, kInf}), kInf);
}

TEST(Irate, LooksAtTheLastTwoSamples) {
  const TestWindow window(0, 60, {{10, 0}, {40, 100}, {55, 130}});
  EXPECT_DOUBLE_EQ(call("irate", window), 2);
  EXPECT_DOUBLE_EQ(call("idelta", window), 30);
}

TEST(Irate, AfterAResetTheCounterBeganAtZero) {
  const TestWindow window(0, 60, {{40, 100}, {50, 30}});
  EXPECT_DOUBLE_EQ(call("irate", window), 3);
  EXPECT_DOUBLE_EQ(call("idelta", window), -70);
}

TEST(Changes, CountsValuesUnlikeTheOneBefore) {
  EXPECT_EQ(call("changes", TestWindow{1, 1, 2, 2, 1, 1}), 2);
  EXPECT_EQ(call("changes", TestWindow{5}), 0);
  EXPECT_EQ(call("changes", TestWindow{kNan, kNan, 1, kNan}), 2);
}

TEST(Resets, CountsFalls) {
  EXPECT_EQ(call("resets", TestWindow{1, 2, 1, 1, 0, 5}), 2);
  EXPECT_EQ(call("resets", TestWindow{5}), 0);
  EXPECT_EQ(call("resets", TestWindow{5, kNan, 1}), 0);
}

TEST(Deriv, IsTheSlopeOfTheLineOfLeastSquares) {
  EXPECT_DOUBLE_EQ(call("deriv", TestWindow{1, 3, 5, 7}), 2);
  // Around the means 2 and 2: Σxy = (-1)(-1) + 0·1 + 1·0 = 1, Σxx = 2.
  EXPECT_DOUBLE_EQ(call("deriv", TestWindow{1, 3, 2}), 0.5);
}

TEST(Deriv, OfAConstantIsZeroWhateverItsSize) {
  EXPECT_EQ(call("deriv", TestWindow{1e300, 1e300, 1e300}), 0);
  EXPECT_EQ(call("predict_linear", TestWindow{1e300, 1e300}, {3600}), 1e300);
  EXPECT_TRUE(std::isnan(call("deriv", TestWindow{kInf, kInf})));
}

TEST(Deriv, LosesNoDigitsAtTimesOfToday) {
  std::vector<std::pair<double, double>> samples;
  for (int i = 1; i <= 60; ++i) samples.emplace_back(1'780'000'000.0 + i, 7 + 0.25 * i);
  const TestWindow window(1'780'000'000, 1'780'000'060, samples);
  EXPECT_NEAR(call("deriv", window), 0.25, 1e-12);
}

TEST(PredictLinear, LooksAheadFromTheTimeOfEvaluation) {
  const TestWindow window(0, 40, {{10, 1}, {20, 2}, {30, 3}});
  EXPECT_NEAR(call("predict_linear", window, {0}), 4, 1e-12);  // at 40 s
  EXPECT_NEAR(call("predict_linear", window, {60}), 10, 1e-12);
  Window shifted = window.get();  // as with "offset 20s"
  shifted.eval_ms = 60'000;
  EXPECT_NEAR(call("predict_linear", shifted, {0}), 6, 1e-12);
}

TEST(OverTime, MeanSumAndCount) {
  const TestWindow window{1, 2, 6};
  EXPECT_EQ(call("avg_over_time", window), 3);
  EXPECT_EQ(call("sum_over_time", window), 9);
  EXPECT_EQ(call("count_over_time", window), 3);
  EXPECT_EQ(call("last_over_time", window), 6);
  EXPECT_EQ(call("present_over_time", window), 1);
}

TEST(OverTime, TheExtremesPassNanOver) {
  const TestWindow window{kNan, 4, -1, kNan};
  EXPECT_EQ(call("max_over_time", window), 4);
  EXPECT_EQ(call("min_over_time", window), -1);
  EXPECT_TRUE(std::isnan(call("max_over_time", TestWindow{kNan, kNan})));
  EXPECT_TRUE(std::isnan(call("min_over_time", TestWindow{kNan})));
  EXPECT_EQ(call("min_over_time", TestWindow{1, -kInf}), -kInf);
}

// As Prometheus goes: from the first, each that is greater (or lesser) or comes after NaN.
double one_by_one(std::span<const double> values, bool greatest) {
  double found = values.front();
  for (const double value : values) {
    if ((greatest ? value > found : value < found) || std::isnan(found)) found = value;
  }
  return found;
}

TEST(OverTime, TheExtremesOfAnyNumbersAreThoseFoundOneByOne) {
  constexpr double kOdd[] = {0.0, -0.0, kNan, kInf, -kInf, 1, -1, 3};
  std::mt19937_64 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<double> values(1 + random() % 40);
    const size_t kinds = 1 + random() % std::size(kOdd);
    for (double& value : values) value = kOdd[random() % kinds];
    const Window window{.values = values};
    for (const bool greatest : {false, true}) {
      const double want = one_by_one(values, greatest);
      const double got = call(greatest ? "max_over_time" : "min_over_time", window);
      ASSERT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(want)) << want << got;
    }
  }
}

// 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares of the distances 9+1+1+1+0+0+4+16 = 32, over 8 samples.
TEST(OverTime, SpreadIsThatOfTheWholeNotOfASample) {
  const TestWindow window{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(call("stdvar_over_time", window), 4);
  EXPECT_DOUBLE_EQ(call("stddev_over_time", window), 2);
  EXPECT_EQ(call("stddev_over_time", TestWindow{3}), 0);
  EXPECT_TRUE(std::isnan(call("stddev_over_time", TestWindow{1, kInf})));
}

TEST(OverTime, SpreadOfLargeNumbersThatDifferLittle) {
  const TestWindow window{1e9 + 1, 1e9 + 2, 1e9 + 3};
  EXPECT_NEAR(call("stdvar_over_time", window), 2.0 / 3, 1e-12);
}

TEST(QuantileOverTime, InterpolatesBetweenSamples) {
  const TestWindow window{3, 1, 2, 4};
  EXPECT_DOUBLE_EQ(call("quantile_over_time", window, {0.5}), 2.5);
  EXPECT_DOUBLE_EQ(call("quantile_over_time", window, {0.75}), 3.25);
  EXPECT_EQ(call("quantile_over_time", window, {0}), 1);
  EXPECT_EQ(call("quantile_over_time", window, {1}), 4);
  EXPECT_EQ(call("quantile_over_time", TestWindow{7}, {0.3}), 7);
}

TEST(QuantileOverTime, BeyondItsRangeIsInfinite) {
  const TestWindow window{1, 2};
  EXPECT_EQ(call("quantile_over_time", window, {-0.1}), -kInf);
  EXPECT_EQ(call("quantile_over_time", window, {1.1}), kInf);
  EXPECT_TRUE(std::isnan(call("quantile_over_time", window, {kNan})));
}

TEST(QuantileOverTime, NanIsTheSmallest) {
  const TestWindow window{2, kNan, 1};
  EXPECT_TRUE(std::isnan(call("quantile_over_time", window, {0})));
  EXPECT_EQ(call("quantile_over_time", window, {0.5}), 1);
  EXPECT_EQ(call("quantile_over_time", window, {1}), 2);
}

class RangeProperties : public ::testing::Test {
 protected:
  // A counter read at uneven times in (0, 600], with resets.
  std::vector<std::pair<double, double>> random_counter() {
    std::vector<std::pair<double, double>> samples;
    double value = static_cast<double>(random_() % 1000);
    for (double t = 1 + static_cast<double>(random_() % 30); t <= 600;
         t += 1 + static_cast<double>(random_() % 30)) {
      value = random_() % 12 == 0 ? static_cast<double>(random_() % 10)
                                  : value + static_cast<double>(random_() % 50);
      samples.emplace_back(t, value);
    }
    return samples;
  }
  std::mt19937_64 random_{7};
};

TEST_F(RangeProperties, IncreaseIsRateTimesRange) {
  for (int i = 0; i < 200; ++i) {
    const TestWindow window(0, 600, random_counter());
    EXPECT_NEAR(call("increase", window), call("rate", window) * 600, 1e-6);
  }
}

// Takes the resets out by hand: a counter that never falls must have the same rate, apart from
// where its zero is.
TEST_F(RangeProperties, AResetIsWorthWhatTheCounterHadBefore) {
  for (int i = 0; i < 200; ++i) {
    auto samples = random_counter();
    for (auto& [time, value] : samples) value += 1e6;  // zero is far from any window
    auto healed = samples;
    double lost = 0;
    for (size_t k = 1; k < samples.size(); ++k) {
      if (samples[k].second < samples[k - 1].second) lost += samples[k - 1].second;
      healed[k].second += lost;
    }
    EXPECT_NEAR(call("increase", TestWindow(0, 600, samples)),
                call("increase", TestWindow(0, 600, healed)), 1e-3);
    EXPECT_EQ(call("resets", TestWindow(0, 600, healed)), 0);
  }
}

// FAULT-032
TEST_F(RangeProperties, ARateOfACounterIsNeverNegative) {
  for (int i = 0; i < 200; ++i) {
    const TestWindow window(0, 600, random_counter());
    EXPECT_GE(call("rate", window), 0);
    EXPECT_GE(call("irate", window), 0);
  }
}

TEST_F(RangeProperties, QuantilesLieBetweenTheExtremesAndRise) {
  for (int i = 0; i < 200; ++i) {
    const TestWindow window(0, 600, random_counter());
    EXPECT_EQ(call("quantile_over_time", window, {0}), call("min_over_time", window));
    EXPECT_EQ(call("quantile_over_time", window, {1}), call("max_over_time", window));
    double before = -kInf;
    for (double q = 0; q <= 1; q += 0.125) {
      const double now = call("quantile_over_time", window, {q});
      EXPECT_GE(now, before);
      before = now;
    }
    EXPECT_GE(call("avg_over_time", window), call("min_over_time", window));
    EXPECT_LE(call("avg_over_time", window), call("max_over_time", window));
  }
}

TEST_F(RangeProperties, PartsOfAWindowAddUp) {
  for (int i = 0; i < 100; ++i) {
    const auto samples = random_counter();
    const TestWindow whole(0, 600, samples);
    const TestWindow left(0, 300, samples);
    const TestWindow right(300, 600, samples);
    EXPECT_EQ(call("count_over_time", whole),
              call("count_over_time", left) + call("count_over_time", right));
    EXPECT_DOUBLE_EQ(call("sum_over_time", whole),
                     call("sum_over_time", left) + call("sum_over_time", right));
  }
}

}  // namespace
}  // namespace gpusight::promql
