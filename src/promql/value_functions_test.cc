#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "promql/function.h"
#include "promql/instant_functions.h"

namespace gpusight::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double call(std::string_view function, double value, std::initializer_list<double> args = {}) {
  const ValueFunction* found = find_value_function(function);
  CHECK(found != nullptr, function);
  const std::vector<double> given(args);
  return found->kernel(value, given);
}

TEST(ValueFunctions, EveryFunctionOfOneValueIsThere) {
  for (const auto* name :
       {"abs",   "acos",  "acosh",     "asin",          "asinh",       "atan", "atanh",
        "ceil",  "clamp", "clamp_max", "clamp_min",     "cos",         "cosh", "day_of_month",
        "deg",   "exp",   "floor",     "day_of_week",   "day_of_year", "hour", "ln",
        "log10", "log2",  "minute",    "days_in_month", "month",       "rad",  "round",
        "sgn",   "sin",   "sinh",      "sqrt",          "tan",         "tanh", "year"}) {
    ASSERT_NE(find_value_function(name), nullptr) << name;
    EXPECT_EQ(find_value_function(name)->name, name);
    ASSERT_NE(find_function(name), nullptr) << name;
  }
  EXPECT_EQ(find_value_function("sort"), nullptr);
  EXPECT_EQ(find_value_function("zzz"), nullptr);
}

TEST(ValueFunctions, OnlyDatesDefaultToTheTime) {
  for (const Function& function : functions()) {
    const ValueFunction* found = find_value_function(function.name);
    if (found == nullptr) continue;
    EXPECT_EQ(found->defaults_to_time, function.args.size() == 1 && function.variadic == 1)
        << function.name;
  }
}

TEST(ValueFunctions, NanStaysNan) {
  for (const auto* name : {"abs", "ceil", "exp", "floor", "ln", "sgn", "sqrt", "sin", "deg", "rad",
                           "round", "year", "hour", "days_in_month", "day_of_week"}) {
    const double result = call(name, kNan);
    EXPECT_TRUE(std::isnan(result)) << name;
    EXPECT_TRUE(has_value(result)) << name;
  }
}

TEST(ValueFunctions, Arithmetic) {
  EXPECT_EQ(call("abs", -2.5), 2.5);
  EXPECT_EQ(call("ceil", 1.2), 2);
  EXPECT_EQ(call("ceil", -1.2), -1);
  EXPECT_EQ(call("floor", 1.8), 1);
  EXPECT_EQ(call("floor", -1.2), -2);
  EXPECT_EQ(call("sqrt", 9), 3);
  EXPECT_TRUE(std::isnan(call("sqrt", -1)));
  EXPECT_DOUBLE_EQ(call("exp", 1), std::numbers::e);
  EXPECT_EQ(call("exp", -kInf), 0);
  EXPECT_EQ(call("ln", 1), 0);
  EXPECT_EQ(call("ln", 0), -kInf);
  EXPECT_TRUE(std::isnan(call("ln", -1)));
  EXPECT_EQ(call("log2", 8), 3);
  EXPECT_EQ(call("log10", 1000), 3);
  EXPECT_EQ(call("sgn", -7), -1);
  EXPECT_EQ(call("sgn", 7), 1);
  EXPECT_EQ(call("sgn", 0), 0);
}

TEST(ValueFunctions, Angles) {
  EXPECT_DOUBLE_EQ(call("rad", 180), std::numbers::pi);
  EXPECT_DOUBLE_EQ(call("deg", std::numbers::pi / 2), 90);
  EXPECT_DOUBLE_EQ(call("sin", std::numbers::pi / 6), 0.5);
  EXPECT_EQ(call("cos", 0), 1);
  EXPECT_DOUBLE_EQ(call("tan", std::numbers::pi / 4), 1);
  EXPECT_DOUBLE_EQ(call("asin", 1), std::numbers::pi / 2);
  EXPECT_EQ(call("acos", 1), 0);
  EXPECT_TRUE(std::isnan(call("acos", 2)));
  EXPECT_DOUBLE_EQ(call("atan", 1), std::numbers::pi / 4);
  EXPECT_DOUBLE_EQ(call("sinh", 1), (std::numbers::e - 1 / std::numbers::e) / 2);
  EXPECT_DOUBLE_EQ(call("cosh", 1), (std::numbers::e + 1 / std::numbers::e) / 2);
  EXPECT_EQ(call("tanh", kInf), 1);
  EXPECT_DOUBLE_EQ(call("asinh", call("sinh", 1.5)), 1.5);
  EXPECT_DOUBLE_EQ(call("acosh", call("cosh", 1.5)), 1.5);
  EXPECT_EQ(call("atanh", 1), kInf);
}

TEST(Clamp, KeepsAValueBetweenItsBounds) {
  EXPECT_EQ(call("clamp", 5, {0, 10}), 5);
  EXPECT_EQ(call("clamp", -5, {0, 10}), 0);
  EXPECT_EQ(call("clamp", 50, {0, 10}), 10);
  EXPECT_EQ(call("clamp_min", 5, {7}), 7);
  EXPECT_EQ(call("clamp_max", 5, {3}), 3);
  EXPECT_EQ(call("clamp_max", kInf, {3}), 3);
}

