// Selectors: look-back, staleness, offset, @, and the samples of range selectors and subqueries.
#include "promql/engine_test_support.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kMinute = 60'000;

using SelectorTest = EngineTest;

TEST_F(SelectorTest, ASampleIsSeenUntilJustBeforeTheLookbackIsOver) {
  load(kMinute, {"m 7"});
  EXPECT_EQ(lines_of(instant("m", 0)), Lines{"m 7"});
  EXPECT_EQ(lines_of(instant("m", 5 * kMinute - 1)), Lines{"m 7"});
  EXPECT_EQ(lines_of(instant("m", 5 * kMinute)), Lines{});
  EXPECT_EQ(lines_of(instant("m", -1)), Lines{});
}

TEST_F(SelectorTest, AnotherLookbackIsHeeded) {
  load(kMinute, {"m 7"});
  options_.lookback = std::chrono::seconds(10);
  EXPECT_EQ(lines_of(instant("m", 9'999)), Lines{"m 7"});
  EXPECT_EQ(lines_of(instant("m", 10'000)), Lines{});
}

TEST_F(SelectorTest, AStaleMarkerEndsASeriesAtOnce) {
  load(kMinute, {"m 1 stale _ 4"});
  EXPECT_EQ(lines_of(range("m", {0, 4 * kMinute, kMinute})), Lines{"m 1@0 4@180 4@240"});
}

TEST_F(SelectorTest, NanIsASampleLikeAnother) {
  load(kMinute, {"m NaN"});
  EXPECT_EQ(lines_of(instant("m", kMinute)), Lines{"m NaN"});
}

TEST_F(SelectorTest, RangesAreOpenOnTheLeft) {
  load(kMinute, {"m 1 2 3 4"});
  EXPECT_EQ(lines_of(instant("m[2m]", 3 * kMinute)), Lines{"m 3@120 4@180"});
  EXPECT_EQ(lines_of(instant("count_over_time(m[2m])", 3 * kMinute)), Lines{"{} 2"});
}

TEST_F(SelectorTest, RangeSelectorsLeaveStaleMarkersOut) {
  load(kMinute, {"m 1 stale 3"});
  EXPECT_EQ(lines_of(instant("m[10m]", 2 * kMinute)), Lines{"m 1@0 3@120"});
  EXPECT_EQ(lines_of(instant("sum_over_time(m[10m])", 2 * kMinute)), Lines{"{} 4"});
}

TEST_F(SelectorTest, OffsetLooksBackAndAhead) {
  load(kMinute, {"m 0+1x10"});
  EXPECT_EQ(lines_of(instant("m offset 2m", 5 * kMinute)), Lines{"m 3"});
  EXPECT_EQ(lines_of(instant("m offset -2m", 5 * kMinute)), Lines{"m 7"});
  EXPECT_EQ(lines_of(instant("sum_over_time(m[2m] offset 1m)", 5 * kMinute)), Lines{"{} 7"});
}

TEST_F(SelectorTest, AtFixesTheTimeForAllSteps) {
  load(kMinute, {"m 0+1x10"});
  const QueryRange hour{kMinute, 3 * kMinute, kMinute};
  EXPECT_EQ(lines_of(range("m @ 120", hour)), Lines{"m 2@60 2@120 2@180"});
  EXPECT_EQ(lines_of(range("m @ 120 offset 1m", hour)), Lines{"m 1@60 1@120 1@180"});
  EXPECT_EQ(lines_of(range("m @ start()", hour)), Lines{"m 1@60 1@120 1@180"});
  EXPECT_EQ(lines_of(range("sum_over_time(m[2m] @ end())", hour)), Lines{"{} 5@60 5@120 5@180"});
}

TEST_F(SelectorTest, StartAndEndInASubqueryAreThoseOfTheQuery) {
  load(kMinute, {"m 0+1x20"});
  EXPECT_EQ(
      lines_of(range("max_over_time((m @ end())[3m:1m])", {5 * kMinute, 7 * kMinute, kMinute})),
      Lines{"{} 7@300 7@360 7@420"});
}

TEST_F(SelectorTest, PartsThatDoNotDependOnTheStepAreReadOnce) {
  load(kMinute, {"m 0+1x10"});
  const auto fixed = range("m @ 120 + 1", {0, 10 * kMinute, kMinute});
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(fixed.value().stats.samples_read, 3u);  // up to the time of "@" only
}

TEST_F(SelectorTest, ASubqueryStepsOnMultiplesOfItsStep) {
  load(10'000, {"m 0+1x20"});
  EXPECT_EQ(lines_of(instant("m[30s:10s]", 65'000)), Lines{"m 4@40 5@50 6@60"});
  EXPECT_EQ(lines_of(instant("m[30s:10s]", 60'000)), Lines{"m 4@40 5@50 6@60"});  // 30 s is out
  EXPECT_EQ(lines_of(instant("m[30s:7s]", 60'000)), Lines{"m 3@35 4@42 4@49 5@56"});
}

TEST_F(SelectorTest, ASubqueryWithoutAStepUsesTheDefault) {
  load(10'000, {"m 0+1x60"});
  EXPECT_EQ(lines_of(instant("m[3m:]", 185'000)), Lines{"m 6@60 12@120 18@180"});
  options_.default_subquery_step = std::chrono::seconds(90);
  EXPECT_EQ(lines_of(instant("m[3m:]", 185'000)), Lines{"m 9@90 18@180"});
}

TEST_F(SelectorTest, BeforeTheEpochASubqueryStepsOnMultiplesToo) {
  load(10'000, {"m 5 6"});
  EXPECT_EQ(lines_of(instant("time()", -15'500)), Lines{"-15.5"});
  EXPECT_EQ(lines_of(instant("vector(time())[30s:10s]", -5'000)),
            Lines{"{} -30@-30 -20@-20 -10@-10"});
}

TEST_F(SelectorTest, ASubqueryWhoseWindowHoldsNoStepIsEmpty) {
  load(kMinute, {"m 0+1x60"});
  EXPECT_EQ(lines_of(instant("m[1m:5m]", 12 * kMinute)), Lines{});
  EXPECT_EQ(lines_of(instant("sum_over_time(m[1m:5m])", 12 * kMinute)), Lines{});
}

TEST_F(SelectorTest, ASubqueryTakesAtAndOffset) {
  load(10'000, {"m 0+1x60"});
  EXPECT_EQ(lines_of(range("sum_over_time(m[20s:10s] @ 100 offset 10s)", {0, 20'000, 10'000})),
            Lines{"{} 17@0 17@10 17@20"});
}

TEST_F(SelectorTest, ManyWindowsOverGapsFindTheirSamples) {
  load(kMinute, {"m 1 _ _ 4 5 _ _ _ 9 stale 11"});
  EXPECT_EQ(lines_of(range("sum_over_time(m[2m])", {0, 11 * kMinute, kMinute})),
            Lines{"{} 1@0 1@60 4@180 9@240 5@300 9@480 9@540 11@600 11@660"});
}

}  // namespace
}  // namespace gpusight::promql
