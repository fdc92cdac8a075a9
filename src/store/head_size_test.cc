// What the head promises in bytes, on the shape of a training machine.
#include <gtest/gtest.h>

#include <set>

#include "store/head.h"
#include "store/head_shape.h"

namespace gpusight::store {
namespace {

double bytes_a_sample(const Head& head) {
  const HeadFootprint footprint = head.footprint();
  return static_cast<double>(footprint.packed_bytes) / static_cast<double>(footprint.samples);
}

TEST(HeadSize, EightH100InTrainingStayBelowThreeBytesASampleWithMargin) {
  TrainingMachine machine({.gpus = 8});
  Head head;
  for (int tick = 0; tick < 800; ++tick) head.append(machine.next());
  const HeadFootprint footprint = head.footprint();
  EXPECT_EQ(footprint.series, 8u * 50);
  EXPECT_GT(footprint.samples, 8u * 40 * 600);
  EXPECT_LE(bytes_a_sample(head), 1.5);
  RecordProperty("bytes_a_sample", std::to_string(bytes_a_sample(head)));
}

// What stands still packs to nearly nothing and flatters the mean: without it, too.
TEST(HeadSize, EvenTheSeriesThatNeverRestStayBelowThreeBytesASample) {
  using Id = catalog::MetricId;
  const std::set<Id> restless = {Id::kGpuUtilization,
                                 Id::kGpuUtilizationMin,
                                 Id::kGpuMemoryUtilization,
                                 Id::kGpuMemoryUtilizationMin,
                                 Id::kGpuMemoryUtilizationMax,
                                 Id::kGpuPower,
                                 Id::kGpuPowerMin,
                                 Id::kGpuPowerMax,
                                 Id::kGpuPowerAverage,
                                 Id::kGpuPowerInstant,
                                 Id::kGpuEnergy};
  TrainingMachine machine({.gpus = 8});
  Head head;
  for (int tick = 0; tick < 800; ++tick) {
    model::Snapshot snapshot = machine.next();
    for (model::DeviceSnapshot& device : snapshot.devices) {
      std::erase_if(device.samples,
                    [&](const model::Sample& s) { return !restless.contains(s.metric); });
    }
    head.append(snapshot);
  }
  EXPECT_EQ(head.footprint().series, 8u * restless.size());
  EXPECT_LE(bytes_a_sample(head), 2.8);
  RecordProperty("bytes_a_sample", std::to_string(bytes_a_sample(head)));
}

TEST(HeadSize, TheOpenBlockAloneStaysBelowThreeBytesOnceItHasAMinute) {
  TrainingMachine machine({.gpus = 8});
  Head head;
  for (int tick = 0; tick < 60; ++tick) head.append(machine.next());
  EXPECT_LE(bytes_a_sample(head), 3.0);
}

TEST(HeadSize, TenTicksASecondPackNoWorse) {
  TrainingMachine machine({.gpus = 1, .tick = std::chrono::milliseconds(100)});
  Head head;
  for (int tick = 0; tick < 6500; ++tick) head.append(machine.next());
  EXPECT_LE(bytes_a_sample(head), 2.0);
}

TEST(HeadSize, StaysTheSameHoweverLongItRuns) {
  TrainingMachine machine({.gpus = 1});
  Head head;
  uint64_t largest_early = 0;
  uint64_t largest_late = 0;
  for (int tick = 0; tick < 3000; ++tick) {
    head.append(machine.next());
    uint64_t& largest = tick < 1500 ? largest_early : largest_late;
    largest = std::max(largest, head.footprint().packed_bytes);
  }
  EXPECT_LE(largest_late, largest_early * 11 / 10);
}

}  // namespace
}  // namespace gpusight::store
