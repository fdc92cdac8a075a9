#include "store/head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "store/head_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using model::Reason;
using model::Value;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::string kLimit = R"({__name__="gpu_power_limit_watts",uuid="GPU-a"})";
const double kStale = model::stale_marker();

TEST(Head, IsEmptyAtFirst) {
  const Head head;
  EXPECT_THAT(read(head), IsEmpty());
  EXPECT_THAT(head.groups(), IsEmpty());
  EXPECT_EQ(head.footprint().packed_bytes, 0u);
}

TEST(Head, SeriesAreNamedByMetricRowLabelAndUuid) {
  Head head;
  Ticks ticks;
  model::Snapshot& snapshot = ticks.next();
  ticks.device("GPU-a") = {{MetricId::kGpuTemperature, "", ticks.fresh(41)},
                           {MetricId::kGpuClock, "memory", ticks.fresh(2619e6)},
                           {MetricId::kGpuClock, "sm", ticks.fresh(1980e6)}};
  snapshot.host = {{MetricId::kHostLoad1, "", ticks.fresh(0.25)},
                   {MetricId::kHostDiskRead, "nvme0n1", ticks.fresh(512)}};
  snapshot.self = {{MetricId::kSelfTicks, "", ticks.fresh(1)}};
  head.append(snapshot);
  const int64_t at = ticks.wall_ms();
  EXPECT_THAT(
      read(head),
      ElementsAre(
          Pair(R"({__name__="gpu_clock_hertz",clock="memory",uuid="GPU-a"})", Points{{at, 2619e6}}),
          Pair(R"({__name__="gpu_clock_hertz",clock="sm",uuid="GPU-a"})", Points{{at, 1980e6}}),
          Pair(std::string(kTemperature), Points{{at, 41}}),
          Pair(R"({__name__="gpusight_ticks_total"})", Points{{at, 1}}),
          Pair(R"({__name__="host_disk_read_bytes_total",disk="nvme0n1"})", Points{{at, 512}}),
          Pair(R"({__name__="host_load1"})", Points{{at, 0.25}})));
  EXPECT_EQ(head.footprint().series, 6u);
  EXPECT_EQ(head.footprint().samples, 6u);
}

TEST(Head, EveryMetricComesBackExactlyFromItsLowestToItsHighestNumber) {
  Head head;
  Ticks ticks;
  std::map<std::string, Points> expected;
  for (int tick = 0; tick < 8; ++tick) {
    model::Snapshot& snapshot = ticks.next();
    model::Samples* subjects[] = {&ticks.device("GPU-a"), &snapshot.host, &snapshot.self};
    for (const catalog::MetricRow& row : catalog::metrics()) {
      const double largest = row.resolution.as_double() * 9007199254740992.0;
      const double low = std::max(row.min, -largest);
      const double high = std::min(row.max, largest);
      const double wanted[] = {low, high, low, low, (low + high) / 3, high, high, -low};
      const double number = catalog::value_of(row, *catalog::quantize(row, wanted[tick]));
      const std::string label = row.label.empty() ? "" : "x";
      subjects[static_cast<size_t>(row.scope)]->push_back({row.id, label, ticks.fresh(number)});
      model::Labels labels = {{"__name__", std::string(row.name)}};
      if (!label.empty()) labels.emplace_back(row.label, label);
      if (row.scope == catalog::Scope::kDevice) labels.emplace_back("uuid", "GPU-a");
      std::ranges::sort(labels);
      expected[text_of(labels)].push_back({ticks.wall_ms(), number});
    }
    head.append(snapshot);
  }
  EXPECT_EQ(read(head), expected);
}

TEST(Head, AnAbsentValueLeavesAStaleMarkerInEachTickItsSubjectWasRead) {
  TemperatureHead t;
  const Points expected = {{t.celsius(40), 40},
                           {t.tick(Value::absent(Reason::kBusy)), kStale},
                           {t.tick(), kStale},  // not even named
                           {t.celsius(41), 41}};
  EXPECT_EQ(t.points(), expected);
  EXPECT_EQ(t.head.footprint().samples, 4u);
}

