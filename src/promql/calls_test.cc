// Function calls: names that go, rows that merge, what is absent, order, histograms, remarks.
#include "promql/engine_test_support.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr std::string_view kSameLabels =
    "error: vector cannot contain metrics with the same labelset";

using CallsTest = EngineTest;

TEST_F(CallsTest, FunctionsDropTheNameAndOthersKeepIt) {
  load(kMinute, {R"(m{a="1"} 4 9)"});
  EXPECT_EQ(lines_of(instant("sqrt(m)", 0)), Lines{R"({a="1"} 2)"});
  EXPECT_EQ(lines_of(instant("max_over_time(m[5m])", kMinute)), Lines{R"({a="1"} 9)"});
  EXPECT_EQ(lines_of(instant("last_over_time(m[5m])", kMinute)), Lines{R"(m{a="1"} 9)"});
  EXPECT_EQ(lines_of(instant("sort(m)", 0)), Lines{R"(m{a="1"} 4)"});
}

TEST_F(CallsTest, RowsThatBecomeEqualMergeUnlessTheyOverlap) {
  load(kMinute, {"m 1 stale", "n _ 2 3"});
  const std::string_view query = R"(abs({__name__=~"m|n"}))";
  EXPECT_EQ(lines_of(range(query, {0, 2 * kMinute, kMinute})), Lines{"{} 1@0 2@60 3@120"});
  load(kMinute, {"o 1 1 1"});
  EXPECT_EQ(lines_of(range(R"(abs({__name__=~"m|n|o"}))", {0, 2 * kMinute, kMinute})),
            Lines{std::string(kSameLabels)});
  for (const std::string_view each :
       {R"(-{__name__=~"n|o"})", R"({__name__=~"n|o"} * 2)", R"(rate({__name__=~"n|o"}[5m]))",
        R"(timestamp({__name__=~"n|o"}))", R"(2 > bool {__name__=~"n|o"})",
        R"(sum_over_time({__name__=~"n|o"}[5m:1m]))"}) {
    EXPECT_EQ(lines_of(instant(each, 2 * kMinute)), Lines{std::string(kSameLabels)}) << each;
  }
}

TEST_F(CallsTest, DelayedNameRemovalKeepsNamesUntilTheEnd) {
  load(kMinute, {"m 1 2", "n 3 4"});
  options_.name_removal = NameRemoval::kDelayed;
  EXPECT_EQ(lines_of(instant(R"(count by (__name__) (abs({__name__=~"m|n"})))", 0)),
            Lines{std::string(kSameLabels)});  // the name goes after all
  EXPECT_EQ(lines_of(instant(R"(sum(sum by (__name__) (abs({__name__=~"m|n"}))))", 0)),
            Lines{"{} 4"});
  EXPECT_EQ(
      lines_of(instant(
          R"q(label_replace(abs({__name__=~"m|n"}), "__name__", "abs_$1", "__name__", "(.*)"))q",
          0)),
      (Lines{"abs_m 1", "abs_n 3"}));
  EXPECT_EQ(lines_of(instant("abs(m)", 0)), Lines{"{} 1"});
  EXPECT_EQ(lines_of(instant("abs(m)[1m:1m]", kMinute)), Lines{"{} 2@60"});
  EXPECT_EQ(lines_of(instant(R"(abs({__name__=~"m|n"})[1m:1m])", kMinute)),
            Lines{std::string(kSameLabels)});
  EXPECT_EQ(lines_of(instant(R"(abs({__name__=~"m|n"}))", 0)), Lines{std::string(kSameLabels)});
}

TEST_F(CallsTest, ScalarAndVectorConvert) {
  load(kMinute, {R"(m{a="1"} 4)", R"(m{a="2"} 5)"});
  EXPECT_EQ(lines_of(instant(R"(scalar(m{a="2"}))", 0)), Lines{"5"});
  EXPECT_EQ(lines_of(instant("scalar(m)", 0)), Lines{"NaN"});
  EXPECT_EQ(lines_of(instant("scalar(nothing)", 0)), Lines{"NaN"});
  EXPECT_EQ(lines_of(instant("vector(3)", 0)), Lines{"{} 3"});
  EXPECT_EQ(lines_of(range("scalar(m @ 0 == 4) + pi() * 0", {0, 2000, 1000})),
            Lines{"{} 4@0 4@1 4@2"});
}

