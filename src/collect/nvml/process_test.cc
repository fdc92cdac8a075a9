// Processes of devices, and MIG, on a fake library.
#include <malloc.h>

#include <algorithm>

#include "collect/nvml/fast_lane.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Process;
using model::Reason;

constexpr unsigned kNoInstance = kNotAMigInstance;

class NvmlProcesses : public TestMachine {
 protected:
  const std::vector<Process>& processes(const std::string& uuid = "GPU-0") {
    static const std::vector<Process> kNone;
    const Report::Subject* about = subject(uuid);
    return about != nullptr && about->processes ? *about->processes : kNone;
  }
  void give_two() {
    fake_.gpus[0].compute = {{1001, 1'000'000'000, kNoInstance, kNoInstance},
                             {1002, 2'000'000'000, kNoInstance, kNoInstance}};
  }
  void expect_two() {
    ASSERT_EQ(processes().size(), 2u);
    EXPECT_EQ(processes()[0].pid, 1001);
    EXPECT_EQ(processes()[0].memory_bytes.number(), 1e9);
    EXPECT_EQ(processes()[1].pid, 1002);
    EXPECT_EQ(processes()[1].memory_bytes.number(), 2e9);
    EXPECT_EQ(number(MetricId::kGpuProcesses), 2);
  }
};

// FAULT-005, FAULT-045
TEST_F(NvmlProcesses, RowsOfEveryLengthAreReadRight) {
  give_two();
  for (const size_t row_bytes : {24, 32}) {
    SCOPED_TRACE(row_bytes);
    fake_.row_bytes = row_bytes;
    open();
    fast();
    expect_two();
    EXPECT_EQ(processes()[0].gpu_instance, std::nullopt);
  }
}

// FAULT-005
TEST_F(NvmlProcesses, WithoutTheNewestListTheOneBeforeIsUsed) {
  give_two();
  fake_.missing = {"nvmlDeviceGetComputeRunningProcesses_v3"};
  open();
  fast();
  expect_two();
  fake_.missing.insert("nvmlDeviceGetComputeRunningProcesses_v2");
  open();
  fast();
  expect_two();
}

// FAULT-045
TEST(NvmlRowLength, IsInferredFromWhatWasWritten) {
  const auto written = [](size_t bytes) {
    std::vector<uint8_t> buffer(64 * 32, kUnwritten);
    std::fill_n(buffer.begin(), bytes, uint8_t{1});
    return buffer;
  };
  EXPECT_EQ(infer_row_bytes(written(0), 0, 24), 24u);
  EXPECT_EQ(infer_row_bytes(written(3 * 24), 3, 24), 24u);
  EXPECT_EQ(infer_row_bytes(written(3 * 32), 3, 24), 32u);
  EXPECT_EQ(infer_row_bytes(written(32), 1, 24), 32u);
  // A library that writes longer rows from the oldest call than that call has.
  EXPECT_EQ(infer_row_bytes(written(2 * 16), 2, 16), 16u);
  EXPECT_EQ(infer_row_bytes(written(2 * 24), 2, 16), 24u);
  // A library that wiped the whole buffer first: what is documented.
  EXPECT_EQ(infer_row_bytes(written(64 * 32), 2, 24), 24u);
}

// FAULT-006
TEST_F(NvmlProcesses, MemoryThatTheDriverDoesNotKnowIsAbsentNotHuge) {
  fake_.gpus[0].compute = {{1001, kMemoryNotAvailable, kNoInstance, kNoInstance},
                           {1002, kMemoryNotAvailable - 1, kNoInstance, kNoInstance}};
  open();
  fast();
  ASSERT_EQ(processes().size(), 2u);
  EXPECT_EQ(processes()[0].memory_bytes.number(), std::nullopt);
  EXPECT_EQ(processes()[0].memory_bytes.reason(), Reason::kNotSupported);
  EXPECT_EQ(processes()[1].memory_bytes.reason(), Reason::kImplausible);
}

TEST_F(NvmlProcesses, AProcessInBothListsIsOneRowAndItsMemoryCountsOnce) {
  fake_.gpus[0].compute = {{1001, 500, kNoInstance, kNoInstance}};
  fake_.gpus[0].graphics = {{1001, 500, kNoInstance, kNoInstance},
                            {1003, 70, kNoInstance, kNoInstance}};
  open();
  fast();
  ASSERT_EQ(processes().size(), 2u);
  EXPECT_EQ(processes()[0].type, model::ProcessType::kBoth);
  EXPECT_EQ(processes()[0].memory_bytes.number(), 500);
  EXPECT_EQ(processes()[1].type, model::ProcessType::kGraphics);
}

// FAULT-001
TEST_F(NvmlProcesses, RowsThatNameNoProcessAreDropped) {
  fake_.gpus[0].compute = {{0, 500, kNoInstance, kNoInstance},
                           {4'194'305, 500, kNoInstance, kNoInstance},
                           {1001, 500, kNoInstance, kNoInstance}};
  open();
  fast();
  ASSERT_EQ(processes().size(), 1u);
  EXPECT_EQ(processes()[0].pid, 1001);
  EXPECT_EQ(report_->implausible(), 1u);
}

// FAULT-003
TEST_F(NvmlProcesses, AListThatGrowsIsAskedAgainButNotForEver) {
  give_two();
  fake_.too_small_answers = 1;
  open();
  fast();
  expect_two();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetComputeRunningProcesses_v3"), 2);
  fake_.too_small_answers = 1000;
  tick();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetComputeRunningProcesses_v3"), 2 + 4);
  EXPECT_EQ(subject("GPU-0")->processes_absent, Reason::kDriverError);
  EXPECT_EQ(reason(MetricId::kGpuProcesses), Reason::kDriverError);
}

TEST_F(NvmlProcesses, MoreProcessesThanTheFirstBufferHoldsAreAllThere) {
  for (unsigned i = 1; i <= 300; ++i) {
    fake_.gpus[0].compute.push_back({i, i, kNoInstance, kNoInstance});
  }
  open();
  fast();
  EXPECT_EQ(processes().size(), 300u);
  EXPECT_EQ(processes()[299].pid, 300);
}

TEST_F(NvmlProcesses, AListThatFailsIsNotAnEmptyOne) {
  fake_.forced["nvmlDeviceGetGraphicsRunningProcesses_v3"] = Return::kNoPermission;
  open();
  fast();
  EXPECT_FALSE(subject("GPU-0")->processes.has_value());
  EXPECT_EQ(subject("GPU-0")->processes_absent, Reason::kNoPermission);
}

TEST_F(NvmlProcesses, AProcessIsIdentifiedByItsStartAndOtherwiseNamedByTheDriver) {
  give_two();
  write("/proc/1001/stat",
        "1001 (python (3) x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21\n");
  open();
  fast();
  EXPECT_EQ(processes()[0].start_ticks, 987654u);
  EXPECT_EQ(processes()[1].start_ticks, 0u);
  EXPECT_EQ(processes()[1].driver_name, "");
  slow();
  EXPECT_EQ(fake_.calls("nvmlSystemGetProcessName"), 1);
  tick();
  EXPECT_EQ(processes()[0].driver_name, "");
  EXPECT_EQ(processes()[1].driver_name, "driver-name-1002");
  slow();
  EXPECT_EQ(fake_.calls("nvmlSystemGetProcessName"), 1);
}

class NvmlMig : public NvmlProcesses {
 protected:
  void SetUp() override {
    FakeGpu& gpu = fake_.gpus[0];
    gpu.mig_mode = 1;
    gpu.utilization = {};
    gpu.compute = {};
    for (unsigned i = 0; i < 7; ++i) {
      gpu.instances.push_back({.uuid = "MIG-" + std::to_string(i),
                               .gpu_instance = 7 + i,
                               .compute_instance = 0,
                               .exists = i != 2});
    }
  }
};

// FAULT-015
TEST_F(NvmlMig, InstancesAreDevicesWithMemoryAndTheBoardKeepsWhatIsTheBoards) {
  open();
  ASSERT_EQ(opened_.generation->devices().size(), 7u);  // the parent, and six around a hole
  const model::Device& mig = opened_.generation->devices()[1];
  EXPECT_EQ(mig.uuid, "MIG-0");
  EXPECT_EQ(mig.kind, model::DeviceKind::kMig);
  EXPECT_EQ(mig.parent, "GPU-0");
  EXPECT_EQ(mig.gpu_instance, 7u);
  EXPECT_EQ(mig.compute_instance, 0u);
  EXPECT_EQ(mig.profile, "1g.5gb");
  EXPECT_EQ(mig.name, "MIG 1g.5gb");
  EXPECT_EQ(opened_.generation->devices()[3].uuid, "MIG-3");
  fast();
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kNotSupported);
  EXPECT_EQ(reason(MetricId::kGpuUtilization, "MIG-0"), Reason::kNotSupported);
  EXPECT_EQ(number(MetricId::kGpuPower), 300);
  EXPECT_EQ(value(MetricId::kGpuPower, "", "MIG-0"), nullptr);
  EXPECT_EQ(value(MetricId::kGpuTemperature, "", "MIG-0"), nullptr);
  EXPECT_EQ(number(MetricId::kGpuMemoryUsed, "", "MIG-0"), 1000);
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal, "", "MIG-0"), 5000);
  EXPECT_EQ(number(MetricId::kGpuUp, "", "MIG-0"), 1);
  slow();
  EXPECT_EQ(number(MetricId::kGpuMigMode), 1);
}

