// What the head keeps for how long, and what becomes of it when clocks are set.
#include <gtest/gtest.h>

#include "store/head.h"
#include "store/head_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using model::Value;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kLimit = R"({__name__="gpu_power_limit_watts",uuid="GPU-a"})";
const double kStale = model::stale_marker();

TEST(HeadTime, BlocksGoExactlyWhenTheirNewestRowIsOlderThanTheSpan) {
  // A block of ticks a second apart is 120 rows.
  TemperatureHead t;
  const int64_t first = t.celsius(0);
  for (int i = 1; i < 720; ++i) t.celsius(i % 100);
  // The newest row of the first block is exactly 600 s old now.
  EXPECT_EQ(t.points().size(), 720u);
  EXPECT_EQ(t.points().front().time_ms, first);
  t.celsius(1);
  EXPECT_EQ(t.points().size(), 601u);
  EXPECT_EQ(t.points().front().time_ms, first + 120'000);
}

TEST(HeadTime, KeepsAtLeastTheSpanAndAtMostAFifthMoreAtEveryTickLength) {
  for (const Duration tick : {Duration(milliseconds(100)), Duration(seconds(1)),
                              Duration(seconds(7)), Duration(seconds(60))}) {
    TemperatureHead t;
    for (Duration passed{}; passed < minutes(40); passed += tick) {
      t.celsius(50, tick);
      if (passed < minutes(12) || passed % seconds(30) != Duration{}) continue;
      const Duration kept = milliseconds(t.ticks.wall_ms() - t.points().front().time_ms);
      EXPECT_GE(kept + tick, minutes(10)) << gpusight::seconds(tick);
      EXPECT_LE(kept, minutes(12) + tick);
    }
  }
}

TEST(HeadTime, TenMinutesAtTenTicksASecondComeBackWhole) {
  TemperatureHead t;
  Points expected;
  for (int i = 0; i < 6000; ++i) {
    const double celsius = 40 + (i * 7919) % 31;
    expected.push_back({t.celsius(celsius, milliseconds(100)), celsius});
  }
  EXPECT_EQ(t.points(), expected);
  const std::vector<HeadGroup> groups = t.head.groups(expected[5989].time_ms);
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].times_ms.size(), 10u);
  EXPECT_EQ(groups[0].times_ms[0], expected[5990].time_ms);
  EXPECT_EQ(groups[0].series[0].values[9], expected[5999].value);
}

TEST(HeadTime, SettingTheClockForwardAgesNothing) {
  TemperatureHead t;
  const int64_t before = t.celsius(40);
  t.ticks.set_wall_forward(std::chrono::hours(24 * 365));
  const int64_t after = t.celsius(41);
  EXPECT_EQ(t.points(), (Points{{before, 40}, {after, 41}}));
}

TEST(HeadTime, SettingTheClockBackForgetsWhatBearsLaterTimesAndCountsIt) {
  TemperatureHead t;
  Points expected;
  for (int i = 0; i < 300; ++i) {
    const int64_t at = t.celsius(i % 90);
    if (i < 200) expected.push_back({at, double(i % 90)});
  }
  // The next tick is named as the one at 200 was: a hundred samples, of a sealed block and of the
  // open one, are in what is now the future.
  t.ticks.set_wall_back(seconds(100));
  expected.push_back({t.celsius(77), 77});
  EXPECT_EQ(t.points(), expected);
  EXPECT_EQ(t.head.dropped_samples(), 100u);
  expected.push_back({t.celsius(78), 78});
  EXPECT_EQ(t.points(), expected);
  EXPECT_EQ(t.head.dropped_samples(), 100u);
  EXPECT_EQ(t.head.footprint().samples, expected.size());
}

TEST(HeadTime, ClockSetBackBeforeAllThatIsKnownStartsAfresh) {
  TemperatureHead t;
  for (int i = 0; i < 300; ++i) t.celsius(40);
  t.ticks.set_wall_back(std::chrono::hours(5));
  const int64_t at = t.celsius(50);
  EXPECT_EQ(t.points(), (Points{{at, 50}}));
  EXPECT_EQ(t.head.dropped_samples(), 300u);
}

TEST(HeadTime, ATickThatBearsTheTimeOfTheOneBeforeReplacesIt) {
  TemperatureHead t;
  const int64_t first = t.celsius(40);
  const int64_t second = t.celsius(41);
  t.ticks.set_wall_back(seconds(1));
  EXPECT_EQ(t.celsius(42), second);
  EXPECT_EQ(t.points(), (Points{{first, 40}, {second, 42}}));
}

TEST(HeadTime, AClockThatJumpsBackAtEachTickStaysReadable) {
  TemperatureHead t;
  for (int i = 0; i < 2000; ++i) {
    t.celsius(i % 50);
    if (i % 3 == 0) t.ticks.set_wall_back(milliseconds(2500));
    if (i % 3 == 1) t.ticks.set_wall_forward(milliseconds(1900));
  }
  EXPECT_FALSE(t.points().empty());  // read_set() checks the order
}

TEST(HeadTime, SlowSeriesAndThoseOfAGoneDeviceAreSaidAgainAfterTheClockIsSetBack) {
  Head head;
  Ticks ticks;
  const Value limit = Value::fresh(700, ticks.mono(), {}, 1);
  const auto tick = [&](bool gone) {
    model::Snapshot& snapshot = ticks.next();
    ticks.device("GPU-a") = {{MetricId::kGpuPowerLimit, "", limit}};
    if (!gone) ticks.device("GPU-b") = {{MetricId::kGpuTemperature, "", ticks.fresh(40)}};
    head.append(snapshot);
    return ticks.wall_ms();
  };
  tick(false);
  const int64_t kept = tick(false);
  tick(true);
  ticks.set_wall_back(milliseconds(1500));  // the next tick comes before the marker
  const int64_t again = tick(true);
  EXPECT_EQ(read_one(head, R"({__name__="gpu_temperature_celsius",uuid="GPU-b"})").back(),
            (Point{again, kStale}));
  ticks.set_wall_back(minutes(1));
  const int64_t anew = tick(true);
  EXPECT_LT(anew, kept);
  EXPECT_EQ(read_one(head, kLimit), (Points{{anew, 700}}));
}

}  // namespace
}  // namespace gpusight::store
