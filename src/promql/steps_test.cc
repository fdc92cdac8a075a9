#include "promql/steps.h"

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

const QueryRange kQuery{1000, 5000, 1000};
const Steps kSteps{.start_ms = 1000, .step_ms = 1000, .count = 5};

TEST(Steps, OffsetMovesInstantsAndAtFixesThem) {
  const Instants moved(kSteps, {.offset_ms = 300}, kQuery);
  EXPECT_EQ(moved.first(), 700);
  EXPECT_EQ(moved.last(), 4700);
  const Instants fixed(kSteps, {.at = TimeShift::At::kTime, .at_ms = 9000, .offset_ms = -1},
                       kQuery);
  EXPECT_EQ(fixed.first(), 9001);
  EXPECT_EQ(fixed.at(4), 9001);
  EXPECT_EQ(Instants(kSteps, {.at = TimeShift::At::kEnd}, kQuery).at(2), 5000);
  EXPECT_EQ(Instants(kSteps, {.at = TimeShift::At::kStart}, kQuery).at(2), 1000);
}

TEST(Steps, ASubquerysGridCoversAllWindowsAndIsOpenOnTheLeft) {
  const Instants outer(kSteps, {}, kQuery);
  const Steps grid = subquery_grid(outer, 500, 250);
  EXPECT_EQ(grid.start_ms, 750);
  EXPECT_EQ(grid.count, 18u);
  EXPECT_EQ(grid.at(grid.count - 1), 5000);
  EXPECT_EQ(subquery_grid(outer, 999, 7000).count, 0u);
  const Instants before({.start_ms = -5, .step_ms = 0, .count = 1}, {}, kQuery);
  EXPECT_EQ(subquery_grid(before, 20, 10).start_ms, -20);
  EXPECT_EQ(subquery_grid(before, 15, 10).start_ms, -10);
}

TEST(Steps, OnlyWhatTheTimeCannotChangeIsInvariant) {
  for (const char* query :
       {"m @ 1", "1 + 2", "sum(m @ 1)", "rate(m[5m] @ start())", "m @ 1 + n @ 2", "vector(1)",
        "max_over_time(m[5m:1m] @ 7)", "topk(2, m @ 1)", "-m @ 1", "hour(m @ 1)"}) {
    EXPECT_TRUE(is_step_invariant(*parse(query).value())) << query;
  }
  for (const char* query : {"m", "m @ 1 + m", "time()", "vector(time())", "timestamp(m @ 1)",
                            "hour()", "predict_linear(m[5m] @ 1, 3)", "topk(scalar(m), m @ 1)",
                            "max_over_time((m @ 1)[5m:1m])"}) {
    EXPECT_FALSE(is_step_invariant(*parse(query).value())) << query;
  }
}

TEST(Steps, ExpressionsWithOneNameAreKnown) {
  for (const char* query :
       {"m", "rate(m[5m])", R"(abs({a="b"}))", "sum({a=\"b\"})", "m + n", "m > 2",
        "m and {a=\"b\"}", "sort(m)", "topk(2, m)", "m[5m:1m]", "-{a=\"b\"}",
        "last_over_time(m[5m])", "vector(1)", R"q(label_replace(m, "a", "", "b", ""))q"}) {
    EXPECT_TRUE(has_one_name(*parse(query).value())) << query;
  }
  for (const char* query :
       {R"({a="b"})", R"({__name__=~"m|n"})", "m or n", R"(sort({a="b"}))", R"({a="b"} > 1)",
        R"(sum by (__name__) ({a="b"}))", R"(last_over_time({a="b"}[5m]))",
        R"q(label_replace(m, "__name__", "$1", "b", "(.*)"))q", R"(count_values("__name__", m))"}) {
    EXPECT_FALSE(has_one_name(*parse(query).value())) << query;
  }
}

}  // namespace
}  // namespace gpusight::promql
