// Binary operators: vectors and scalars, matching, set operators, and what is refused.
#include "promql/engine_test_support.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kMinute = 60'000;

using BinaryTest = EngineTest;

TEST_F(BinaryTest, ScalarsComputeAndCompare) {
  EXPECT_EQ(lines_of(instant("7 % 4 + 2 ^ 3 ^ 0", 0)), Lines{"5"});
  EXPECT_EQ(lines_of(instant("-7 % 4", 0)), Lines{"-3"});
  EXPECT_EQ(lines_of(instant("1 >= bool 1", 0)), Lines{"1"});
  EXPECT_EQ(lines_of(instant("NaN == bool NaN", 0)), Lines{"0"});
  EXPECT_EQ(lines_of(range("time() * 2", {0, 2000, 1000})), Lines{"{} 0@0 2@1 4@2"});
}

TEST_F(BinaryTest, AComparisonKeepsTheVectorsValueOnEitherSide) {
  load(kMinute, {"m 5"});
  EXPECT_EQ(lines_of(instant("m > 3", 0)), Lines{"m 5"});
  EXPECT_EQ(lines_of(instant("3 < m", 0)), Lines{"m 5"});
  EXPECT_EQ(lines_of(instant("3 > m", 0)), Lines{});
  EXPECT_EQ(lines_of(instant("3 > bool m", 0)), Lines{"{} 0"});
  EXPECT_EQ(lines_of(instant("10 - m", 0)), Lines{"{} 5"});
}

TEST_F(BinaryTest, ArithmeticDropsTheName) {
  load(kMinute, {R"(m{a="1"} 5)"});
  EXPECT_EQ(lines_of(instant("m * 2", 0)), Lines{R"({a="1"} 10)"});
  EXPECT_EQ(lines_of(instant("m + m", 0)), Lines{R"({a="1"} 10)"});
  EXPECT_EQ(lines_of(instant("-m", 0)), Lines{R"({a="1"} -5)"});
  EXPECT_EQ(lines_of(instant("+m", 0)), Lines{R"(m{a="1"} 5)"});
}

TEST_F(BinaryTest, OneToOneMatchesOnAllLabelsOrThoseNamed) {
  load(kMinute, {R"(a{x="1",y="1"} 10)", R"(a{x="2",y="2"} 20)", R"(b{x="1",y="1"} 2)",
                 R"(b{x="2",y="9"} 4)"});
  EXPECT_EQ(lines_of(instant("a / b", 0)), Lines{R"({x="1", y="1"} 5)"});
  EXPECT_EQ(lines_of(instant("a / on(x) b", 0)), (Lines{R"({x="1"} 5)", R"({x="2"} 5)"}));
  EXPECT_EQ(lines_of(instant("a / ignoring(y) b", 0)), (Lines{R"({x="1"} 5)", R"({x="2"} 5)"}));
  EXPECT_EQ(lines_of(instant("a > b", 0)), Lines{R"(a{x="1", y="1"} 10)"});
  EXPECT_EQ(lines_of(instant("a > on(x) b", 0)), (Lines{R"({x="1"} 10)", R"({x="2"} 20)"}));
  EXPECT_EQ(lines_of(instant("a < bool on(x) b", 0)), (Lines{R"({x="1"} 0)", R"({x="2"} 0)"}));
}

TEST_F(BinaryTest, ManyToOneKeepsTheManySidesLabels) {
  load(kMinute, {R"(a{x="1",y="1"} 10)", R"(a{x="1",y="2"} 20)", R"(b{x="1",z="q"} 2)"});
  const Lines want = {R"({x="1", y="1"} 5)", R"({x="1", y="2"} 10)"};
  EXPECT_EQ(lines_of(instant("a / on(x) group_left b", 0)), want);
  EXPECT_EQ(lines_of(instant("b * on(x) group_right a", 0)),
            (Lines{R"({x="1", y="1"} 20)", R"({x="1", y="2"} 40)"}));
  EXPECT_EQ(lines_of(instant("b - on(x) group_right a", 0)),
            (Lines{R"({x="1", y="1"} -8)", R"({x="1", y="2"} -18)"}));
  EXPECT_EQ(lines_of(instant("b < on(x) group_right a", 0)),
            (Lines{R"(a{x="1", y="1"} 2)", R"(a{x="1", y="2"} 2)"}));
  EXPECT_EQ(lines_of(instant("a / on(x) group_left(z) b", 0)),
            (Lines{R"({x="1", y="1", z="q"} 5)", R"({x="1", y="2", z="q"} 10)"}));
  // A label that the one side has not is taken away.
  EXPECT_EQ(
      lines_of(instant("sum by (x, y) (a) / on(x) group_left(y) b", 0)),
      Lines{"error: multiple matches for labels: grouping labels must ensure unique matches"});
}

