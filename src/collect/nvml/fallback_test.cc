// What stands in for calls and fields that a driver does not have any more, or not yet, on a fake
// library.
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;
using model::Reason;

class NvmlFallback : public TestMachine {
 protected:
  FakeGpu& gpu() { return fake_.gpus[0]; }
  std::string fact(std::string_view name) {
    const std::string* known = model::find_fact(opened_.generation->devices()[0], name);
    return known == nullptr ? "-" : *known;
  }
};

// FAULT-044
TEST_F(NvmlFallback, ApplicationClocksAreFoundAmongTheClocksWhereTheirCallsAreGone) {
  for (const char* gone :
       {"nvmlDeviceGetApplicationsClock", "nvmlDeviceGetDefaultApplicationsClock"}) {
    fake_.forced[gone] = Return::kDeprecated;
  }
  gpu().numbers["nvmlDeviceGetClock:10"] = {1980};
  gpu().numbers["nvmlDeviceGetClock:12"] = {2619};
  gpu().numbers["nvmlDeviceGetClock:20"] = {1755};
  open();
  slow();
  EXPECT_EQ(number(kGpuApplicationClock, "graphics"), 1.98e9);
  EXPECT_EQ(number(kGpuApplicationClock, "memory"), 2.619e9);
  EXPECT_EQ(number(kGpuApplicationClockDefault, "graphics"), 1.755e9);
  EXPECT_EQ(number(kGpuApplicationClockDefault, "memory"), std::nullopt);
}

TEST_F(NvmlFallback, WhatTheirOwnCallsTellOfApplicationClocksCounts) {
  gpu().numbers["nvmlDeviceGetApplicationsClock:0"] = {1500};
  gpu().numbers["nvmlDeviceGetClock:10"] = {1980};
  open();
  slow();
  EXPECT_EQ(number(kGpuApplicationClock, "graphics"), 1.5e9);
}