TEST_F(CallsTest, TimesAreThoseOfTheStepOrTheSample) {
  load(kMinute, {"m 4 5"});
  EXPECT_EQ(lines_of(range("time()", {500, 1500, 500})), Lines{"{} 0.5@0.5 1@1 1.5@1.5"});
  EXPECT_EQ(lines_of(instant("timestamp(m)", 90'000)), Lines{"{} 60"});
  EXPECT_EQ(lines_of(instant("timestamp((m))", 90'000)), Lines{"{} 60"});
  EXPECT_EQ(lines_of(instant("timestamp(m + 0)", 90'000)), Lines{"{} 90"});
  EXPECT_EQ(lines_of(range("timestamp(m @ 60)", {0, 2000, 1000})), Lines{"{} 60@0 60@1 60@2"});
  EXPECT_EQ(lines_of(instant("minute()", 125'000)), Lines{"{} 2"});
  EXPECT_EQ(lines_of(instant("minute(vector(3600 * 5 + 61))", 0)), Lines{"{} 1"});
}

TEST_F(CallsTest, PredictionLooksFromTheStepEvenWhereTheWindowIsFixed) {
  load(kMinute, {"m 0+60x10"});
  EXPECT_EQ(lines_of(range("predict_linear(m[5m] @ 300, 60)", {300'000, 420'000, kMinute})),
            Lines{"{} 360@300 420@360 480@420"});
}

TEST_F(CallsTest, AbsenceTellsTheLabelsAskedFor) {
  load(kMinute, {R"(m{a="1"} 1 stale)"});
  EXPECT_EQ(lines_of(range("absent(m)", {0, 2 * kMinute, kMinute})), Lines{"{} 1@60 1@120"});
  EXPECT_EQ(lines_of(instant(R"(absent(m{a="2",b=~"x.*",c!="d"}))", 0)), Lines{R"({a="2"} 1)"});
  EXPECT_EQ(lines_of(instant(R"(absent(m{a="2",a="3",b="4"}))", 0)), Lines{R"({b="4"} 1)"});
  EXPECT_EQ(lines_of(instant("absent(sum(nothing))", 0)), Lines{"{} 1"});
  EXPECT_EQ(lines_of(instant(R"(absent_over_time(m{a="1"}[5m]))", kMinute)), Lines{});
  EXPECT_EQ(lines_of(range(R"(absent_over_time(m{a="1"}[1m]))", {0, 2 * kMinute, kMinute})),
            Lines{R"({a="1"} 1@60 1@120)"});
  EXPECT_EQ(lines_of(instant("absent_over_time(nothing[5m:1m])", 0)), Lines{"{} 1"});
}

TEST_F(CallsTest, SortOrdersAnInstantQueryAndIsRemarkedOnInARange) {
  load(kMinute, {R"(m{a="1"} 5 1)", R"(m{a="2"} NaN 1)", R"(m{a="3"} 2 1)"});
  EXPECT_EQ(lines_of(instant("sort(m)", 0)),
            (Lines{R"(m{a="3"} 2)", R"(m{a="1"} 5)", R"(m{a="2"} NaN)"}));
  EXPECT_EQ(lines_of(instant("(sort_desc(m))", 0)),
            (Lines{R"(m{a="1"} 5)", R"(m{a="3"} 2)", R"(m{a="2"} NaN)"}));
  const std::string_view query = "sum(sort(m))";
  EXPECT_EQ(remarks(range(query, {0, kMinute, kMinute}), query),
            Lines{"PromQL warning: sort is ineffective for range queries since results are always "
                  "ordered by labels (1:5)"});
  EXPECT_EQ(remarks(instant(query, 0), query), Lines{});
}

TEST_F(CallsTest, LabelsAreReplacedAndJoined) {
  load(kMinute, {R"(m{a="x-1"} 1)", R"(m{a="y-2"} 2)"});
  EXPECT_EQ(lines_of(instant(R"q(label_replace(m, "n", "$2", "a", "(x)-(.*)"))q", 0)),
            (Lines{R"(m{a="x-1", n="1"} 1)", R"(m{a="y-2"} 2)"}));
  EXPECT_EQ(lines_of(instant(R"(label_join(m, "j", "+", "a", "a"))", 0)),
            (Lines{R"(m{a="x-1", j="x-1+x-1"} 1)", R"(m{a="y-2", j="y-2+y-2"} 2)"}));
  EXPECT_EQ(lines_of(instant(R"(label_replace(m, "a", "", "a", ".*"))", 0)),
            Lines{std::string(kSameLabels)});
  EXPECT_EQ(instant(R"q(label_replace(m, "a", "", "a", "(.*"))q", 0).status().code(),
            Code::kInvalidArgument);
}

TEST_F(CallsTest, RatesRemarkOnNamesThatAreNoCounters) {
  load(kMinute, {"m 0+60x5", "m_total 0+60x5", "m_bucket 0+60x5"});
  const std::string_view query = "sum(rate(m[5m]))";
  EXPECT_EQ(remarks(instant(query, 5 * kMinute), query),
            Lines{"PromQL info: metric might not be a counter, name does not end in "
                  "_total/_sum/_count/_bucket: \"m\" (1:10)"});
  for (const std::string_view fine :
       {"rate(m_total[5m])", "increase(m_bucket[5m])", "irate(m[5m])", "delta(m[5m])",
        "rate(nothing[5m])", "rate(m[1m])", "rate((m_total)[5m:1m])"}) {
    EXPECT_EQ(remarks(instant(fine, 5 * kMinute), fine), Lines{}) << fine;
  }
}

TEST_F(CallsTest, AQuantileOutsideOfItsRangeIsRemarkedOnce) {
  load(kMinute, {"m 1 2 3"});
  const std::string_view query = "quantile_over_time(2, m[5m])";
  EXPECT_EQ(lines_of(instant(query, kMinute)), Lines{"{} +Inf"});
  EXPECT_EQ(remarks(range(query, {0, 2 * kMinute, kMinute}), query),
            Lines{"PromQL warning: quantile value should be between 0 and 1, got 2 (1:20)"});
  const std::string_view none = "quantile_over_time(2, nothing[5m])";
  EXPECT_EQ(remarks(instant(none, 0), none), Lines{});
}

class HistogramTest : public EngineTest {
 protected:
  void SetUp() override {
    load(kMinute, {R"(h_bucket{le="1",a="x"} 0 10)", R"(h_bucket{le="2",a="x"} 0 30)",
                   R"(h_bucket{le="+Inf",a="x"} 0 40)", R"(h_bucket{le="1",a="y"} 4 4)",
                   R"(h_bucket{le="+Inf",a="y"} 4 4)"});
  }
};

TEST_F(HistogramTest, QuantilesAreTakenHistogramByHistogram) {
  EXPECT_EQ(lines_of(range("histogram_quantile(0.5, h_bucket)", {0, kMinute, kMinute})),
            (Lines{R"({a="x"} NaN@0 1.5@60)", R"({a="y"} 0.5@0 0.5@60)"}));
  EXPECT_EQ(lines_of(instant("histogram_quantile(0.5, sum by (le) (h_bucket))", kMinute)),
            Lines{"{} 1.5"});
  EXPECT_EQ(lines_of(instant("histogram_fraction(0, 1, h_bucket)", kMinute)),
            (Lines{R"({a="x"} 0.25)", R"({a="y"} 1)"}));
}

TEST_F(HistogramTest, OddBucketsAreRemarkedOn) {
  load(kMinute, {R"(h_bucket{le="many",a="z"} 1)", R"(h_bucket{a="z"} 1)"});
  const std::string_view query = R"(histogram_quantile(0.5, h_bucket{a="z"}))";
  EXPECT_EQ(lines_of(instant(query, 0)), Lines{});
  EXPECT_EQ(
      remarks(instant(query, 0), query),
      (Lines{"PromQL warning: bucket label \"le\" is missing or has a malformed value of \"\" "
             "(1:25)",
             "PromQL warning: bucket label \"le\" is missing or has a malformed value of "
             "\"many\" (1:25)"}));
}

TEST_F(HistogramTest, SinkingCountsAreRemarkedOn) {
  load(kMinute, {R"(s_bucket{le="1"} 9)", R"(s_bucket{le="2"} 5)", R"(s_bucket{le="+Inf"} 10)"});
  const std::string_view query = "histogram_quantile(0.95, s_bucket)";
  EXPECT_EQ(
      remarks(instant(query, 0), query),
      Lines{"PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see "
            "https://prometheus.io/docs/prometheus/latest/querying/functions/"
            "#histogram_quantile), from buckets 2 to 2, with a max diff of 4, over 1 samples from "
            "1970-01-01T00:00:00Z to 1970-01-01T00:00:00Z (1:26)"});
}

// One remark for all of them.
TEST_F(HistogramTest, WhatWasMendedIsSummedUp) {
  load(kMinute, {R"(s_bucket{le="1"} 9 9 9 1)", R"(s_bucket{le="2"} 5 9 9 1)",
                 R"(s_bucket{le="4"} 9 9 8.75 1)", R"(s_bucket{le="+Inf"} 10x3)"});
  const std::string_view query = "histogram_quantile(0.95, s_bucket)";
  EXPECT_EQ(
      remarks(range(query, {.start_ms = 0, .end_ms = 3 * kMinute, .step_ms = kMinute}), query),
      Lines{"PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see "
            "https://prometheus.io/docs/prometheus/latest/querying/functions/"
            "#histogram_quantile), from buckets 2 to 4, with a max diff of 4, over 2 samples from "
            "1970-01-01T00:00:00Z to 1970-01-01T00:02:00Z (1:26)"});
}

TEST_F(HistogramTest, AQuantileOutsideOfItsRangeIsRemarkedEvenWithoutHistograms) {
  const std::string_view query = "histogram_quantile(NaN, nothing)";
  EXPECT_EQ(remarks(instant(query, 0), query),
            Lines{"PromQL warning: quantile value should be between 0 and 1, got NaN (1:20)"});
}

TEST_F(HistogramTest, TwoMetricsWithTheSameLabelsAreRefused) {
  load(kMinute, {R"(i_bucket{le="1",a="x"} 1)", R"(i_bucket{le="+Inf",a="x"} 1)"});
  EXPECT_EQ(lines_of(instant(R"(histogram_quantile(0.5, {__name__=~".*_bucket"}))", 0)),
            Lines{std::string(kSameLabels)});
}

}  // namespace
}  // namespace gpusight::promql
