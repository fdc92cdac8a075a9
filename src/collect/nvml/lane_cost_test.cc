// What the lanes cost, and how they read memory, on a fake library.
#include "collect/nvml/fast_lane.h"
#include "collect/nvml/slow_lane.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Reason;

class NvmlCost : public TestMachine {};

// FAULT-004
TEST_F(NvmlCost, UsedMemoryLeavesOutWhatTheDriverReserves) {
  open();
  fast();
  EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 20e9);
  EXPECT_EQ(number(MetricId::kGpuMemoryReserved), 0.5e9);
  EXPECT_EQ(number(MetricId::kGpuMemoryFree), 59.5e9);
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 80e9);
}

// FAULT-004
TEST_F(NvmlCost, TheOldMemoryCallIsUsedWhenTheNewOneIsMissingOrRefusesItsVersion) {
  for (const bool is_missing : {true, false}) {
    if (is_missing) fake_.missing = {"nvmlDeviceGetMemoryInfo_v2"};
    if (!is_missing) fake_.forced["nvmlDeviceGetMemoryInfo_v2"] = Return::kArgumentVersionMismatch;
    open();
    fast();
    EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 20.5e9);
    EXPECT_EQ(reason(MetricId::kGpuMemoryReserved), Reason::kNotSupported);
    EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 80e9);
    fake_.missing.clear();
  }
}

// FAULT-008
TEST_F(NvmlCost, ADeviceWithoutMemoryOfItsOwnSharesTheHosts) {
  write("/proc/meminfo", "MemTotal:       125829120 kB\n");
  fake_.forced["nvmlDeviceGetMemoryInfo_v2"] = Return::kNotSupported;
  fake_.forced["nvmlDeviceGetMemoryInfo"] = Return::kNotSupported;
  FakeGpu& gpu = fake_.gpus[0];
  gpu.compute = {{.pid = 1001, .used_memory = 5'000}, {.pid = 1002, .used_memory = 7'000}};
  open();
  EXPECT_EQ(*model::find_fact(opened_.generation->devices()[0], "memory_kind"), "unified");
  fast();
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 125829120.0 * 1024);
  EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 12'000);
  EXPECT_EQ(reason(MetricId::kGpuMemoryFree), Reason::kNotSupported);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 40);
  gpu.compute[1].used_memory = kMemoryNotAvailable;  // then nobody knows the sum
  tick();
  EXPECT_EQ(reason(MetricId::kGpuMemoryUsed), Reason::kNotSupported);
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 125829120.0 * 1024);
  fake_.forced["nvmlDeviceGetComputeRunningProcesses_v3"] = Return::kNoPermission;
  tick();
  EXPECT_EQ(reason(MetricId::kGpuMemoryUsed), Reason::kNoPermission);
}

// FAULT-007, FAULT-097
TEST_F(NvmlCost, ABoardWhoseMemoryIsNotToldIsNotTakenForOneWithout) {
  write("/proc/meminfo", "MemTotal:       125829120 kB\n");
  fake_.forced["nvmlDeviceGetMemoryInfo_v2"] = Return::kNotSupported;
  fake_.forced["nvmlDeviceGetMemoryInfo"] = Return::kNotSupported;
  fake_.gpus[0].numbers["nvmlDeviceGetBAR1MemoryInfo"] = {32'000'000'000, 31'000'000'000, 1};
  open();
  EXPECT_EQ(*model::find_fact(opened_.generation->devices()[0], "memory_kind"), "dedicated");
  fast();
  EXPECT_EQ(reason(MetricId::kGpuMemoryTotal), Reason::kNotSupported);
  EXPECT_EQ(reason(MetricId::kGpuMemoryUsed), Reason::kNotSupported);
  fake_.gpus[0].name = "NVIDIA GB10";  // which is known to have none
  open();
  EXPECT_EQ(*model::find_fact(opened_.generation->devices()[0], "memory_kind"), "unified");
}

// FAULT-007
TEST_F(NvmlCost, TheWindowToTheMemoryIsNoMemory) {
  fake_.gpus[0].numbers["nvmlDeviceGetBAR1MemoryInfo"] = {32'000'000'000, 31'000'000'000, 1};
  open();
  EXPECT_EQ(*model::find_fact(opened_.generation->devices()[0], "memory_kind"), "dedicated");
  fast();
  slow();
  EXPECT_EQ(number(MetricId::kGpuBar1Total), 32e9);
  fast();
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 80e9);
}

