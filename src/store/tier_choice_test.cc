// Which tier answers what.
#include "store/tier_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpusight::store {
namespace {

constexpr int64_t kNoonMs = 491'000 * kHourMs;

// Everything reaches back a week before noon.
Reach everything() { return {kNoonMs - 7 * kDayMs, kNoonMs - 7 * kDayMs, kNoonMs - 7 * kDayMs}; }

// A query whose last window ends at noon.
model::SelectHints over_time(std::string_view function, int64_t range_ms, int64_t step_ms,
                             int64_t steps) {
  return {.start_ms = kNoonMs - (steps - 1) * step_ms - range_ms,
          .end_ms = kNoonMs,
          .step_ms = step_ms,
          .range_ms = range_ms,
          .function = function};
}

TEST(TierChoice, TheCoarsestTierOfWholeWindowsAnswersInPlaceOfRaw) {
  for (const std::string_view function : {"min_over_time", "max_over_time", "sum_over_time",
                                          "count_over_time", "avg_over_time", "last_over_time"}) {
    const auto tier = [&](int64_t range_ms, int64_t step_ms, int64_t steps) {
      return choose_tier(everything(), over_time(function, range_ms, step_ms, steps)).tier;
    };
    EXPECT_EQ(tier(kMinuteMs, kMinuteMs, 1440), Tier::kMinute) << function;
    EXPECT_EQ(tier(5 * kMinuteMs, kMinuteMs, 1440), Tier::kMinute) << function;
    EXPECT_EQ(tier(kHourMs, kHourMs, 100), Tier::kHour) << function;
    EXPECT_EQ(tier(kDayMs, kHourMs, 100), Tier::kHour) << function;
    EXPECT_EQ(tier(kDayMs, kMinuteMs, 100), Tier::kMinute) << function;
    EXPECT_EQ(tier(90'000, kMinuteMs, 100), Tier::kRaw) << function;
    EXPECT_EQ(tier(kMinuteMs, 90'000, 100), Tier::kRaw) << function;
    EXPECT_EQ(tier(30'000, 30'000, 100), Tier::kRaw) << function;
  }
}

TEST(TierChoice, TheStepOfASingleWindowDoesNotMatter) {
  EXPECT_EQ(choose_tier(everything(), over_time("max_over_time", kHourMs, 1234, 1)).tier,
            Tier::kHour);
}

TEST(TierChoice, WindowsThatCutRowsAreAnsweredFromRaw) {
  for (const int64_t off_ms : {int64_t{1}, int64_t{1000}, kMinuteMs - 1}) {
    model::SelectHints hints = over_time("max_over_time", kHourMs, kHourMs, 24);
    hints.start_ms -= off_ms;
    hints.end_ms -= off_ms;
    EXPECT_EQ(choose_tier(everything(), hints).tier, Tier::kRaw) << off_ms;
  }
  model::SelectHints hints = over_time("max_over_time", kHourMs, kHourMs, 24);
  hints.start_ms -= kMinuteMs;
  hints.end_ms -= kMinuteMs;
  EXPECT_EQ(choose_tier(everything(), hints).tier, Tier::kMinute);
}

TEST(TierChoice, WhatSamplesAnswerOtherwiseIsAnsweredFromRaw) {
  for (const std::string_view function :
       {"rate", "increase", "delta", "irate", "stddev_over_time", "present_over_time", ""}) {
    EXPECT_EQ(choose_tier(everything(), over_time(function, kHourMs, kHourMs, 24)).tier, Tier::kRaw)
        << function;
  }
}

// An instant selector that looks back five minutes and whose last step is at noon.
model::SelectHints at_instants(std::string_view function, int64_t step_ms, int64_t steps) {
  const int64_t lookback_ms = 5 * kMinuteMs;
  return {.start_ms = kNoonMs - (steps - 1) * step_ms - lookback_ms,
          .end_ms = kNoonMs,
          .step_ms = step_ms,
          .lookback_ms = lookback_ms,
          .function = function};
}

TEST(TierChoice, InstantsOnWholeMinutesAreAnsweredFromMinutes) {
  const auto tier = [](model::SelectHints hints, int64_t off_ms = 0) {
    hints.start_ms -= off_ms;
    hints.end_ms -= off_ms;
    return choose_tier(everything(), hints).tier;
  };
  EXPECT_EQ(tier(at_instants("", 2 * kMinuteMs, 100)), Tier::kMinute);
  EXPECT_EQ(tier(at_instants("sum", 17 * kMinuteMs, 100)), Tier::kMinute);
  EXPECT_EQ(tier(at_instants("", kDayMs, 7)), Tier::kMinute);  // hours would look back too far
  EXPECT_EQ(tier(at_instants("", kMinuteMs, 100)), Tier::kRaw);
  EXPECT_EQ(tier(at_instants("", 150'000, 100)), Tier::kRaw);
  EXPECT_EQ(tier(at_instants("", 2 * kMinuteMs, 100), 1000), Tier::kRaw);
  EXPECT_EQ(tier(at_instants("timestamp", 2 * kMinuteMs, 100)), Tier::kRaw);
  EXPECT_EQ(tier(at_instants("", 0, 1)), Tier::kRaw);
  // Less than two rows would not be looked back over.
  model::SelectHints brief = at_instants("", 2 * kMinuteMs, 100);
  brief.start_ms += 4 * kMinuteMs;
  brief.lookback_ms = kMinuteMs;
  EXPECT_EQ(tier(brief), Tier::kRaw);
}

TEST(TierChoice, InsideOfASingleWindowHoursStandForMinutes) {
  model::SelectHints hints = over_time("max_over_time", kDayMs, 0, 1);
  hints.start_ms -= kMinuteMs;
  hints.end_ms -= kMinuteMs;
  const TierChoice choice = choose_tier(everything(), hints);
  EXPECT_EQ(choice.tier, Tier::kMinute);
  EXPECT_EQ(choice.inside, Tier::kHour);
  EXPECT_EQ(choice.inside_from_ms, kNoonMs - 7 * kDayMs - kHourMs);
  for (const std::string_view function : {"rate", "delta", "last"}) {
    hints.function = function;
    EXPECT_EQ(choose_tier(everything(), hints).inside, std::nullopt) << function;
  }
  // With steps a row could reach over the edge of a window.
  model::SelectHints steps = over_time("max_over_time", kDayMs, kMinuteMs, 10);
  EXPECT_EQ(choose_tier(everything(), steps).tier, Tier::kMinute);
  EXPECT_EQ(choose_tier(everything(), steps).inside, std::nullopt);
}

TEST(TierChoice, ACoarseTierThatDoesNotReachBackIsNotTaken) {
  Reach reach = everything();
  reach[static_cast<size_t>(Tier::kHour)] = kNoonMs - kHourMs;
  const auto hints = over_time("max_over_time", kHourMs, kHourMs, 24);
  EXPECT_EQ(choose_tier(reach, hints).tier, Tier::kMinute);
  reach[static_cast<size_t>(Tier::kMinute)] = kNoonMs - kHourMs;
  EXPECT_EQ(choose_tier(reach, hints).tier, Tier::kRaw);
}

TEST(TierChoice, WhereRawDoesNotReachBackTheFinestThatIsFineEnoughAnswers) {
  Reach reach = everything();
  reach[0] = kNoonMs - kHourMs;
  const auto tier = [&](int64_t range_ms, int64_t step_ms) {
    return choose_tier(reach, over_time("rate", range_ms, step_ms, 48)).tier;
  };
  EXPECT_EQ(tier(2 * kMinuteMs, kHourMs), Tier::kMinute);
  EXPECT_EQ(tier(kDayMs, kHourMs), Tier::kMinute);
  reach[static_cast<size_t>(Tier::kMinute)] = kNoonMs - kHourMs;
  EXPECT_EQ(tier(2 * kHourMs, kHourMs), Tier::kHour);
  EXPECT_EQ(tier(kMinuteMs, kHourMs), Tier::kHour);  // too coarse, but there is nothing finer
}

TEST(TierChoice, NothingRecordedIsRaw) {
  EXPECT_EQ(choose_tier({}, over_time("max_over_time", kHourMs, kHourMs, 24)).tier, Tier::kRaw);
}

TEST(TierChoice, OnlyThePartsThatAFunctionLooksAtAreRead) {
  const auto parts = [](std::string_view function, int64_t range_ms) {
    const auto of = choose_tier(everything(), over_time(function, range_ms, kHourMs, 2)).parts;
    return std::vector<RollupPart>(of.begin(), of.end());
  };
  using Parts = std::vector<RollupPart>;
  EXPECT_EQ(parts("max_over_time", kHourMs), Parts{RollupPart::kMax});
  EXPECT_EQ(parts("avg_over_time", kHourMs), (Parts{RollupPart::kSum, RollupPart::kCount}));
  EXPECT_EQ(parts("last_over_time", kHourMs), Parts{RollupPart::kLast});
  EXPECT_EQ(parts("", 0), Parts{RollupPart::kLast});
  EXPECT_EQ(parts("rate", kHourMs).size(), kRollupParts);
  EXPECT_EQ(parts("", kHourMs).size(), kRollupParts);
}

}  // namespace
}  // namespace gpusight::store