TEST(Head, AStaleValueLeavesAGap) {
  TemperatureHead t;
  const int64_t first = t.celsius(40);
  t.tick(t.ticks.fresh(40).stale(Reason::kBusy));
  const Points expected = {{first, 40}, {t.celsius(41), 41}};
  EXPECT_EQ(t.points(), expected);
  const std::vector<HeadGroup> groups = t.head.groups();
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].times_ms.size(), 3u);
  EXPECT_TRUE(std::isnan(groups[0].series[0].values[1]));
}

TEST(Head, WhatWasNeverThereMakesNoSeries) {
  TemperatureHead t;
  t.tick(Value::absent(Reason::kNotSupported));
  t.tick(t.ticks.fresh(5).stale(Reason::kStale));
  EXPECT_EQ(t.head.footprint().series, 0u);
  EXPECT_THAT(read(t.head), IsEmpty());
}

TEST(Head, PartsEndWhenTheirMetricGoesAbsentAsAWhole) {
  Head head;
  Ticks ticks;
  model::Snapshot& first = ticks.next();
  ticks.device("GPU-a") = {{MetricId::kGpuFanSpeed, "0", ticks.fresh(0.3)},
                           {MetricId::kGpuFanSpeed, "1", ticks.fresh(0.4)}};
  head.append(first);
  const int64_t first_ms = ticks.wall_ms();
  model::Snapshot& second = ticks.next();
  ticks.device("GPU-a") = {{MetricId::kGpuFanSpeed, "", Value::absent(Reason::kNoPermission)}};
  head.append(second);
  const int64_t second_ms = ticks.wall_ms();
  EXPECT_THAT(read(head),
              ElementsAre(Pair(R"({__name__="gpu_fan_speed_ratio",fan="0",uuid="GPU-a"})",
                               Points{{first_ms, 0.3}, {second_ms, kStale}}),
                          Pair(R"({__name__="gpu_fan_speed_ratio",fan="1",uuid="GPU-a"})",
                               Points{{first_ms, 0.4}, {second_ms, kStale}})));
}

TEST(Head, WindowsAreOpenOnTheLeftAndClosedOnTheRight) {
  TemperatureHead t;
  std::vector<int64_t> at;
  at.reserve(5);
  for (int i = 0; i < 5; ++i) at.push_back(t.celsius(i));
  const Series some = read(t.head, {}, at[1], at[3]);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some.begin()->second, (Points{{at[2], 2}, {at[3], 3}}));
  EXPECT_THAT(read(t.head, {}, at[4], at[4] + 1000), IsEmpty());
  EXPECT_THAT(read(t.head, {}, 0, at[0] - 1), IsEmpty());
  EXPECT_THAT(read(t.head, {}, at[3], at[2]), IsEmpty());
}

TEST(Head, ASlowReadingIsRecordedOnceHoweverOftenItIsShown) {
  Head head;
  Ticks ticks;
  Points expected;
  Value limit;
  for (int tick = 0; tick < 30; ++tick) {
    model::Snapshot& snapshot = ticks.next();
    if (tick % 10 == 0) {
      limit = ticks.fresh(700);
      expected.push_back({ticks.wall_ms(), 700});
    }
    ticks.device("GPU-a") = {{MetricId::kGpuTemperature, "", ticks.fresh(40)},
                             {MetricId::kGpuPowerLimit, "", limit}};
    head.append(snapshot);
  }
  EXPECT_EQ(read_one(head, kLimit), expected);
  const std::vector<HeadGroup> groups = head.groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].times_ms.size(), 30u);
  EXPECT_EQ(groups[1].times_ms.size(), 3u);
}