// FAULT-083
TEST_F(NvmlCost, ShortTicksCostFewCallsAndStillReadEverythingEachSecond) {
  interval_ = std::chrono::milliseconds(100);
  FakeGpu& gpu = fake_.gpus[0];
  gpu.numbers["nvmlDeviceGetMarginTemperature"] = {58};
  gpu.numbers["nvmlDeviceGetEncoderUtilization"] = {7, 167'000};
  gpu.numbers["nvmlDeviceGetDecoderUtilization"] = {8, 167'000};
  open();
  fast();  // the whole picture
  for (int i = 0; i < 50; ++i) {
    tick(0, interval_);
    EXPECT_LE(report_->calls(), FastLane::kMostCallsShort);
    for (const MetricId metric : fast_metrics()) {
      for (const model::Sample& sample : subject("GPU-0")->samples) {
        if (sample.metric != metric || sample.value.is_absent()) continue;
        EXPECT_LE(report_->now() - sample.value.read_at(), std::chrono::milliseconds(1200))
            << catalog::metric(metric).name;
      }
    }
    EXPECT_EQ(value(MetricId::kGpuUtilization)->read_at(), report_->now());
    EXPECT_EQ(number(MetricId::kGpuTemperatureMargin), 58);
    EXPECT_EQ(number(MetricId::kGpuDecoderUtilization), 0.08);
    EXPECT_EQ(number(MetricId::kGpuClock, "video"), 1.3e9);
    EXPECT_EQ(number(MetricId::kGpuProcesses), 0);
  }
}

TEST_F(NvmlCost, ShortTicksDrainTheRingsOnceASecond) {
  interval_ = std::chrono::milliseconds(100);
  open();
  for (int i = 0; i < 100; ++i) tick(0, interval_);
  const int drained = fake_.calls("nvmlDeviceGetSamples") / static_cast<int>(kRingCount);
  EXPECT_GE(drained, 10);
  EXPECT_LE(drained, 12);
}

TEST_F(NvmlCost, LongTicksLeaveTheRingsToALaneOfTheirOwn) {
  interval_ = std::chrono::seconds(30);
  open();
  ASSERT_NE(find_lane("nvml/GPU-0/rings"), nullptr);
  for (int i = 1; i <= 2; ++i) {
    clock_.advance(std::chrono::seconds(4));
    fake_.gpus[0].add_sample(SamplingType::kGpuUtilization, wall_us() - 100, 30 * i);
    poll("nvml/GPU-0/rings");
  }
  fast();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.45);
  EXPECT_EQ(number(MetricId::kGpuUtilizationMin), 0.3);
  EXPECT_EQ(number(MetricId::kGpuUtilizationMax), 0.6);
}

TEST_F(NvmlCost, ATickCostsAtMostTwentyFiveCalls) {
  fake_.gpus[0].fans = {30, 30, 30, 30, 30, 30, 30};
  fake_.gpus[0].set_field(kFieldEnergy, ValueType::kUint64, 1000);
  open();
  fast();
  for (int i = 0; i < 5; ++i) {
    tick();
    EXPECT_LE(report_->calls(), FastLane::kMostCalls);
  }
}

TEST_F(NvmlCost, ManyFansAreReadInTurnsAndStayListed) {
  fake_.gpus[0].fans = {10, 11, 12, 13, 14, 15};
  open();
  for (int i = 0; i < 6; ++i) tick();
  for (int i = 0; i < 3; ++i) {
    tick();
    EXPECT_LE(report_->calls(), FastLane::kMostCalls);
    for (unsigned fan = 0; fan < 6; ++fan) {
      EXPECT_NEAR(number(MetricId::kGpuFanSpeed, std::to_string(fan)).value_or(0),
                  0.10 + 0.01 * fan, 1e-9)
          << fan;
    }
  }
}

TEST_F(NvmlCost, CallsOfOpeningAreReportedWithTheFirstPoll) {
  open();
  EXPECT_GT(fake_.total(), 10);
  fast();
  EXPECT_EQ(report_->calls(), static_cast<uint64_t>(fake_.total()));
  const int before = fake_.total();
  tick();
  EXPECT_EQ(report_->calls(), static_cast<uint64_t>(fake_.total() - before));
}

TEST_F(NvmlCost, WhatIsNotSupportedCostsNoCallForTenMinutes) {
  fake_.forced["nvmlDeviceGetPerformanceState"] = Return::kNotSupported;
  open();
  for (int i = 0; i < 60; ++i) tick();
  EXPECT_EQ(reason(MetricId::kGpuPerformanceState), Reason::kNotSupported);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetPerformanceState"), 1);
  fake_.forced.clear();
  clock_.advance(HandleMemory::kAskAgain + HandleMemory::kSpread);
  fast();
  EXPECT_EQ(number(MetricId::kGpuPerformanceState), 0);
}

// FAULT-058
TEST_F(NvmlCost, WhatIsRefusedNowAndThenSaysSoAndComesBack) {
  open();
  for (int i = 0; i < 6; ++i) {
    const bool is_refused = i % 2 == 1;
    fake_.forced.clear();
    if (is_refused) fake_.forced["nvmlDeviceGetTemperatureV"] = Return::kNoPermission;
    EXPECT_EQ(tick(), Verdict::kGood);
    if (is_refused) {
      EXPECT_EQ(reason(MetricId::kGpuTemperature), Reason::kNoPermission);
    } else {
      EXPECT_EQ(number(MetricId::kGpuTemperature), 40);
    }
    EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 20e9);
  }
}

