// What the lanes read, on a fake library.
#include <algorithm>

#include "base/log.h"
#include "collect/nvml/fast_lane.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Reason;

class NvmlLanes : public TestMachine {};

TEST_F(NvmlLanes, AGpuIsListedWithAllThatIdentifiesIt) {
  open();
  ASSERT_NE(opened_.generation, nullptr);
  EXPECT_EQ(status().phase, model::SourcePhase::kRunning);
  EXPECT_EQ(status().arguments, (std::vector<std::string>{"1", "580.105.08"}));
  ASSERT_EQ(opened_.generation->devices().size(), 1u);
  const model::Device& device = opened_.generation->devices()[0];
  EXPECT_EQ(device.uuid, "GPU-0");
  EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device.pci, "0000:19:00.0");
  EXPECT_EQ(device.serial, "1650000000001");
  EXPECT_EQ(device.vbios, "96.00.74.00.01");
  EXPECT_EQ(device.index, 0u);
  EXPECT_EQ(device.minor, 0u);
  EXPECT_EQ(device.cuda_index, std::nullopt);
}

TEST_F(NvmlLanes, TheFastLaneReadsEveryFastMetric) {
  FakeGpu& gpu = fake_.gpus[0];
  gpu.set_field(kFieldMemoryTemperature, ValueType::kUint32, 51);
  gpu.set_field(kFieldEnergy, ValueType::kUint64, 5'000'000);
  gpu.set_field(kFieldPowerAverage, ValueType::kUint32, 310'000);
  gpu.set_field(kFieldPowerInstant, ValueType::kUint32, 325'500);
  open();
  EXPECT_EQ(fast(), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuUp), 1);
  EXPECT_EQ(number(MetricId::kGpuAsleep), 0);
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.5);
  EXPECT_EQ(number(MetricId::kGpuMemoryUtilization), 0.25);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 40);
  EXPECT_EQ(number(MetricId::kGpuMemoryTemperature), 51);
  EXPECT_EQ(number(MetricId::kGpuEnergy), 5000);
  EXPECT_EQ(number(MetricId::kGpuPowerAverage), 310);
  EXPECT_EQ(number(MetricId::kGpuPowerInstant), 325.5);
  EXPECT_EQ(number(MetricId::kGpuPower), 310);
  EXPECT_EQ(number(MetricId::kGpuClock, "graphics"), 1e9);
  EXPECT_EQ(number(MetricId::kGpuClock, "sm"), 1.1e9);
  EXPECT_EQ(number(MetricId::kGpuClock, "memory"), 1.2e9);
  EXPECT_EQ(number(MetricId::kGpuClock, "video"), 1.3e9);
  EXPECT_EQ(number(MetricId::kGpuFanSpeed, "0"), 0.3);
  EXPECT_EQ(number(MetricId::kGpuFanSpeed, "1"), 0.31);
  EXPECT_EQ(number(MetricId::kGpuPerformanceState), 0);
  EXPECT_EQ(number(MetricId::kGpuProcesses), 0);
  EXPECT_EQ(value(MetricId::kGpuXidErrors), nullptr);  // counted from the events
}

TEST_F(NvmlLanes, TheSlowLaneReadsLimits) {
  open();
  EXPECT_EQ(slow(), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuPowerLimit), 700);
  EXPECT_EQ(number(MetricId::kGpuClockLimit, "sm"), 1.98e9);
  EXPECT_EQ(number(MetricId::kGpuPcieGeneration), 5);
  EXPECT_EQ(number(MetricId::kGpuPcieWidth), 16);
  EXPECT_EQ(number(MetricId::kGpuPcieGenerationLimit), 5);
  EXPECT_EQ(number(MetricId::kGpuPcieWidthLimit), 16);
  EXPECT_EQ(number(MetricId::kGpuPcieReplays), 3);
  EXPECT_EQ(number(MetricId::kGpuMigMode), 0);
}