TEST_F(NvmlFallback, TimesHeldBackAreAskedByCallWhereNoFieldTellsThem) {
  gpu().set_field(74, ValueType::kUint64, 2'000'000'000);
  gpu().numbers["nvmlDeviceGetViolationStatus:0"] = {9'000'000'000};
  gpu().numbers["nvmlDeviceGetViolationStatus:1"] = {3'000'000'000};
  gpu().numbers["nvmlDeviceGetViolationStatus:11"] = {4'000'000'000};
  open();
  slow();
  EXPECT_EQ(number(kGpuViolationSeconds, "power"), 2);
  EXPECT_EQ(number(kGpuViolationSeconds, "thermal"), 3);
  EXPECT_EQ(number(kGpuViolationSeconds, "base_clocks"), 4);
  EXPECT_EQ(value(kGpuViolationSeconds, "reliability"), nullptr);
}

TEST_F(NvmlFallback, WhereBytesAreCountedTheRateComesFromTheCounter) {
  constexpr uint64_t kWide = 1ULL << 32;
  gpu().set_field(197, ValueType::kUint64, kWide + 1'000'000);
  gpu().set_field(198, ValueType::kUint64, kWide + 5'000'000);
  open();
  fast();
  slow();
  EXPECT_EQ(reason(kGpuPcieTransmitRate), Reason::kWarmingUp);
  gpu().set_field(197, ValueType::kUint64, kWide + 21'000'000);
  gpu().set_field(198, ValueType::kUint64, kWide + 35'000'000);
  clock_.advance(std::chrono::seconds(10));
  slow();
  EXPECT_EQ(number(kGpuPcieTransmitRate), 2e6);
  EXPECT_EQ(number(kGpuPcieReceiveRate), 3e6);
  EXPECT_EQ(value(kGpuPcieTransmitRate)->window(), std::chrono::seconds(10));
  gpu().set_field(197, ValueType::kUint64, kWide + 5);  // the board was reset
  clock_.advance(std::chrono::seconds(10));
  slow();
  EXPECT_EQ(number(kGpuPcieTransmitRate), std::nullopt);
  EXPECT_EQ(number(kGpuPcieReceiveRate), 0);
  gpu().set_field(197, ValueType::kUint64, 5);  // may have 32 bits: nobody knows how often it wraps
  gpu().set_field(198, ValueType::kUint64, 5);
  gpu().numbers["nvmlDeviceGetPcieThroughput:0"] = {1500};
  open();
  fast();
  slow();
  EXPECT_EQ(number(kGpuPcieTransmitRate), 1.5e6);
}

TEST_F(NvmlFallback, WhereARackBoardIsIsToldInEitherForm) {
  gpu().numbers["nvmlDeviceGetPlatformInfo"] = {1};
  open();
  EXPECT_EQ(fact("rack_guid"), "41414141414141414141414141414141");
  EXPECT_EQ(fact("chassis_slot"), "3");
  EXPECT_EQ(fact("compute_slot"), "4");
  EXPECT_EQ(fact("node"), "5");
  gpu().numbers["nvmlDeviceGetPlatformInfo"] = {2};
  open();
  EXPECT_EQ(fact("chassis_serial"), "AAAAAAAAAAAAAAAA");
  EXPECT_EQ(fact("chassis_tray"), "4");
  EXPECT_EQ(fact("chassis_host"), "5");
  EXPECT_EQ(fact("peer_type"), "switch");
  EXPECT_EQ(fact("rack_guid"), "-");
}

TEST_F(NvmlFallback, TheBoardsMakersNumberIsAFact) {
  open();
  EXPECT_EQ(fact("pci_sub_device_id"), "0x16C110DE");
}

TEST_F(NvmlFallback, WhatTheDeviceCanDoIsToldApartFromWhatTheSlotAllows) {
  gpu().numbers["nvmlDeviceGetMaxPcieLinkGeneration"] = {3};
  gpu().numbers["nvmlDeviceGetGpuMaxPcieLinkGeneration"] = {5};
  open();
  slow();
  EXPECT_EQ(number(kGpuPcieGenerationLimit), 3);
  EXPECT_EQ(number(kGpuPcieGenerationDeviceLimit), 5);
}

TEST_F(NvmlFallback, RemappingsNotInUseAreReadWhereTheNumberMeansThem) {
  gpu().set_field(301, ValueType::kUint32, 2);
  gpu().set_field(302, ValueType::kUint32, 1);
  struct Case {
    const char* driver;
    bool has;
  };
  for (const Case& c :
       {Case{"580.105.08", false}, Case{"580.159.03", true}, Case{"590.48.01", false},
        Case{"595.45.04", false}, Case{"595.71.05", true}, Case{"610.43.02", true}}) {
    SCOPED_TRACE(c.driver);
    fake_.driver = c.driver;
    open();
    slow();
    EXPECT_EQ(number(kGpuRemappedRowsInactive, "corrected").has_value(), c.has);
    EXPECT_EQ(number(kGpuRemappedRowsInactive, "uncorrected").has_value(), c.has);
  }
}

// FAULT-068
TEST_F(NvmlFallback, OnAnIntegratedBoardEachCallThatItLacksTakesAwayItsOwnReadingsAndNoMore) {
  write("/proc/meminfo", "MemTotal:       32000000 kB\n");
  gpu().name = "Orin (nvgpu)";
  gpu().compute = {{.pid = 1001, .used_memory = 5'000}};
  for (const char* lacking :
       {"nvmlSystemGetDriverVersion", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetTemperature", "nvmlDeviceGetSerial", "nvmlDeviceGetArchitecture"}) {
    fake_.forced[lacking] = Return::kNotSupported;
  }
  open();
  fast();
  EXPECT_EQ(opened_.generation->devices()[0].name, "Orin (nvgpu)");
  EXPECT_EQ(number(kGpuUp), 1);
  EXPECT_EQ(reason(kGpuTemperature), Reason::kNotSupported);
  EXPECT_EQ(reason(kGpuUtilization), Reason::kNotSupported);
  EXPECT_EQ(number(kGpuMemoryTotal), 32000000.0 * 1024);
  EXPECT_EQ(number(kGpuMemoryUsed), 5'000);
  EXPECT_TRUE(number(kGpuClock, "sm"));
  fake_.forced.erase("nvmlDeviceGetUtilizationRates");  // its successor has load, and no more
  open();
  fast();
  EXPECT_EQ(number(kGpuUtilization), 0.5);
  EXPECT_EQ(reason(kGpuTemperature), Reason::kNotSupported);
}

TEST_F(NvmlFallback, TimesAwakeAndAsleepAreTheKernels) {
  add_to_bus("0000:19:00.0");
  const std::string power = "/sys/bus/pci/devices/0000:19:00.0/power/";
  write(power + "runtime_active_time", "90500\n");
  write(power + "runtime_suspended_time", "3600000\n");
  open();
  slow();
  EXPECT_EQ(number(kGpuAwakeSeconds), 90.5);
  EXPECT_EQ(number(kGpuAsleepSeconds), 3600);
  write(power + "runtime_suspended_time", "soon\n");
  slow();
  EXPECT_EQ(reason(kGpuAsleepSeconds), Reason::kNotSupported);
  write(power + "control", "on\n");  // the kernel keeps it awake: there is nothing to tell
  slow();
  EXPECT_EQ(reason(kGpuAwakeSeconds), Reason::kNotSupported);
}

}  // namespace
}  // namespace gpusight::collect::nvml