// FAULT-060, FAULT-027
TEST_F(NvmlCost, ManyInstancesStayWithinTheBoundsAndHoldNothingOfTheBoard) {
  FakeGpu& gpu = fake_.gpus[0];
  gpu.mig_mode = 1;
  gpu.set_field(kFieldEnergy, ValueType::kUint64, 5'000'000);
  for (unsigned i = 0; i < 7; ++i) {
    gpu.instances.push_back({.uuid = "MIG-" + std::to_string(i), .gpu_instance = i});
  }
  open();
  for (int i = 0; i < 20; ++i) tick();  // finds out what there is
  for (int i = 0; i < 20; ++i) {
    tick();
    EXPECT_LE(report_->calls(), FastLane::kMostCalls);
    for (const FakeMig& mig : gpu.instances) {
      EXPECT_EQ(number(MetricId::kGpuMemoryUsed, "", mig.uuid), 1000);
      EXPECT_EQ(value(MetricId::kGpuEnergy, "", mig.uuid), nullptr);
      EXPECT_EQ(value(MetricId::kGpuPower, "", mig.uuid), nullptr);
    }
  }
  EXPECT_EQ(number(MetricId::kGpuEnergy), 5000);
  slow();  // finds out what there is
  for (int i = 0; i < 5; ++i) {
    clock_.advance(std::chrono::seconds(10));
    EXPECT_EQ(slow(), Verdict::kGood);
    EXPECT_LE(report_->calls(), SlowLane::kMostCalls);
  }
}

// FAULT-083
TEST_F(NvmlCost, AGpuInVeryManyPartsIsReadInTurnsWithinTheBounds) {
  pace_ = Pace::kSpread;
  FakeGpu& gpu = fake_.gpus[0];
  gpu.mig_mode = 1;
  gpu.has_gpm = true;
  gpu.numbers["nvmlDeviceGetBAR1MemoryInfo"] = {32'000'000'000, 31'000'000'000, 1};
  constexpr unsigned kParts = 40;
  for (unsigned i = 0; i < kParts; ++i) {
    gpu.instances.push_back({.uuid = "MIG-" + std::to_string(i), .gpu_instance = i});
    gpu.instance_gpm[{i, 2}] = 50;  // SM activity
  }
  open();
  std::set<std::string> active;
  for (int i = 0; i < 40; ++i) {
    clock_.advance(std::chrono::seconds(10));
    EXPECT_EQ(slow(), Verdict::kGood);
    EXPECT_LE(report_->calls(), SlowLane::kMostCalls) << i;
    for (const FakeMig& mig : gpu.instances) {
      if (number(MetricId::kGpuSmActivity, "", mig.uuid)) active.insert(mig.uuid);
    }
  }
  EXPECT_EQ(active.size(), kParts);
  EXPECT_GT(fake_.calls("nvmlDeviceGetBAR1MemoryInfo"), 1);
  fast();  // reports what opening cost
  for (int i = 0; i < 40; ++i) {
    tick();
    EXPECT_LE(report_->calls(), FastLane::kMostCalls) << i;
  }
  for (const FakeMig& mig : gpu.instances) {
    EXPECT_EQ(number(MetricId::kGpuMemoryUsed, "", mig.uuid), 1000) << mig.uuid;
  }
  // One of the last is exchanged for another: found out within a round.
  gpu.instances.back().uuid = "MIG-other";
  int polls = 0;
  while (slow() == Verdict::kGood && polls < 10) ++polls;
  EXPECT_LE(polls, 4);
  EXPECT_EQ(report_->events().size(), 1u);
}

