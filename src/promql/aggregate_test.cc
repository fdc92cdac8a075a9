// Aggregations: groups, rounding, order, parameters.
#include <cmath>
#include <limits>

#include "promql/engine_test_support.h"
#include "promql/fold.h"
#include "promql/row.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kMinute = 60'000;

using AggregateTest = EngineTest;

double folded(AggregateOp op, const std::vector<double>& values) {
  const auto fold = make_fold(op, 1);
  for (const double value : values) fold->add(std::span(&value, 1));
  return fold->finish().front();
}

TEST(Fold, AStepWithoutValuesHasNoResult) {
  for (const AggregateOp op :
       {AggregateOp::kSum, AggregateOp::kAvg, AggregateOp::kCount, AggregateOp::kMin,
        AggregateOp::kMax, AggregateOp::kGroup, AggregateOp::kStddev, AggregateOp::kStdvar}) {
    const auto fold = make_fold(op, 2);
    const std::vector<double> row = {no_value(), 3};
    fold->add(row);
    const std::vector<double> results = fold->finish();
    EXPECT_FALSE(has_value(results[0])) << name_of(op);
    EXPECT_TRUE(has_value(results[1])) << name_of(op);
  }
}

TEST(Fold, SumsKeepWhatRoundingWouldLose) {
  EXPECT_EQ(folded(AggregateOp::kSum, {1, 1e100, 1, -1e100}), 2);
  EXPECT_EQ(folded(AggregateOp::kAvg, {2, 8, 1e100, -1e100}), 2.5);
}

