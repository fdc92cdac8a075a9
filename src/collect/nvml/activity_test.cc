// Activity of a GPU's units, and the shares of its processes, on a fake library.
#include "base/log.h"
#include "collect/nvml/gpm_reader.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;
using model::Reason;
using std::chrono::milliseconds;
using std::chrono::seconds;

class NvmlActivity : public TestMachine {
 protected:
  FakeGpu& gpu() { return fake_.gpus[0]; }
};

TEST_F(NvmlActivity, IsAMeanBetweenTwoReadings) {
  gpu().has_gpm = true;
  gpu().gpm = {{1, 97.5}, {2, 88}, {3, 41.25}, {5, 60}, {10, 35}, {11, 0}, {12, 20},
               {13, 1},   {7, 55}, {20, 3},    {21, 4}, {60, 5},  {61, 6}, {30, 12}};
  open();
  fast();
  EXPECT_EQ(reason(kGpuSmActivity), Reason::kWarmingUp);
  tick();
  EXPECT_EQ(number(kGpuGraphicsActivity), 0.975);
  EXPECT_EQ(number(kGpuSmActivity), 0.88);
  EXPECT_EQ(number(kGpuSmOccupancy), 0.4125);
  EXPECT_EQ(number(kGpuTensorActivity), 0.6);
  EXPECT_EQ(number(kGpuTensorPipeActivity, "hmma"), 0.55);
  EXPECT_EQ(number(kGpuDramActivity), 0.35);
  EXPECT_EQ(number(kGpuFp64Activity), 0);
  EXPECT_EQ(number(kGpuPcieTransmitMean), 3.0 * 1024 * 1024);
  EXPECT_EQ(number(kGpuPcieReceiveMean), 4.0 * 1024 * 1024);
  EXPECT_EQ(number(kGpuNvlinkReceiveMean), 5.0 * 1024 * 1024);
  EXPECT_EQ(number(kGpuNvlinkTransmitMean), 6.0 * 1024 * 1024);
  EXPECT_EQ(number(kGpuMediaActivity, "nvdec0"), 0.12);
  EXPECT_EQ(value(kGpuSmActivity)->window(), seconds(1));
}

// FAULT-014
TEST_F(NvmlActivity, AMetricThatFailsIsAbsentAndNotZero) {
  gpu().has_gpm = true;
  gpu().gpm = {{2, 88}};
  open();
  fast();
  tick();
  EXPECT_EQ(number(kGpuSmActivity), 0.88);
  EXPECT_EQ(reason(kGpuTensorActivity), Reason::kDriverError);
  EXPECT_EQ(number(kGpuUtilization), 0.5);
}

TEST_F(NvmlActivity, AfterAFailureTheNextReadingComparesNothing) {
  gpu().has_gpm = true;
  gpu().gpm = {{2, 88}};
  open();
  fast();
  tick();
  fake_.forced["nvmlGpmSampleGet"] = Return::kUnknown;
  tick();
  EXPECT_EQ(reason(kGpuSmActivity), Reason::kDriverError);
  fake_.forced.clear();
  tick();
  EXPECT_EQ(reason(kGpuSmActivity), Reason::kWarmingUp);
  tick();
  EXPECT_EQ(number(kGpuSmActivity), 0.88);
}

TEST_F(NvmlActivity, BoardsThatHaveNoneCostNothing) {
  open();
  fast();
  for (int i = 0; i < 5; ++i) tick();
  EXPECT_EQ(reason(kGpuSmActivity), Reason::kNotSupported);
  EXPECT_EQ(fake_.calls("nvmlGpmQueryDeviceSupport"), 1);
  EXPECT_EQ(fake_.calls("nvmlGpmSampleAlloc"), 0);
}

// FAULT-015, FAULT-065
TEST_F(NvmlActivity, OfAnInstanceIsItsOwnUnlessItSharesItsPart) {
  gpu().has_gpm = true;
  gpu().mig_mode = 1;
  gpu().gpm = {{2, 50}};
  gpu().instances = {{.uuid = "MIG-a", .gpu_instance = 1},
                     {.uuid = "MIG-b", .gpu_instance = 2},
                     {.uuid = "MIG-c", .gpu_instance = 2, .compute_instance = 1}};
  gpu().instance_gpm = {{{1, 2}, 75}, {{1, 3}, 30}, {{2, 2}, 20}};
  open();
  fast();
  slow();
  EXPECT_EQ(reason(kGpuSmActivity, "MIG-a"), Reason::kWarmingUp);
  clock_.advance(seconds(10));
  EXPECT_EQ(slow(), Verdict::kGood);
  EXPECT_EQ(number(kGpuSmActivity, "", "MIG-a"), 0.75);
  EXPECT_EQ(number(kGpuSmOccupancy, "", "MIG-a"), 0.3);
  EXPECT_EQ(value(kGpuSmActivity, "", "MIG-a")->window(), seconds(10));
  EXPECT_EQ(reason(kGpuTensorActivity, "MIG-a"), Reason::kDriverError);
  EXPECT_EQ(reason(kGpuSmActivity, "MIG-b"), Reason::kNotSupported);
  EXPECT_EQ(reason(kGpuSmActivity, "MIG-c"), Reason::kNotSupported);
  fast();
  EXPECT_EQ(number(kGpuSmActivity), 0.5);
  EXPECT_EQ(fake_.gpm_samples, 4);
  opened_.generation.reset();
  EXPECT_EQ(fake_.gpm_samples, 0);
}