// FAULT-084
TEST_F(NvmlLanes, WhatTheDriversRingsHoldIsTheMeanWithItsCompanions) {
  open();
  clock_.advance(std::chrono::seconds(1));
  FakeGpu& gpu = fake_.gpus[0];
  for (int i = 0; i < 5; ++i) {
    gpu.add_sample(SamplingType::kGpuUtilization, wall_us() - 800'000 + i * 200'000, 20 * i);
    gpu.add_sample(SamplingType::kPower, wall_us() - 800'000 + i * 200'000, 300'000 + i * 50'000);
  }
  fast();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.4);
  EXPECT_EQ(number(MetricId::kGpuUtilizationMin), 0);
  EXPECT_EQ(number(MetricId::kGpuUtilizationMax), 0.8);
  EXPECT_EQ(value(MetricId::kGpuUtilization)->window(), std::chrono::seconds(1));
  EXPECT_EQ(number(MetricId::kGpuPowerMin), 300);
  EXPECT_EQ(number(MetricId::kGpuPowerMax), 500);
  // The same samples are not used twice.
  tick();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.5);
  EXPECT_EQ(value(MetricId::kGpuUtilizationMax), nullptr);
}

// FAULT-035, FAULT-003
TEST_F(NvmlLanes, AnEmptyRingMeansTheCurrentValueNotNone) {
  fake_.gpus[0].utilization = {.gpu = 0, .memory = 0};
  open();
  fast();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0);
  EXPECT_EQ(value(MetricId::kGpuUtilization)->window(), Duration{});
  EXPECT_EQ(value(MetricId::kGpuUtilizationMin), nullptr);
}