TEST(Head, ASlowSeriesThatGoesAbsentIsMarkedOnceAtThatTick) {
  Head head;
  Ticks ticks;
  const auto tick = [&](Value limit, Value replays) {
    model::Snapshot& snapshot = ticks.next();
    ticks.device("GPU-a") = {{MetricId::kGpuPowerLimit, "", limit},
                             {MetricId::kGpuPcieReplays, "", replays}};
    head.append(snapshot);
    return ticks.wall_ms();
  };
  const auto just_read = [&](double number) {
    return Value::fresh(number, ticks.mono() + seconds(1), {}, 1);
  };
  const Value limit = just_read(700);
  const Value replays = just_read(3);
  const int64_t first = tick(limit, replays);
  const int64_t gone = tick(Value::absent(Reason::kDriverError), replays);
  tick(Value::absent(Reason::kDriverError), replays);
  tick(Value::absent(Reason::kDriverError), replays.stale(Reason::kStale));
  const int64_t back = tick(just_read(650), replays);
  EXPECT_EQ(read_one(head, kLimit), (Points{{first, 700}, {gone, kStale}, {back, 650}}));
  // The other series was not read again, so it has no samples at those times; views see it stand.
  EXPECT_EQ(read_one(head, R"({__name__="gpu_pcie_replays_total",uuid="GPU-a"})"),
            (Points{{first, 3}}));
  const std::vector<HeadGroup> groups = head.groups(gone);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].times_ms, ElementsAre(back));
  ASSERT_EQ(groups[0].series.size(), 2u);
  EXPECT_EQ(groups[0].series[1].metric, MetricId::kGpuPcieReplays);
  EXPECT_THAT(groups[0].series[1].values, ElementsAre(3));
}

TEST(Head, AnUnchangedSlowReadingShowsThroughBlocksOfItsGroup) {
  Head head;
  Ticks ticks;
  const Value limit = Value::fresh(700, ticks.mono(), {}, 1);
  for (int i = 0; i < 500; ++i) {
    model::Snapshot& snapshot = ticks.next();
    ticks.device("GPU-a") = {{MetricId::kGpuPowerLimit, "", limit},
                             {MetricId::kGpuPcieReplays, "", ticks.fresh(i)}};
    head.append(snapshot);
  }
  const std::vector<HeadGroup> groups = head.groups(ticks.wall_ms() - 1500);
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].series.size(), 2u);
  EXPECT_THAT(groups[0].series[0].values, ElementsAre(700, 700));
  EXPECT_THAT(groups[0].series[1].values, ElementsAre(498, 499));
  EXPECT_EQ(read_one(head, kLimit).size(), 1u);
}

TEST(Head, ADeviceThatDisappearsEndsOnceAndComesBackUnderTheSameName) {
  TemperatureHead t;
  const int64_t first = t.celsius(40);
  const int64_t gone = t.without_device();
  t.without_device();
  t.without_device();
  const int64_t back = t.celsius(30);
  EXPECT_EQ(t.points(), (Points{{first, 40}, {gone, kStale}, {back, 30}}));
  const int64_t gone_again = t.without_device();
  EXPECT_EQ(t.points().back(), (Point{gone_again, kStale}));
}

TEST(Head, ADeviceThatStaysAwayAgesOut) {
  TemperatureHead t;
  t.celsius(40);
  for (int i = 0; i < 600; ++i) t.without_device();
  EXPECT_EQ(t.head.footprint().series, 1u);
  for (int i = 0; i < 121; ++i) t.without_device();
  EXPECT_EQ(t.head.footprint().series, 0u);
  EXPECT_EQ(t.head.footprint().samples, 0u);
  EXPECT_THAT(read(t.head), IsEmpty());
  EXPECT_THAT(t.head.groups(), IsEmpty());
}

TEST(Head, ASeriesThatOnlyIsAbsentIsForgottenThoughItsSubjectLivesOn) {
  Head head;
  Ticks ticks;
  for (int i = 0; i < 800; ++i) {
    model::Snapshot& snapshot = ticks.next();
    model::Samples& samples = ticks.device("GPU-a");
    samples.push_back({MetricId::kGpuUp, "", ticks.fresh(1)});
    if (i < 10) samples.push_back({MetricId::kGpuTemperature, "", ticks.fresh(40)});
    head.append(snapshot);
    if (i == 600) {
      EXPECT_EQ(head.footprint().series, 2u);
    }
  }
  EXPECT_EQ(head.footprint().series, 1u);
  EXPECT_EQ(read(head).size(), 1u);
}