TEST_F(NvmlActivity, WhatOneInstanceLacksIsStillAskedOfAnother) {
  gpu().has_gpm = true;
  gpu().gpm_missing = Return::kNotSupported;
  gpu().mig_mode = 1;
  gpu().instances = {{.uuid = "MIG-a", .gpu_instance = 1}, {.uuid = "MIG-b", .gpu_instance = 2}};
  gpu().instance_gpm = {{{1, 2}, 75}, {{2, 2}, 20}, {{2, 30}, 40}};
  open();
  for (int i = 0; i < 4; ++i) {
    slow();
    clock_.advance(seconds(10));
  }
  EXPECT_EQ(number(kGpuSmActivity, "", "MIG-a"), 0.75);
  EXPECT_EQ(reason(kGpuMediaActivity, "MIG-a"), Reason::kNotSupported);
  EXPECT_EQ(number(kGpuMediaActivity, "nvdec0", "MIG-b"), 0.4);
}

TEST_F(NvmlActivity, ANumberOfANewerDriverIsAskedFromThatDriverOn) {
  gpu().has_gpm = true;
  gpu().gpm = {{50, 10}, {51, 20}, {166, 30}};
  fake_.driver = "560.28.03";
  open();
  fast();
  tick();
  EXPECT_EQ(number(kGpuMediaActivity, "nvofa0"), 0.1);
  EXPECT_EQ(number(kGpuMediaActivity, "nvofa1"), 0.2);
  EXPECT_EQ(number(kGpuMediaActivity, "nvenc0"), std::nullopt);
}

// FAULT-053, FAULT-086
TEST_F(NvmlActivity, WhatTheLibraryAllocatedIsFreedWithTheGeneration) {
  gpu().has_gpm = true;
  open();
  fast();
  EXPECT_EQ(fake_.gpm_samples, 2);
  opened_.generation.reset();
  EXPECT_EQ(fake_.gpm_samples, 0);
}

class NvmlShares : public NvmlActivity {
 protected:
  NvmlShares() {
    gpu().compute = {
        {.pid = 1001, .gpu_instance = kNotAMigInstance, .compute_instance = kNotAMigInstance},
        {.pid = 1002, .gpu_instance = kNotAMigInstance, .compute_instance = kNotAMigInstance}};
  }
  void sample(uint64_t age_us, uint32_t pid, uint32_t sm, uint32_t memory = 0, uint32_t encoder = 0,
              uint32_t decoder = 0) {
    gpu().shares.push_back({.timestamp_us = wall_us() - age_us,
                            .pid = pid,
                            .sm = sm,
                            .memory = memory,
                            .encoder = encoder,
                            .decoder = decoder});
  }
  const model::Process& process(int64_t pid) {
    for (const model::Process& each : *subject("GPU-0")->processes) {
      if (each.pid == pid) return each;
    }
    ADD_FAILURE() << pid;
    return subject("GPU-0")->processes->at(0);
  }
};

TEST_F(NvmlShares, SpeakOfTheTimeSinceTheNewestSampleSeen) {
  open();
  sample(400'000, 1001, 60, 20, 5, 6);
  sample(400'000, 1002, 30);
  fast();
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0.6);
  EXPECT_EQ(process(1001).memory_utilization_ratio.number(), 0.2);
  EXPECT_EQ(process(1001).encoder_utilization_ratio.number(), 0.05);
  EXPECT_EQ(process(1001).decoder_utilization_ratio.number(), 0.06);
  EXPECT_EQ(process(1002).utilization_ratio.number(), 0.3);
  EXPECT_EQ(process(1001).utilization_ratio.window(), milliseconds(600));
  const uint64_t newest = wall_us() - 400'000;
  clock_.advance(seconds(1));
  sample(100'000, 1001, 80);
  sample(300'000, 1001, 60);
  fast();
  EXPECT_EQ(fake_.asked_since_us, newest);
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0.7);
  EXPECT_EQ(process(1001).utilization_ratio.window(), milliseconds(1300));
  EXPECT_EQ(process(1002).utilization_ratio.number(), 0);  // others were sampled, it was not
}

// FAULT-002, FAULT-003
TEST_F(NvmlShares, AProcessThatStoppedIsAtZeroWithinATick) {
  open();
  sample(50'000, 1001, 90);
  fast();
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0.9);
  clock_.advance(milliseconds(500));
  fast();  // the driver has not sampled again
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0.9);
  clock_.advance(milliseconds(600));
  fast();
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0);
  EXPECT_EQ(report_->implausible(), 0u);
}