TEST_F(NvmlCost, TheFirstPollsCostNoMoreThanAnyOther) {
  pace_ = Pace::kSpread;
  for (const Duration interval :
       {Duration(std::chrono::seconds(1)), Duration(std::chrono::milliseconds(100))}) {
    interval_ = interval;
    source_.reset();
    open();
    const int opened = fake_.total();
    fast();
    EXPECT_LE(report_->calls(), opened + FastLane::most_calls(interval));
    EXPECT_EQ(number(MetricId::kGpuUtilization), 0.5);
    EXPECT_EQ(reason(MetricId::kGpuFanSpeed), Reason::kWarmingUp);  // it is not its turn yet
    for (int i = 0; i < 12; ++i) {
      tick(0, interval);
      EXPECT_LE(report_->calls(), FastLane::most_calls(interval)) << i;
    }
    for (const MetricId metric : fast_metrics()) EXPECT_NE(reason(metric), Reason::kWarmingUp);
    for (int i = 0; i < 4; ++i) {
      clock_.advance(std::chrono::seconds(10));
      slow();
      EXPECT_LE(report_->calls(), SlowLane::kMostCalls) << i;
    }
    for (const MetricId metric : slow_metrics()) EXPECT_NE(reason(metric), Reason::kWarmingUp);
  }
}

TEST_F(NvmlCost, WhoReadsOnceGetsTheWholePictureAtOnce) {
  pace_ = Pace::kAtOnce;
  open();
  fast();
  for (const MetricId metric : fast_metrics()) EXPECT_NE(reason(metric), Reason::kWarmingUp);
  slow();
  for (const MetricId metric : slow_metrics()) EXPECT_NE(reason(metric), Reason::kWarmingUp);
}

// A mode may change what is supported, so everything that was refused is asked again in time; never
// so much of it at once that a tick costs more than others.
TEST_F(NvmlCost, WhatWasRefusedIsAskedAgainAFewCallsAtATime) {
  pace_ = Pace::kSpread;
  for (const std::string& name : FakeNvml::function_names()) {
    const bool is_reading =
        name.starts_with("nvmlDeviceGet") && name.find("Handle") == std::string::npos &&
        name != "nvmlDeviceGetUUID" && name != "nvmlDeviceGetCount_v2" &&
        name != "nvmlDeviceGetFieldValues" && name != "nvmlDeviceGetName" &&
        name.find("MemoryInfo") == std::string::npos && name != "nvmlDeviceGetPciInfo_v3";
    if (is_reading) fake_.forced[name] = Return::kNotSupported;
  }
  fake_.gpus[0].set_field(kFieldEnergy, ValueType::kUint64, 1000);
  open();
  fast();
  const auto made_after_learning = [&] {
    int most = 0;
    int asked_again = 0;
    for (int second = 0; second < 1200; ++second) {
      tick();
      EXPECT_LE(report_->calls(), FastLane::kMostCalls);
      if (second > 20) most = std::max(most, static_cast<int>(report_->calls()));
      if (second > 20) asked_again += report_->calls() > 1 ? 1 : 0;
      if (second % 10 != 0) continue;
      slow();
      EXPECT_LE(report_->calls(), SlowLane::kMostCalls);
    }
    EXPECT_GT(asked_again, 10);
    return most;
  };
  EXPECT_LE(made_after_learning(), 12);
  fake_.forced.clear();
  for (int i = 0; i < 1200; ++i) tick();
  EXPECT_EQ(number(MetricId::kGpuTemperature), 40);
  EXPECT_EQ(number(MetricId::kGpuPerformanceState), 0);
}

}  // namespace
}  // namespace gpusight::collect::nvml
