#include "serve/prom_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpusight::serve {
namespace {

using testing::HasSubstr;

TEST(ApiTime, IsUnixSecondsWithAFraction) {
  EXPECT_EQ(*parse_api_time("1435781430"), 1435781430000);
  EXPECT_EQ(*parse_api_time("1435781430.781"), 1435781430781);
  EXPECT_EQ(*parse_api_time("1435781430.7816"), 1435781430782);
  EXPECT_EQ(*parse_api_time("-1.5"), -1500);
  EXPECT_EQ(*parse_api_time("1.4357814e9"), 1435781400000);
  EXPECT_EQ(*parse_api_time("0"), 0);
}

TEST(ApiTime, IsRfc3339InAnyZone) {
  EXPECT_EQ(*parse_api_time("2015-07-01T20:10:30Z"), 1435781430000);
  EXPECT_EQ(*parse_api_time("2015-07-01T20:10:30.781Z"), 1435781430781);
  EXPECT_EQ(*parse_api_time("2015-07-01T20:10:30.7819999Z"), 1435781430781);
  EXPECT_EQ(*parse_api_time("2015-07-01T22:10:30.78+02:00"), 1435781430780);
  EXPECT_EQ(*parse_api_time("2015-07-01T14:40:30-05:30"), 1435781430000);
  EXPECT_EQ(*parse_api_time("1969-12-31T23:59:59.5Z"), -500);
  EXPECT_EQ(*parse_api_time("2024-02-29T00:00:00Z"), 1709164800000);
}

TEST(ApiTime, TheEndsOfPrometheussTimeAreKnown) {
  EXPECT_EQ(*parse_api_time("-292273086-05-16T16:47:06Z"), kMinTimeMs);
  EXPECT_EQ(*parse_api_time("292277025-08-18T07:12:54.999999999Z"), kMaxTimeMs);
}

// FAULT-130
TEST(ApiTime, AnythingElseIsRefusedInItsWords) {
  for (const auto* bad : {"",
                          "now",
                          "nan",
                          "Inf",
                          "-inf",
                          "1e300",
                          "9.3e15",
                          "2015-07-01",
                          "2015-07-01 20:10:30Z",
                          "2015-13-01T20:10:30Z",
                          "2015-02-29T20:10:30Z",
                          "2015-07-01T24:10:30Z",
                          "2015-07-01T20:60:30Z",
                          "2015-07-01T20:10:60Z",
                          "2015-07-01T20:10:30",
                          "2015-07-01T20:10:30.Z",
                          "2015-07-01T20:10:30Zx",
                          "2015-07-01T20:10:30+2:00",
                          "2015-07-01T20:10:30+02:60",
                          "215-07-01T20:10:30Z",
                          "1 ",
                          "１"}) {
    const auto time = parse_api_time(bad);
    ASSERT_FALSE(time.ok()) << bad;
    EXPECT_EQ(time.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(time.status().message(), HasSubstr("to a valid timestamp")) << bad;
  }
}

TEST(ApiDuration, IsSecondsOrADuration) {
  using namespace std::chrono_literals;
  EXPECT_EQ(*parse_api_duration("15"), 15s);
  EXPECT_EQ(*parse_api_duration("0.25"), 250ms);
  EXPECT_EQ(*parse_api_duration("-1"), -1s);
  EXPECT_EQ(*parse_api_duration("5m"), 5min);
  EXPECT_EQ(*parse_api_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_api_duration("250ms"), 250ms);
  for (const auto* bad : {"", "x", "5 m", "m5", "1e12", "nan", "inf", "30m1h"}) {
    EXPECT_THAT(parse_api_duration(bad).status().message(), HasSubstr("to a valid duration"))
        << bad;
  }
  EXPECT_THAT(parse_api_duration("1e12").status().message(), HasSubstr("It overflows int64"));
}

TEST(ApiParameters, AnEmptyOneIsNotThereAndTheFirstCounts) {
  const Parameters parameters = {{"start", ""}, {"end", "2"}, {"end", "3"}, {"x", "y"}};
  EXPECT_EQ(*time_parameter(parameters, "start", 77), 77);
  EXPECT_EQ(*time_parameter(parameters, "end", 77), 2000);
  EXPECT_EQ(*time_parameter(parameters, "missing", 77), 77);
  EXPECT_EQ(time_parameter(parameters, "x", 77).status().message(),
            "invalid parameter \"x\": Invalid time value for 'x': cannot parse \"y\" to a valid "
            "timestamp");
}

TEST(ApiParameters, LimitsAreWholeNumbersFromZero) {
  const auto limit = [](std::string text) { return limit_parameter({{"limit", std::move(text)}}); };
  EXPECT_EQ(*limit_parameter({}), 0u);
  EXPECT_EQ(*limit(""), 0u);
  EXPECT_EQ(*limit("0"), 0u);
  EXPECT_EQ(*limit("12"), 12u);
  EXPECT_EQ(limit("-1").status().message(),
            "invalid parameter \"limit\": limit must be non-negative");
  for (const auto* bad : {"x", "1.5", "1e3", "99999999999999999999"}) {
    EXPECT_THAT(limit(bad).status().message(), HasSubstr("invalid parameter \"limit\"")) << bad;
  }
}

TEST(ApiParameters, MatchersAreSeriesSelectorsThatSelectSomething) {
  const auto sets = matcher_parameters(
      {{"match[]", "gpu_power_watts"}, {"other", "!"}, {"match[]", "{uuid=~\"GPU-.*\",fan=\"\"}"}});
  ASSERT_TRUE(sets.ok()) << sets.status().message();
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[0][0].value, "gpu_power_watts");
  EXPECT_EQ((*sets)[1].size(), 2u);
  for (const auto* bad : {"", "{}", "{fan=\"\"}", "{fan=~\".*\"}", "up offset 5m", "up @ 5",
                          "up[5m]", "1", "sum(up)", "up{", "up or down"}) {
    EXPECT_EQ(matcher_parameters({{"match[]", bad}}).status().code(), Code::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace gpusight::serve