// FAULT-001, FAULT-002
TEST_F(NvmlShares, GarbageIsDroppedAndCounted) {
  open();
  sample(400'000, 1001, 37100, 0, 50583);
  sample(400'000, 0, 50);
  sample(400'000, 4000, 20);           // not in the list: it is gone
  gpu().shares.push_back({.pid = 0});  // an unused entry of the ring
  gpu().shares.push_back({.timestamp_us = wall_us() + 3'600'000'000, .pid = 1002, .sm = 10});
  sample(300'000, 1002, 40);
  fast();
  EXPECT_EQ(process(1002).utilization_ratio.number(), 0.4);
  ASSERT_TRUE(process(1001).utilization_ratio.is_absent());
  EXPECT_EQ(process(1001).utilization_ratio.reason(), Reason::kImplausible);
  EXPECT_EQ(report_->implausible(), 3u);
  // The one from the future has not made us deaf.
  gpu().shares.clear();
  clock_.advance(seconds(1));
  sample(100'000, 1002, 50);
  fast();
  EXPECT_EQ(process(1002).utilization_ratio.number(), 0.5);
}

// FAULT-003
TEST_F(NvmlShares, AListThatGrewIsAskedForAgain) {
  open();
  fast();
  fake_.too_small_answers = 1;
  clock_.advance(seconds(1));
  for (uint32_t i = 0; i < 300; ++i) sample(400'000 - i, 1001, 50);
  fake_.too_small_answers = 0;
  fast();
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0.5);
}

TEST_F(NvmlShares, OlderDriversHaveTheShorterRows) {
  fake_.missing = {"nvmlDeviceGetProcessesUtilizationInfo"};
  open();
  sample(400'000, 1001, 60, 20, 5, 6);
  fast();
  EXPECT_EQ(process(1001).utilization_ratio.number(), 0.6);
  EXPECT_EQ(process(1001).decoder_utilization_ratio.number(), 0.06);
}

// FAULT-016
TEST_F(NvmlShares, TheDevicesFigureIsNobodysShare) {
  gpu().compute.push_back(
      {.pid = 1003, .gpu_instance = kNotAMigInstance, .compute_instance = kNotAMigInstance});
  gpu().utilization.gpu = 71;
  open();
  sample(300'000, 1001, 40);
  sample(300'000, 1002, 20);
  sample(300'000, 1003, 5);
  fast();
  double sum = 0;
  for (const model::Process& each : *subject("GPU-0")->processes) {
    ASSERT_TRUE(each.utilization_ratio.number());
    EXPECT_LT(*each.utilization_ratio.number(), 0.71);
    sum += *each.utilization_ratio.number();
  }
  EXPECT_NEAR(sum, 0.65, 1e-9);
  EXPECT_LE(sum, *number(catalog::MetricId::kGpuUtilization));
}

// FAULT-017
TEST_F(NvmlShares, WhatNoProcessExplainsIsAFigureOfItsOwn) {
  constexpr catalog::MetricId kRest = catalog::MetricId::kGpuUnattributedUtilization;
  gpu().utilization.gpu = 25;
  open();
  sample(300'000, 1001, 5);
  sample(300'000, 1002, 1);
  fast();
  EXPECT_EQ(number(catalog::MetricId::kGpuUtilization), 0.25);
  EXPECT_EQ(number(kRest), 0.19);
  sample(200'000, 1001, 60);  // of another window than the device's: nothing is left, not less
  tick();
  EXPECT_EQ(number(kRest), 0);
  gpu().compute.clear();
  tick();
  EXPECT_EQ(number(kRest), 0.25);
  gpu().compute = {
      {.pid = 1001, .gpu_instance = kNotAMigInstance, .compute_instance = kNotAMigInstance}};
  fake_.forced["nvmlDeviceGetProcessesUtilizationInfo"] = Return::kNoPermission;
  tick();
  EXPECT_EQ(reason(kRest), Reason::kNoPermission);  // one that is not known makes the rest unknown
  fake_.forced["nvmlDeviceGetComputeRunningProcesses_v3"] = Return::kUnknown;
  tick();
  EXPECT_EQ(reason(kRest), Reason::kDriverError);
}

TEST_F(NvmlShares, WhatCannotBeToldHasItsReason) {
  fake_.forced["nvmlDeviceGetProcessesUtilizationInfo"] = Return::kNoPermission;
  open();
  fast();
  EXPECT_EQ(process(1001).utilization_ratio.reason(), Reason::kNoPermission);
}

}  // namespace
}  // namespace gpusight::collect::nvml