TEST_F(BinaryTest, AnIncludedLabelMayChangeFromStepToStep) {
  load(kMinute, {R"(a{x="1"} 1 1)", R"(b{x="1",v="old"} 2 stale)", R"(b{x="1",v="new"} _ 2)"});
  EXPECT_EQ(lines_of(range("a * on(x) group_left(v) b", {0, kMinute, kMinute})),
            (Lines{R"({v="new", x="1"} 2@60)", R"({v="old", x="1"} 2@0)"}));
}

TEST_F(BinaryTest, TwoOnTheOneSideAreRefusedWithBothNamed) {
  load(kMinute, {R"(b{x="1",y="z"} 1)", R"(b{x="1",y="a"} 1)", R"(a{x="1"} 1)", R"(c{x="2"} 1)"});
  const std::string both = R"([{__name__="b", x="1", y="a"}, {__name__="b", x="1", y="z"}])";
  const std::string rest =
      ";many-to-many matching not allowed: matching labels must be unique on one side";
  EXPECT_EQ(lines_of(instant("a + on(x) b", 0)),
            Lines{R"(error: found duplicate series for the match group {x="1"} on the right )"
                  "hand-side of the operation: " +
                  both + rest});
  EXPECT_EQ(lines_of(instant("b + on(x) group_right a", 0)),
            Lines{R"(error: found duplicate series for the match group {x="1"} on the left )"
                  "hand-side of the operation: " +
                  both + rest});
  // They need not have a partner, as long as there is anything on the other side.
  EXPECT_EQ(instant("c + on(x) b", 0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(lines_of(instant("nothing + on(x) b", 0)), Lines{});
}

TEST_F(BinaryTest, TwoOnTheManySideNeedToBeAskedFor) {
  load(kMinute, {R"(a{x="1",y="1"} 1)", R"(a{x="1",y="2"} 9)", R"(b{x="1"} 5)"});
  const Lines want = {
      "error: multiple matches for labels: many-to-one matching must be explicit "
      "(group_left/group_right)"};
  EXPECT_EQ(lines_of(instant("a + on(x) b", 0)), want);
  EXPECT_EQ(lines_of(instant("a > on(x) b", 0)), want);  // though one of them is filtered out
}

TEST_F(BinaryTest, SeriesThatFollowEachOtherInTimeAreNoDuplicates) {
  load(kMinute, {R"(a{x="1"} 1 2)", R"(b{x="1",y="1"} 10 stale)", R"(b{x="1",y="2"} _ 20)"});
  EXPECT_EQ(lines_of(range("a * on(x) b", {0, kMinute, kMinute})), Lines{R"({x="1"} 10@0 40@60)"});
}

TEST_F(BinaryTest, SetOperatorsWorkStepByStep) {
  load(kMinute, {R"(a{x="1"} 1 2 3)", R"(b{x="1"} _ 5 stale)", R"(b{x="2"} 7 8 9)"});
  const QueryRange steps{0, 2 * kMinute, kMinute};
  EXPECT_EQ(lines_of(range("a and b", steps)), Lines{R"(a{x="1"} 2@60)"});
  EXPECT_EQ(lines_of(range("a unless b", steps)), Lines{R"(a{x="1"} 1@0 3@120)"});
  EXPECT_EQ(lines_of(range("b or a", steps)),
            (Lines{R"(a{x="1"} 1@0 3@120)", R"(b{x="1"} 5@60)", R"(b{x="2"} 7@0 8@60 9@120)"}));
  EXPECT_EQ(lines_of(range("a and on() b", steps)), Lines{R"(a{x="1"} 1@0 2@60 3@120)"});
  EXPECT_EQ(lines_of(range("a unless on() nothing", steps)), Lines{R"(a{x="1"} 1@0 2@60 3@120)"});
}

TEST_F(BinaryTest, OrJoinsWhatIsTheSameSeriesAtDifferentSteps) {
  load(kMinute, {"a 1 9", "b 5 6"});
  EXPECT_EQ(lines_of(range("-(a < 3) or -b", {0, kMinute, kMinute})), Lines{"{} -1@0 -6@60"});
  EXPECT_EQ(lines_of(range("(a < 3) or a", {0, kMinute, kMinute})), Lines{"a 1@0 9@60"});
}

}  // namespace
}  // namespace gpusight::promql