TEST(Clamp, BoundsTheWrongWayRoundGiveNothing) {
  EXPECT_FALSE(has_value(call("clamp", 5, {10, 0})));
}

TEST(Clamp, NanIsNotClampedAndABoundOfNanIsNan) {
  EXPECT_TRUE(std::isnan(call("clamp", kNan, {0, 10})));
  EXPECT_TRUE(std::isnan(call("clamp_min", 5, {kNan})));
  EXPECT_TRUE(has_value(call("clamp", 5, {0, kNan})));
}

TEST(Round, TiesGoUp) {
  EXPECT_EQ(call("round", 2.5), 3);
  EXPECT_EQ(call("round", -2.5), -2);
  EXPECT_EQ(call("round", 2.4), 2);
  EXPECT_EQ(call("round", -kInf), -kInf);
}

TEST(Round, ToTheNearestMultiple) {
  EXPECT_EQ(call("round", 12, {5}), 10);
  EXPECT_EQ(call("round", 13, {5}), 15);
  EXPECT_DOUBLE_EQ(call("round", 0.876, {0.01}), 0.88);
  EXPECT_TRUE(std::isnan(call("round", 1, {0})));
}

// 2026-11-30 19:48:22 UTC, a Monday: day 30 + 304 of the year.
TEST(Dates, OfATimeOfToday) {
  const double time = 1'796'068'102;
  EXPECT_EQ(call("year", time), 2026);
  EXPECT_EQ(call("month", time), 11);
  EXPECT_EQ(call("day_of_month", time), 30);
  EXPECT_EQ(call("day_of_week", time), 1);
  EXPECT_EQ(call("day_of_year", time), 334);
  EXPECT_EQ(call("days_in_month", time), 30);
  EXPECT_EQ(call("hour", time), 19);
  EXPECT_EQ(call("minute", time), 48);
}

TEST(Dates, LeapDays) {
  const double leap_day = 951'782'400;  // 2000-02-29
  EXPECT_EQ(call("day_of_month", leap_day), 29);
  EXPECT_EQ(call("month", leap_day), 2);
  EXPECT_EQ(call("days_in_month", leap_day), 29);
  EXPECT_EQ(call("day_of_year", leap_day), 60);
  EXPECT_EQ(call("days_in_month", 1'676'419'200), 28);   // 2023-02-15
  EXPECT_EQ(call("days_in_month", -2'204'755'200), 28);  // 1900-02-19: no leap year
  EXPECT_EQ(call("day_of_year", 1'735'603'200), 366);    // 2024-12-31
}

TEST(Dates, BeforeTheEpoch) {
  EXPECT_EQ(call("year", -1), 1969);
  EXPECT_EQ(call("month", -1), 12);
  EXPECT_EQ(call("day_of_month", -1), 31);
  EXPECT_EQ(call("day_of_week", -1), 3);  // the Wednesday before that Thursday
  EXPECT_EQ(call("hour", -1), 23);
  EXPECT_EQ(call("minute", -1), 59);
  EXPECT_EQ(call("day_of_week", -3 * 86'400.0), 1);
  EXPECT_EQ(call("year", -62'135'596'800.0), 1);  // 0001-01-01
  EXPECT_EQ(call("year", -62'135'596'801.0), 0);
}

TEST(Dates, AFractionIsCutOffTowardsZero) {
  EXPECT_EQ(call("minute", 59.9), 0);
  EXPECT_EQ(call("minute", 60), 1);
  EXPECT_EQ(call("year", -0.9), 1970);
}

TEST(Dates, WhatIsNoTimeHasNoParts) {
  EXPECT_TRUE(std::isnan(call("hour", kInf)));
  EXPECT_TRUE(std::isnan(call("year", -kInf)));
  EXPECT_TRUE(std::isnan(call("month", 1e300)));
  EXPECT_GT(call("year", 9e18), 2e11);
}

// Counts the days of 800 years one by one.
TEST(Dates, DaysFollowEachOther) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  double time = -11'676'096'000;  // 1600-01-01, a Saturday
  double weekday = 6;
  for (int year = 1600; year < 2400; ++year) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    int day_of_year = 1;
    for (int month = 1; month <= 12; ++month) {
      const int days = kDays[month - 1] + (leap && month == 2 ? 1 : 0);
      for (int day = 1; day <= days; ++day, ++day_of_year, time += 86'400) {
        ASSERT_EQ(call("year", time), year) << time;
        ASSERT_EQ(call("month", time), month) << time;
        ASSERT_EQ(call("day_of_month", time), day) << time;
        ASSERT_EQ(call("days_in_month", time), days) << time;
        ASSERT_EQ(call("day_of_year", time), day_of_year) << time;
        ASSERT_EQ(call("day_of_week", time), weekday) << time;
        weekday = weekday == 6 ? 0 : weekday + 1;
      }
    }
  }
}

}  // namespace
}  // namespace gpusight::promql
