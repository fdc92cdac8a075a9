#include "store/head_restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/history_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAreArray;
using testing::IsEmpty;

// What a head of now would have, had there been no restart.
std::unique_ptr<Head> restored(const RecordedMachine& machine, Duration later = {},
                               Duration span = minutes(10)) {
  auto head = std::make_unique<Head>(Head::Options{.span = span});
  const WallTime wall = machine.ticks.current().wall + later;
  const Status status =
      restore_head(*head, *machine.history, machine.ticks.mono() + later, wall, span);
  EXPECT_TRUE(status.ok()) << status.message();
  return head;
}

// A minute of a machine of which everything can be seen: a fast reading that goes stale and comes
// back, one that is absent for a while, a slow one, one of the host, a device that goes.
void play(RecordedMachine& machine) {
  model::Value clock;
  model::Value limit;
  for (int second = 0; second < 60; ++second) {
    machine.ticks.next();
    const model::Value now = machine.ticks.fresh(second);
    if (second < 20 || second >= 25) clock = now;
    if (second % 10 == 3) limit = now;
    model::Samples& samples = machine.ticks.device("GPU-a");
    samples.push_back(
        {MetricId::kGpuPower, "",
         second >= 30 && second < 40 ? model::Value::absent(model::Reason::kDriverError) : now});
    samples.push_back({MetricId::kGpuClock, "sm",
                       second >= 20 && second < 25 ? clock.stale(model::Reason::kStale) : clock});
    samples.push_back({MetricId::kGpuPowerLimit, "", limit});
    std::ranges::sort(samples, {},
                      [](const model::Sample& s) { return std::pair(s.metric, s.label); });
    if (second < 45) {
      machine.ticks.device("GPU-b").push_back({MetricId::kGpuPower, "", now});
    }
    machine.publish();
  }
}

TEST(HeadRestore, IsWhatTheHeadWasBeforeTheRestart) {
  RecordedMachine machine;
  play(machine);
  const Series before = read(*machine.head);
  ASSERT_EQ(before.size(), 4U);
  machine.restart();
  EXPECT_THAT(read(*machine.head), IsEmpty());
  Series after = read(*restored(machine));
  for (const auto& [labels, points] : before) {
    EXPECT_THAT(after[labels], ElementsAreArray(points)) << labels;
  }
  EXPECT_EQ(after.size(), before.size());
}

TEST(HeadRestore, WhatIsOlderThanTheSpanStaysOnDisk) {
  RecordedMachine machine;
  play(machine);
  machine.restart();
  const auto later = restored(machine, minutes(9) + seconds(30));
  const Series read_back = read(*later, {model::equal_matcher("uuid", "GPU-a"),
                                         model::equal_matcher("__name__", "gpu_clock_hertz")});
  ASSERT_EQ(read_back.size(), 1U);
  EXPECT_EQ(read_back.begin()->second.front().time_ms, kStartMs + 31'000);
  EXPECT_THAT(read(*restored(machine, minutes(30))), IsEmpty());
}

// The clock was set back while the program did not run: what is recorded of "later" would hold back
// what comes now.
TEST(HeadRestore, WhatWasRecordedOfTheFutureStaysOut) {
  RecordedMachine machine;
  play(machine);
  machine.restart();
  const auto earlier = restored(machine, -seconds(30));
  for (const auto& [labels, points] : read(*earlier)) {
    EXPECT_LE(points.back().time_ms, kStartMs + 30'000) << labels;
  }
}

TEST(HeadRestore, ItGoesOnWithTheNextTick) {
  RecordedMachine machine;
  for (int i = 0; i < 5; ++i) machine.celsius(40 + i);
  machine.restart();
  const auto head = restored(machine, seconds(3));
  machine.ticks.next(seconds(3));
  machine.ticks.device("GPU-a").push_back({MetricId::kGpuTemperature, "", machine.ticks.fresh(50)});
  head->append(machine.ticks.current());
  const Points points = read_one(*head, kTemperature);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points.back(), (Point{kStartMs + 8000, 50}));
}

}  // namespace
}  // namespace gpusight::store