TEST_F(NvmlMig, AProfileThatTheNameDoesNotSayComesFromTheInstance) {
  for (FakeMig& mig : fake_.gpus[0].instances) mig.name = "NVIDIA A100-SXM4-40GB";
  open();
  EXPECT_EQ(opened_.generation->devices()[1].profile, "1g.5gb");
}

TEST_F(NvmlMig, TheBoardsListServesItsInstances) {
  fake_.gpus[0].compute = {{1001, 500, 7, 0}, {1002, 600, 8, 0}};
  open();
  fast();
  EXPECT_EQ(number(MetricId::kGpuProcesses), 2);
  ASSERT_EQ(processes("MIG-0").size(), 1u);
  EXPECT_EQ(processes("MIG-0")[0].pid, 1001);
  EXPECT_EQ(processes("MIG-0")[0].gpu_instance, 7u);
  EXPECT_EQ(number(MetricId::kGpuProcesses, "", "MIG-1"), 1);
  EXPECT_EQ(number(MetricId::kGpuProcesses, "", "MIG-3"), 0);
}

// FAULT-015
TEST_F(NvmlMig, AnInstanceWhoseTurnItIsNotKeepsItsCountAndItsAge) {
  fake_.gpus[0].fans.clear();
  fake_.gpus[0].compute = {{1001, 500, kNoInstance, kNoInstance}};
  open();
  for (int i = 0; i < 7; ++i) {
    tick();
    if (i == 0) continue;  // with it, the calls of opening are counted
    EXPECT_LE(report_->calls(), FastLane::kMostCalls);
  }
  for (const char* uuid : {"MIG-0", "MIG-1", "MIG-3", "MIG-4", "MIG-5", "MIG-6"}) {
    const model::Value* count = value(MetricId::kGpuProcesses, "", uuid);
    ASSERT_NE(count, nullptr) << uuid;
    EXPECT_EQ(count->number(), 0) << uuid;
  }
  const auto age = [&](const char* uuid) {
    return clock_.mono() - value(MetricId::kGpuProcesses, "", uuid)->read_at();
  };
  EXPECT_GT(std::max({age("MIG-0"), age("MIG-1"), age("MIG-6")}), Duration::zero());
}