// FAULT-010, FAULT-001
TEST_F(NvmlLanes, ImpossibleSamplesAreDroppedAndCountedNeverClamped) {
  open();
  clock_.advance(std::chrono::seconds(1));
  FakeGpu& gpu = fake_.gpus[0];
  const uint64_t now = wall_us();
  gpu.add_sample(SamplingType::kGpuUtilization, now - 400'000, 30);
  gpu.add_sample(SamplingType::kGpuUtilization, now - 300'000, 2619);
  gpu.add_sample(SamplingType::kGpuUtilization, now - 200'000, 4294967295);
  gpu.add_sample(SamplingType::kGpuUtilization, 0, 40);
  gpu.add_sample(SamplingType::kGpuUtilization, now + 3'600'000'000, 40);
  gpu.add_sample(SamplingType::kGpuUtilization, now - 100'000, 50);
  fast();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.4);
  EXPECT_EQ(number(MetricId::kGpuUtilizationMax), 0.5);
  EXPECT_EQ(report_->implausible(), 4u);
  // The one from the future has not made us deaf to what comes after it.
  gpu.rings.clear();
  gpu.add_sample(SamplingType::kGpuUtilization, wall_us() + 500'000, 70);
  tick();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.7);
}

// FAULT-010
TEST_F(NvmlLanes, AnImpossibleCurrentUtilizationIsAbsent) {
  fake_.gpus[0].utilization = {.gpu = 808334905, .memory = 4294967295};
  open();
  fast();
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kImplausible);
  EXPECT_EQ(reason(MetricId::kGpuMemoryUtilization), Reason::kImplausible);
  EXPECT_EQ(report_->implausible(), 2u);
}

TEST_F(NvmlLanes, AClockThatIsSetBackDoesNotMakeTheRingsDeaf) {
  open();
  fake_.gpus[0].add_sample(SamplingType::kGpuUtilization, wall_us() + 900'000, 10);
  tick();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.1);
  clock_.set_wall(clock_.wall() - std::chrono::hours(2));
  fake_.gpus[0].rings.clear();
  fake_.gpus[0].add_sample(SamplingType::kGpuUtilization, wall_us() + 900'000, 90);
  tick();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.9);
}

TEST_F(NvmlLanes, SamplesAreJudgedByTheDriversOwnTime) {
  open();
  clock_.advance(std::chrono::seconds(1));
  FakeGpu& gpu = fake_.gpus[0];
  // The driver is an hour behind our wall clock: its newest samples are not ancient.
  const uint64_t driver_now = wall_us() - 3'600'000'000;
  gpu.set_field(kFieldMemoryTemperature, ValueType::kUint32, 50);
  gpu.fields[kFieldMemoryTemperature].timestamp_us = static_cast<int64_t>(driver_now);
  gpu.add_sample(SamplingType::kGpuUtilization, driver_now - 300'000, 30);
  gpu.add_sample(SamplingType::kGpuUtilization, driver_now - 100'000, 50);
  gpu.add_sample(SamplingType::kGpuUtilization, driver_now + 3'600'000'000, 90);
  fast();
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.4);
  EXPECT_EQ(report_->implausible(), 1u);
}

TEST_F(NvmlLanes, PowerIsTheEnergyCountersDifferenceOverASecond) {
  FakeGpu& gpu = fake_.gpus[0];
  gpu.set_field(kFieldPowerAverage, ValueType::kUint32, 310'000);
  gpu.set_field(kFieldEnergy, ValueType::kUint64, 1'000'000);
  open();
  fast();
  EXPECT_EQ(number(MetricId::kGpuPower), 310);  // no difference yet
  gpu.set_field(kFieldEnergy, ValueType::kUint64, 1'700'000);
  tick();
  EXPECT_EQ(number(MetricId::kGpuPower), 700);
  EXPECT_EQ(value(MetricId::kGpuPower)->window(), std::chrono::seconds(1));
  gpu.set_field(kFieldEnergy, ValueType::kUint64, 200'000);  // the driver was reloaded
  tick();
  EXPECT_EQ(number(MetricId::kGpuPower), 310);
  EXPECT_EQ(number(MetricId::kGpuEnergy), 200);
  gpu.set_field(kFieldEnergy, ValueType::kUint64, 600'000);
  tick();
  EXPECT_EQ(number(MetricId::kGpuPower), 400);
}

TEST_F(NvmlLanes, ShortTicksTakePowerOverAtLeastASecond) {
  interval_ = std::chrono::milliseconds(100);
  FakeGpu& gpu = fake_.gpus[0];
  open();
  for (uint64_t i = 0; i < 30; ++i) {
    gpu.set_field(kFieldEnergy, ValueType::kUint64, 1'000'000 + i * 40'000);
    tick(0, interval_);
  }
  EXPECT_EQ(number(MetricId::kGpuPower), 400);
  EXPECT_GE(value(MetricId::kGpuPower)->window(), std::chrono::milliseconds(980));
  EXPECT_LE(value(MetricId::kGpuPower)->window(), std::chrono::milliseconds(1100));
}

TEST_F(NvmlLanes, ThePlainPowerCallMeansTheAverageOrTheMomentByArchitecture) {
  struct Case {
    unsigned architecture;
    unsigned pci_device_id;
    bool average;
  };
  for (const Case& c : {Case{9, 0x233010de, true}, Case{7, 0x220410de, true},
                        Case{7, 0x20b010de, false}, Case{6, 0x1e0410de, false}}) {
    fake_.gpus[0].architecture = c.architecture;
    fake_.gpus[0].pci_device_id = c.pci_device_id;
    open();
    fast();
    const MetricId known = c.average ? MetricId::kGpuPowerAverage : MetricId::kGpuPowerInstant;
    const MetricId other = c.average ? MetricId::kGpuPowerInstant : MetricId::kGpuPowerAverage;
    EXPECT_EQ(number(known), 300);
    EXPECT_EQ(reason(other), Reason::kNotSupported);
    EXPECT_EQ(number(MetricId::kGpuPower), 300);
  }
}

// FAULT-024
TEST_F(NvmlLanes, AMemoryTemperatureThatIsASentinelIsAbsent) {
  for (const uint64_t sentinel : {255, 0}) {
    fake_.gpus[0].set_field(kFieldMemoryTemperature, ValueType::kUint32, sentinel);
    open();
    fast();
    EXPECT_EQ(reason(MetricId::kGpuMemoryTemperature), Reason::kImplausible) << sentinel;
    EXPECT_EQ(number(MetricId::kGpuTemperature), 40);
  }
}

TEST_F(NvmlLanes, AFieldThatTheDriverLeftUntouchedIsNotSupported) {
  fake_.gpus[0].fields[kFieldMemoryTemperature] = {};  // success, no time, type zero
  open();
  fast();
  EXPECT_EQ(reason(MetricId::kGpuMemoryTemperature), Reason::kNotSupported);
}

TEST_F(NvmlLanes, AnUnknownPerformanceStateIsAbsent) {
  fake_.gpus[0].performance_state = 32;
  open();
  fast();
  EXPECT_EQ(reason(MetricId::kGpuPerformanceState), Reason::kUnknown);
}

TEST_F(NvmlLanes, ThrottleReasonsAreOneSeriesEachAndTheLimitsMakeEvents) {
  open();
  fake_.gpus[0].throttle = kReasonIdle | 0x8000;
  fast();
  EXPECT_EQ(number(MetricId::kGpuThrottle, "idle"), 1);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_thermal"), 0);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "display_clock"), 0);
  EXPECT_TRUE(report_->events().empty());
  fake_.gpus[0].throttle = kReasonSwThermal;
  tick();
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].kind, catalog::EventKind::kThrottleBegin);
  EXPECT_EQ(report_->events()[0].uuid, "GPU-0");
  EXPECT_EQ(report_->events()[0].arguments, std::vector<std::string>{"sw_thermal"});
  // A new generation knows that it goes on.
  open();
  tick();
  EXPECT_TRUE(report_->events().empty());
  fake_.gpus[0].throttle = 0;
  tick(0, std::chrono::milliseconds(2500));
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].kind, catalog::EventKind::kThrottleEnd);
  EXPECT_EQ(report_->events()[0].arguments, (std::vector<std::string>{"sw_thermal", "3.5"}));
}

TEST_F(NvmlLanes, BeforeThatNameExistedTheThrottleReasonsWereCalledOtherwise) {
  fake_.missing = {"nvmlDeviceGetCurrentClocksEventReasons"};
  fake_.gpus[0].throttle = kReasonSwPowerCap;
  open();
  fast();
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_power_cap"), 1);
}

TEST_F(NvmlLanes, ANameThatTheKernelModuleDoesNotKnowDoesNotHideTheOlderOne) {
  for (const Return code : {Return::kFunctionNotFound, Return::kNotSupported}) {
    fake_.forced["nvmlDeviceGetCurrentClocksEventReasons"] = code;
    fake_.gpus[0].throttle = kReasonSwPowerCap;
    open();
    const int before = fake_.calls("nvmlDeviceGetCurrentClocksEventReasons");
    fast();
    EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_power_cap"), 1);
    tick();
    EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_power_cap"), 1);
    EXPECT_EQ(fake_.calls("nvmlDeviceGetCurrentClocksEventReasons"), before + 1);
  }
}

TEST_F(NvmlLanes, APartOfTheBoardIsNotAskedForWhereDriversTakeItForTheWhole) {
  for (const bool has_scopes : {false, true}) {
    fake_.driver = has_scopes ? "545.23.06" : "525.105.17";
    for (const uint32_t scope : {0, 1, 2}) {
      fake_.gpus[0].set_field_of(scope, kFieldPowerInstant, ValueType::kUint32, 300'000);
    }
    open();
    fast();
    EXPECT_EQ(number(MetricId::kGpuPowerInstant), 300);
    EXPECT_EQ(number(MetricId::kGpuModulePower).has_value(), has_scopes);
    EXPECT_EQ(number(MetricId::kGpuMemoryPower).has_value(), has_scopes);
  }
}

TEST_F(NvmlLanes, AHandleIsLookedAtOnceAPollHoweverManyOfItsFieldsAreGone) {
  for (uint32_t id = 173; id <= 183; ++id) fake_.gpus[0].set_field(id, ValueType::kUint32, 1);
  open();
  slow();
  EXPECT_EQ(number(MetricId::kGpuPcieErrors, "lane"), 1);
  for (uint32_t id = 173; id <= 183; ++id) {
    fake_.gpus[0].fields[id].result = Return::kInvalidArgument;
  }
  const int before = fake_.calls("nvmlDeviceGetUUID");
  for (int i = 0; i < 3; ++i) {
    clock_.advance(std::chrono::seconds(10));
    EXPECT_EQ(slow(), Verdict::kGood);
    EXPECT_EQ(reason(MetricId::kGpuPcieErrors), Reason::kNotSupported);
  }
  EXPECT_EQ(fake_.calls("nvmlDeviceGetUUID"), before + 3);
  for (uint32_t id = 173; id <= 183; ++id) fake_.gpus[0].fields[id].result = Return::kSuccess;
  clock_.advance(std::chrono::seconds(10));
  EXPECT_EQ(slow(), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuPcieErrors, "lane"), 1);
}

// FAULT-097, FAULT-056
TEST_F(NvmlLanes, OneGpuThatSupportsAlmostNothingCostsTheOtherNothing) {
  fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
  for (const int poor : {0, 1}) {
    fake_.forced_on.clear();
    for (const std::string& name : FakeNvml::function_names()) {
      if (name == "nvmlDeviceGetHandleByIndex_v2" || name == "nvmlDeviceGetUUID") continue;
      fake_.forced_on[{name, poor}] = Return::kNotSupported;
    }
    open();
    ASSERT_NE(opened_.generation, nullptr);
    const std::string rich_uuid = "GPU-" + std::to_string(1 - poor);
    EXPECT_EQ(poll("nvml/" + rich_uuid + "/fast"), Verdict::kGood);
    EXPECT_EQ(number(MetricId::kGpuTemperature, "", rich_uuid), 40);
    const std::string poor_uuid = opened_.generation->devices()[poor].uuid;
    EXPECT_EQ(poll("nvml/" + poor_uuid + "/fast"), Verdict::kGood);
    EXPECT_EQ(number(MetricId::kGpuUp, "", poor_uuid), 1);
    EXPECT_EQ(reason(MetricId::kGpuTemperature, poor_uuid), Reason::kNotSupported);
    EXPECT_EQ(reason(MetricId::kGpuFanSpeed, poor_uuid), Reason::kNotSupported);
  }
}

// FAULT-038
TEST_F(NvmlLanes, ALostGpuIsLostInEveryValueAndIsLeftAlone) {
  open();
  fast();
  fake_.forced["nvmlDeviceGetTemperatureV"] = Return::kGpuIsLost;
  const int before = fake_.calls("nvmlDeviceGetClockInfo");
  EXPECT_EQ(tick(), Verdict::kDeviceLost);
  EXPECT_EQ(subject("GPU-0")->state, model::DeviceState::kLost);
  EXPECT_EQ(number(MetricId::kGpuUp), 0);
  EXPECT_EQ(reason(MetricId::kGpuMemoryUsed), Reason::kLost);
  EXPECT_EQ(reason(MetricId::kGpuTemperature), Reason::kLost);
  EXPECT_EQ(reason(MetricId::kGpuClock), Reason::kLost);
  EXPECT_EQ(subject("GPU-0")->processes_absent, Reason::kLost);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetClockInfo"), before);
}

TEST_F(NvmlLanes, CodesThatEndTheLibraryGenerationSaySo) {
  for (const Return code : {Return::kUninitialized, Return::kDriverNotLoaded,
                            Return::kVersionMismatch, Return::kGpuNotFound}) {
    fake_.forced.clear();
    open();
    fake_.forced["nvmlDeviceGetTemperatureV"] = code;
    EXPECT_EQ(fast(), Verdict::kGenerationLost);
    EXPECT_EQ(reason(MetricId::kGpuMemoryUsed), Reason::kDriverError);
    EXPECT_EQ(subject("GPU-0")->state, model::DeviceState::kActive);
  }
}

TEST_F(NvmlLanes, AnInvalidArgumentIsADeadHandleOnlyIfTheHandleIsDead) {
  open();
  fast();
  fake_.forced["nvmlDeviceGetPerformanceState"] = Return::kInvalidArgument;
  EXPECT_EQ(tick(), Verdict::kGood);
  EXPECT_EQ(reason(MetricId::kGpuPerformanceState), Reason::kNotSupported);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 40);
  fake_.forced["nvmlDeviceGetUUID"] = Return::kInvalidArgument;
  EXPECT_EQ(tick(), Verdict::kGenerationLost);
}

TEST_F(NvmlLanes, AHandleThatNamesAnotherDeviceEndsTheGeneration) {
  open();
  fast();
  fake_.forced["nvmlDeviceGetPerformanceState"] = Return::kInvalidArgument;
  Lane* lane = find_lane("nvml/GPU-0/fast");
  fake_.gpus[0].uuid = "GPU-other";
  report_.emplace(clock_, 1);
  EXPECT_EQ(lane->poll(*report_), Verdict::kGenerationLost);
}

std::vector<Return> every_code() {
  std::vector<Return> codes;
  for (int code = 1; code <= 30; ++code) codes.push_back(static_cast<Return>(code));
  codes.push_back(Return::kUnknown);
  codes.push_back(static_cast<Return>(4711));  // of a library to come
  return codes;
}

// FAULT-089, FAULT-097
TEST_F(NvmlLanes, WhateverAnyFunctionReturnsEveryMetricHasAValueOrAReason) {
  log::set_level(log::Level::kOff);
  for (const std::string& name : FakeNvml::function_names()) {
    for (const Return code : every_code()) {
      SCOPED_TRACE(name + " returns " + std::to_string(static_cast<int>(code)));
      fake_.forced = {{name, code}};
      source_.reset();
      open();
      if (opened_.generation == nullptr) continue;
      const std::string uuid = opened_.generation->devices()[0].uuid;
      for (const char* lane : {"/fast", "/slow", "/fast"}) {
        poll("nvml/" + uuid + lane);
        const auto metrics = std::string_view(lane) == "/fast" ? fast_metrics() : slow_metrics();
        for (const MetricId metric : metrics) {
          const bool is_there = std::ranges::any_of(
              subject(uuid)->samples, [&](const auto& sample) { return sample.metric == metric; });
          EXPECT_TRUE(is_there) << catalog::metric(metric).name;
        }
        for (const model::Sample& sample : subject(uuid)->samples) {
          EXPECT_TRUE(std::ranges::count(source().declares(), sample.metric) == 1);
        }
      }
      if (find_lane("nvml/events") != nullptr && code != Return::kTimeout &&
          name.starts_with("nvmlEvent") == false) {
        fake_.forced.clear();
        EXPECT_EQ(poll("nvml/events"), Verdict::kGood);
      }
    }
  }
  log::set_level(log::Level::kInfo);
}

// FAULT-044
TEST_F(NvmlLanes, WhateverFunctionIsMissingTheRestGoesOn) {
  for (const std::string& name : FakeNvml::function_names()) {
    SCOPED_TRACE(name);
    fake_.missing = {name};
    source_.reset();
    if (missing_essential(std::get<std::shared_ptr<NvmlLibrary>>(fake_.load())->api) != nullptr) {
      continue;
    }
    open();
    ASSERT_NE(opened_.generation, nullptr);
    const std::string uuid = opened_.generation->devices()[0].uuid;
    EXPECT_EQ(poll("nvml/" + uuid + "/fast"), Verdict::kGood);
    EXPECT_EQ(number(MetricId::kGpuUp, "", uuid), 1);
    EXPECT_EQ(poll("nvml/" + uuid + "/slow"), Verdict::kGood);
  }
}

// FAULT-071
TEST_F(NvmlLanes, ANameOfStrayBytesIsMadeReadable) {
  fake_.gpus[0].name = "NVIDIA \xff\xfe GeForce\n";
  open();
  EXPECT_EQ(opened_.generation->devices()[0].name, "NVIDIA \uFFFD\uFFFD GeForce");
}

}  // namespace
}  // namespace gpusight::collect::nvml