TEST(Head, ADeviceNamedTwiceInATickCountsOnce) {
  Head head;
  Ticks ticks;
  for (int i = 0; i < 3; ++i) {
    model::Snapshot& snapshot = ticks.next();
    ticks.device("GPU-a") = {{MetricId::kGpuTemperature, "", ticks.fresh(40)}};
    ticks.device("GPU-a") = {{MetricId::kGpuTemperature, "", ticks.fresh(50)}};
    head.append(snapshot);
  }
  const Points points = read_one(head, kTemperature);
  EXPECT_EQ(points.size(), 3u);
  EXPECT_EQ(points.back().value, 40);
  EXPECT_EQ(head.dropped_samples(), 0u);
}

TEST(Head, SeriesBeyondTheBoundAreRefusedAndCounted) {
  Head head({.max_series = 3});
  Ticks ticks;
  for (int i = 0; i < 2; ++i) {
    model::Snapshot& snapshot = ticks.next();
    ticks.device("GPU-a") = {{MetricId::kGpuUp, "", ticks.fresh(1)},
                             {MetricId::kGpuTemperature, "", ticks.fresh(40)}};
    ticks.device("GPU-b") = {{MetricId::kGpuUp, "", ticks.fresh(1)},
                             {MetricId::kGpuTemperature, "", ticks.fresh(40)}};
    snapshot.host = {{MetricId::kHostLoad1, "", ticks.fresh(1)}};
    head.append(snapshot);
  }
  EXPECT_EQ(head.footprint().series, 3u);
  EXPECT_EQ(head.refused_series(), 4u);
  EXPECT_EQ(read(head).size(), 3u);
  EXPECT_EQ(read_one(head, kTemperature).size(), 2u);  // the known ones go on
}

TEST(Head, NumbersBeyondWhatADoubleCountsExactlyAreDroppedAndCounted) {
  TemperatureHead t;
  t.celsius(40);
  t.celsius(1e300);
  EXPECT_EQ(t.head.dropped_samples(), 1u);
  EXPECT_TRUE(model::is_stale_marker(t.points().back().value));
}

// As an engine hands over a compiled pattern: the head only ever calls `accepts`.
model::Matcher pattern_matcher(std::string name, std::function<bool(std::string_view)> accepts) {
  return {.name = std::move(name),
          .kind = model::Matcher::Kind::kRegex,
          .value = "a pattern",
          .accepts = std::move(accepts)};
}

class HeadMatching : public testing::Test {
 protected:
  void SetUp() override {
    model::Snapshot& snapshot = ticks_.next();
    for (const char* uuid : {"GPU-b", "GPU-a"}) {
      ticks_.device(uuid) = {{MetricId::kGpuTemperature, "", ticks_.fresh(41)},
                             {MetricId::kGpuClock, "memory", ticks_.fresh(2619e6)},
                             {MetricId::kGpuClock, "sm", ticks_.fresh(1980e6)},
                             {MetricId::kGpuPowerLimit, "", ticks_.fresh(700)}};
    }
    snapshot.host = {{MetricId::kHostLoad1, "", ticks_.fresh(0.25)}};
    head_.append(snapshot);
  }
  size_t count(std::vector<model::Matcher> matchers) {
    return read(head_, std::move(matchers)).size();
  }

  Head head_;
  Ticks ticks_;
};

TEST_F(HeadMatching, MatchersOfEveryKindChoose) {
  using model::equal_matcher;
  model::Matcher not_a = equal_matcher("uuid", "GPU-a");
  not_a.kind = model::Matcher::Kind::kNotEqual;
  not_a.accepts = [](std::string_view text) { return text != "GPU-a"; };
  EXPECT_EQ(count({}), 9u);
  EXPECT_EQ(count({equal_matcher("__name__", "gpu_clock_hertz")}), 4u);
  EXPECT_EQ(count({equal_matcher("__name__", "gpu_power_limit_watts")}), 2u);
  EXPECT_EQ(count({equal_matcher("__name__", "gpu_clock_hertz"), equal_matcher("clock", "sm")}),
            2u);
  EXPECT_EQ(count({equal_matcher("__name__", "no_such_metric")}), 0u);
  EXPECT_EQ(count({equal_matcher("uuid", "GPU-a")}), 4u);
  EXPECT_EQ(count({not_a}), 5u);  // the host's has no uuid
  EXPECT_EQ(count({equal_matcher("uuid", "")}), 1u);
  EXPECT_EQ(count({equal_matcher("clock", "")}), 5u);
  const auto ends_in_hertz_or_celsius = [](std::string_view text) {
    return text.ends_with("_hertz") || text.ends_with("_celsius");
  };
  EXPECT_EQ(count({pattern_matcher("__name__", ends_in_hertz_or_celsius)}), 6u);
  EXPECT_EQ(count({pattern_matcher("clock", &std::string_view::empty)}), 5u);
  EXPECT_EQ(count({equal_matcher("host", "elsewhere")}), 0u);
  EXPECT_EQ(count({equal_matcher("host", "")}), 9u);
}