TEST_F(NvmlMig, WhenTheBoardsListTellsNothingInstancesAreAskedInTurnsWithinTheBudget) {
  fake_.gpus[0].fans.clear();  // boards that can be divided have none
  fake_.gpus[0].instances[6].processes = {{1001, 500, kNoInstance, kNoInstance}};
  open();
  fast();
  bool met = false;
  for (int i = 0; i < 6; ++i) {
    tick();
    EXPECT_LE(report_->calls(), FastLane::kMostCalls);
    if (processes("MIG-6").empty()) continue;
    met = true;
    EXPECT_EQ(processes("MIG-6")[0].gpu_instance, 13u);
  }
  EXPECT_TRUE(met);
}

TEST_F(NvmlMig, InstancesOfALostBoardAreLost) {
  open();
  fake_.gpus[0].lost = true;
  EXPECT_EQ(fast(), Verdict::kDeviceLost);
  EXPECT_EQ(subject("MIG-0")->state, model::DeviceState::kLost);
  EXPECT_EQ(reason(MetricId::kGpuMemoryUsed, "MIG-0"), Reason::kLost);
}

TEST_F(NvmlMig, AnotherDivisionEndsTheGenerationAndSaysSo) {
  open();
  EXPECT_EQ(slow(), Verdict::kGood);
  fake_.gpus[0].instances[2].exists = true;
  EXPECT_EQ(slow(), Verdict::kGenerationLost);
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].kind, catalog::EventKind::kMigChange);
  fake_.gpus[0].mig_mode = 0;
  open();
  EXPECT_EQ(opened_.generation->devices().size(), 1u);
  EXPECT_EQ(slow(), Verdict::kGood);
}

// FAULT-082
TEST_F(NvmlProcesses, WhatIsKeptOfThemDoesNotGrowHoweverManyComeAndGo) {
  open();
  uint32_t pid = 10'000;
  const auto live_bytes_after = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      fake_.gpus[0].compute = {{pid, 1, kNoInstance, kNoInstance},
                               {pid + 1, 2, kNoInstance, kNoInstance},
                               {pid + 2, 3, kNoInstance, kNoInstance}};
      fake_.gpus[0].shares = {{.timestamp_us = wall_us() - 100'000, .pid = pid, .sm = 30}};
      pid += 3;
      tick();
      if (i % 10 == 0) slow();
    }
    report_.reset();
    return ::mallinfo2().uordblks;
  };
  const size_t before = live_bytes_after(600);
  const size_t after = live_bytes_after(6000);
  EXPECT_LE(after, before + 64 * 1024);
  EXPECT_GT(pid, 29'000u);
}

// FAULT-003
TEST_F(NvmlProcesses, RoomGrowsByWhatIsAskedForWithinABound) {
  EXPECT_EQ(more_room(64, 65, 4096), 128u);
  EXPECT_EQ(more_room(64, 500, 4096), 500u);
  EXPECT_EQ(more_room(3000, 3001, 4096), 4096u);
  EXPECT_EQ(more_room(64, 0xFFFFFFFF, 4096), 4096u);
}

}  // namespace
}  // namespace gpusight::collect::nvml