TEST(Fold, AMeanDoesNotOverflowWhereItsSumWould) {
  const double big = 1.5e308;
  EXPECT_EQ(folded(AggregateOp::kSum, {big, big}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(folded(AggregateOp::kAvg, {big, big}), big);
  EXPECT_NEAR(folded(AggregateOp::kAvg, {big, big, -big, -big}) / big, 0, 1e-15);
}

TEST(Fold, NanGivesWayInMinAndMaxOnly) {
  const double nan = std::nan("");
  EXPECT_EQ(folded(AggregateOp::kMin, {nan, 3, 2, nan}), 2);
  EXPECT_EQ(folded(AggregateOp::kMax, {3, nan, 4}), 4);
  EXPECT_TRUE(std::isnan(folded(AggregateOp::kMax, {nan})));
  EXPECT_TRUE(has_value(folded(AggregateOp::kMax, {nan})));
  EXPECT_TRUE(std::isnan(folded(AggregateOp::kSum, {1, nan})));
}

TEST(Fold, VarianceIsExactForLargeOffsets) {
  EXPECT_EQ(folded(AggregateOp::kStdvar, {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}), 22.5);
  EXPECT_EQ(folded(AggregateOp::kStddev, {2, 4, 4, 4, 5, 5, 7, 9}), 2);
  EXPECT_TRUE(std::isnan(folded(AggregateOp::kStdvar, {std::numeric_limits<double>::infinity()})));
}

TEST_F(AggregateTest, ByAndWithoutChooseTheLabels) {
  load(kMinute, {R"(m{a="1",b="x"} 1)", R"(m{a="1",b="y"} 2)", R"(m{a="2",b="x"} 4)"});
  EXPECT_EQ(lines_of(instant("sum by (a) (m)", 0)), (Lines{R"({a="1"} 3)", R"({a="2"} 4)"}));
  EXPECT_EQ(lines_of(instant("sum without (a) (m)", 0)), (Lines{R"({b="x"} 5)", R"({b="y"} 2)"}));
  EXPECT_EQ(lines_of(instant("sum by (__name__, nothing) (m)", 0)), Lines{"m 7"});
  EXPECT_EQ(lines_of(instant("sum(m)", 0)), Lines{"{} 7"});
}

TEST_F(AggregateTest, GroupsAreToldApartByWholeLabels) {
  load(kMinute, {R"(m{a="aa",b="bb"} 1)", R"(m{a="a",b="abb"} 2)"});
  EXPECT_EQ(lines_of(instant("sum by (a, b) (m)", 0)),
            (Lines{R"({a="a", b="abb"} 2)", R"({a="aa", b="bb"} 1)"}));
}

TEST_F(AggregateTest, TopkIsOrderedInAnInstantQueryWithNanLast) {
  load(kMinute, {R"(m{a="1"} 5)", R"(m{a="2"} NaN)", R"(m{a="3"} 9)", R"(m{a="4"} 7)"});
  EXPECT_EQ(lines_of(instant("topk(2, m)", 0)), (Lines{R"(m{a="3"} 9)", R"(m{a="4"} 7)"}));
  EXPECT_EQ(lines_of(instant("bottomk(9, m)", 0)),
            (Lines{R"(m{a="1"} 5)", R"(m{a="4"} 7)", R"(m{a="3"} 9)", R"(m{a="2"} NaN)"}));
  EXPECT_EQ(lines_of(instant("topk(0, m)", 0)), Lines{});
  EXPECT_EQ(lines_of(instant("topk(-3, m)", 0)), Lines{});
  EXPECT_EQ(lines_of(instant("topk(1.9, m)", 0)), (Lines{R"(m{a="3"} 9)"}));
}

TEST_F(AggregateTest, TopkChoosesAnewAtEveryStep) {
  load(kMinute, {R"(m{a="1"} 1 5 1)", R"(m{a="2"} 2 2 2)"});
  EXPECT_EQ(lines_of(range("topk(1, m)", {0, 2 * kMinute, kMinute})),
            (Lines{R"(m{a="1"} 5@60)", R"(m{a="2"} 2@0 2@120)"}));
}

TEST_F(AggregateTest, ParametersMayChangeFromStepToStep) {
  load(kMinute, {R"(m{a="1"} 1 1 1)", R"(m{a="2"} 2 2 2)", "k 1 2 0"});
  EXPECT_EQ(lines_of(range("count(topk(scalar(k), m))", {0, 2 * kMinute, kMinute})),
            Lines{"{} 1@0 2@60"});
}

TEST_F(AggregateTest, SizesThatAreNoneAreRefused) {
  load(kMinute, {"m 1"});
  EXPECT_EQ(lines_of(instant("topk(NaN, m)", 0)), Lines{"error: Parameter value is NaN"});
  EXPECT_EQ(lines_of(instant("bottomk(Inf, m)", 0)),
            Lines{"error: Scalar value +Inf overflows int64"});
  EXPECT_EQ(lines_of(instant("topk(1e20, m)", 0)),
            Lines{"error: Scalar value 1e+20 overflows int64"});
  EXPECT_EQ(lines_of(instant("topk(-Inf, m)", 0)), Lines{});
}

TEST_F(AggregateTest, QuantilesInterpolateAndRemarkOnNonsense) {
  load(kMinute, {R"(m{a="1"} 0)", R"(m{a="2"} 10)", R"(m{a="3"} 30)"});
  EXPECT_EQ(lines_of(instant("quantile(0.75, m)", 0)), Lines{"{} 20"});
  EXPECT_EQ(lines_of(instant("quantile(1.5, m)", 0)), Lines{"{} +Inf"});
  const std::string_view query = "quantile(-1, m)";
  EXPECT_EQ(lines_of(instant(query, 0)), Lines{"{} -Inf"});
  EXPECT_EQ(remarks(instant(query, 0), query),
            Lines{"PromQL warning: quantile value should be between 0 and 1, got -1 (1:10)"});
}

TEST_F(AggregateTest, CountValuesMakesLabelsOfNumbers) {
  load(kMinute, {R"(m{a="1"} 6)", R"(m{a="2"} 6)", R"(m{a="3"} 0.00001)", R"(m{a="4"} NaN)",
                 R"(m{a="5"} 1e21)"});
  EXPECT_EQ(lines_of(instant(R"(count_values("v", m))", 0)),
            (Lines{R"({v="0.00001"} 1)", R"({v="1000000000000000000000"} 1)", R"({v="6"} 2)",
                   R"({v="NaN"} 1)"}));
  EXPECT_EQ(lines_of(instant(R"(count_values without (a) ("a", m{a=~"1|2"}))", 0)), Lines{"{} 2"});
  EXPECT_EQ(lines_of(instant(R"(count_values by (a) ("a", m{a=~"1|2"}))", 0)),
            Lines{R"({a="6"} 2)"});
}

TEST_F(AggregateTest, CountValuesCountsAtEveryStep) {
  load(kMinute, {R"(m{a="1"} 1 2 2)", R"(m{a="2"} 1 1 2)"});
  EXPECT_EQ(lines_of(range(R"(count_values("v", m))", {0, 2 * kMinute, kMinute})),
            (Lines{R"({v="1"} 2@0 1@60)", R"({v="2"} 1@60 2@120)"}));
}

TEST_F(AggregateTest, CountValuesRefusesWhatIsNoLabelName) {
  load(kMinute, {"m 1"});
  EXPECT_EQ(lines_of(instant("count_values(\"a\\xc5z\", m)", 0)),
            Lines{R"(error: invalid label name "a\xc5z")"});
  EXPECT_EQ(lines_of(instant(R"(count_values("", m))", 0)),
            Lines{R"(error: invalid label name "")"});
}

}  // namespace
}  // namespace gpusight::promql