TEST_F(HeadMatching, LabelNamesAndValuesAreSortedAndUnique) {
  const int64_t now = ticks_.wall_ms();
  EXPECT_THAT(*head_.label_names({}, now, now, {}), ElementsAre("__name__", "clock", "uuid"));
  EXPECT_THAT(*head_.label_values("uuid", {}, now, now, {}), ElementsAre("GPU-a", "GPU-b"));
  const model::Matcher host[] = {model::equal_matcher("__name__", "host_load1")};
  EXPECT_THAT(*head_.label_names(host, 0, INT64_MAX, {}), ElementsAre("__name__"));
  EXPECT_THAT(*head_.label_values("uuid", host, 0, INT64_MAX, {}), IsEmpty());
  EXPECT_THAT(*head_.label_values("clock", {}, INT64_MIN, INT64_MAX, {}),
              ElementsAre("memory", "sm"));
  EXPECT_THAT(*head_.label_names({}, now + 1, now + 2, {}), IsEmpty());
  EXPECT_THAT(*head_.label_names({}, 0, now - 1, {}), IsEmpty());
}

TEST_F(HeadMatching, TheAnswerIsRawAndSaysSo) {
  const auto set = head_.select({}, {.end_ms = INT64_MAX}, {});
  EXPECT_EQ((*set)->tier(), "raw");
  EXPECT_EQ((*set)->resolution_ms(), 0);
}

TEST_F(HeadMatching, StopsWhenAskedToAtOnceOrHalfway) {
  std::stop_source stop;
  const auto set = head_.select({}, {.end_ms = INT64_MAX}, stop.get_token());
  ASSERT_TRUE(set.ok());
  ASSERT_TRUE((*set)->next().ok());
  stop.request_stop();
  EXPECT_EQ((*set)->next().status().code(), Code::kCancelled);
  EXPECT_EQ(head_.select({}, {.end_ms = INT64_MAX}, stop.get_token()).status().code(),
            Code::kCancelled);
}

TEST(Head, WhatWasSelectedStaysAsItWasAndOutlivesTheHead) {
  auto t = std::make_unique<TemperatureHead>();
  Points expected;
  for (int i = 0; i < 200; ++i) expected.push_back({t->celsius(i % 80), double(i % 80)});
  const auto set = t->head.select({}, {.end_ms = INT64_MAX}, {});
  for (int i = 0; i < 3000; ++i) t->celsius(1);
  t.reset();
  EXPECT_EQ(read_set(**set), (Series{{std::string(kTemperature), expected}}));
}

TEST(Head, GroupsComeDeviceByDeviceThenHostThenSelf) {
  Head head;
  Ticks ticks;
  model::Snapshot& snapshot = ticks.next();
  snapshot.self = {{MetricId::kSelfTicks, "", ticks.fresh(1)}};
  snapshot.host = {{MetricId::kHostLoad1, "", ticks.fresh(1)}};
  ticks.device("GPU-b") = {{MetricId::kGpuUp, "", ticks.fresh(1)}};
  ticks.device("GPU-a") = {{MetricId::kGpuPowerLimit, "", ticks.fresh(700)},
                           {MetricId::kGpuUp, "", ticks.fresh(1)}};
  head.append(snapshot);
  std::vector<std::string> subjects;
  for (const HeadGroup& group : head.groups()) subjects.push_back(group.subject);
  EXPECT_THAT(subjects, ElementsAre("GPU-a", "GPU-a", "GPU-b", "host", "self"));
  EXPECT_THAT(head.groups(ticks.wall_ms()), IsEmpty());
}

}  // namespace
}  // namespace gpusight::store
