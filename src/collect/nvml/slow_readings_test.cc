// What the slow lane reads, and what stands in for it on older drivers, on a fake library.
#include "collect/nvml/slow_lane.h"

#include "collect/nvml/field_tables.h"
#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using enum catalog::MetricId;
using model::Reason;

struct Expected {
  MetricId metric;
  std::string label;
  double number;
};

class NvmlSlow : public TestMachine {
 protected:
  FakeGpu& gpu() { return fake_.gpus[0]; }
  void expect(const std::vector<Expected>& all) {
    for (const Expected& e : all) {
      const auto found = number(e.metric, e.label);
      ASSERT_TRUE(found) << catalog::metric(e.metric).name << " " << e.label;
      EXPECT_DOUBLE_EQ(*found, e.number) << catalog::metric(e.metric).name << " " << e.label;
    }
  }
};

// FAULT-074
TEST_F(NvmlSlow, FieldsGiveLimitsErrorsAndCounters) {
  const std::pair<uint32_t, uint64_t> kFields[] = {{190, 650'000},  {192, 640'000},
                                                   {189, 700'000},  {187, 200'000},
                                                   {188, 750'000},  {74, 1'500'000'000},
                                                   {76, 2'000'000}, {75, 3'000'000'000},
                                                   {81, 4'000'000}, {94, 7},
                                                   {95, 1},         {169, 9},
                                                   {173, 5},        {178, 2},
                                                   {1, 1},          {2, 0},
                                                   {3, 11},         {4, 12},
                                                   {5, 13},         {6, 14},
                                                   {11, 21},        {23, 22},
                                                   {24, 23},        {17, 24},
                                                   {29, 31},        {30, 32},
                                                   {31, 1},         {142, 41},
                                                   {143, 42},       {144, 1},
                                                   {145, 0},        {230, 2}};
  for (const auto& [id, value] : kFields) gpu().set_field(id, ValueType::kUint64, value);
  gpu().set_field(194, ValueType::kInt32, static_cast<uint32_t>(-2));
  gpu().set_field(193, ValueType::kInt32, static_cast<uint32_t>(-8));
  open();
  EXPECT_EQ(slow(), Verdict::kGood);
  expect({{kGpuPowerLimit, "", 650},
          {kGpuPowerLimitRequested, "", 640},
          {kGpuPowerLimitDefault, "", 700},
          {kGpuPowerLimitLowest, "", 200},
          {kGpuPowerLimitHighest, "", 750},
          {kGpuTemperatureMarginThreshold, "slowdown", -2},
          {kGpuTemperatureMarginThreshold, "shutdown", -8},
          {kGpuThrottleSeconds, "sw_power_cap", 1.5},
          {kGpuThrottleSeconds, "sync_boost", 0.002},
          {kGpuViolationSeconds, "power", 1.5},
          {kGpuViolationSeconds, "thermal", 3},
          {kGpuViolationSeconds, "base_clocks", 0.004},
          {kGpuPcieReplays, "", 7},
          {kGpuPcieReplayRollovers, "", 1},
          {kGpuPcieRecoveries, "", 9},
          {kGpuPcieErrors, "correctable", 5},
          {kGpuPcieErrors, "bad_dllp", 2},
          {kGpuEccMode, "", 1},
          {kGpuEccModePending, "", 0},
          {kGpuEccVolatileCorrected, "", 11},
          {kGpuEccVolatileUncorrected, "", 12},
          {kGpuEccAggregateCorrected, "", 13},
          {kGpuEccAggregateUncorrected, "", 14},
          {kGpuEccVolatileCorrectedAt, "dram", 21},
          {kGpuEccAggregateUncorrectedAt, "dram", 22},
          {kGpuEccAggregateCorrectedAt, "register_file", 23},
          {kGpuEccVolatileUncorrectedAt, "cbu", 24},
          {kGpuRetiredPagesCorrected, "", 31},
          {kGpuRetiredPagesUncorrected, "", 32},
          {kGpuRetiredPagesPending, "", 1},
          {kGpuRemappedRowsCorrected, "", 41},
          {kGpuRemappedRowsUncorrected, "", 42},
          {kGpuRemappedRowsPending, "", 1},
          {kGpuRemappedRowsFailure, "", 0},
          {kGpuRecoveryAction, "", 2}});
  EXPECT_EQ(reason(kGpuNvlinkState), Reason::kNotSupported);
  EXPECT_EQ(reason(kGpuEccSramThreshold), Reason::kNoPermission);
}

TEST_F(NvmlSlow, CallsGiveWhatHasNoField) {
  auto& numbers = gpu().numbers;
  numbers["nvmlDeviceGetApplicationsClock:0"] = {1980};
  numbers["nvmlDeviceGetApplicationsClock:2"] = {2619};
  numbers["nvmlDeviceGetDefaultApplicationsClock:0"] = {1755};
  numbers["nvmlDeviceGetMaxCustomerBoostClock:0"] = {1980};
  numbers["nvmlDeviceGetTemperatureThreshold:0"] = {92};
  numbers["nvmlDeviceGetTemperatureThreshold:1"] = {89};
  numbers["nvmlDeviceGetTemperatureThreshold:2"] = {0};  // a board that has none says so like this
  numbers["nvmlDeviceGetJpgUtilization"] = {12, 1'000'000};
  numbers["nvmlDeviceGetOfaUtilization"] = {3, 167'000};
  numbers["nvmlDeviceGetEncoderStats"] = {2, 60, 1500};
  numbers["nvmlDeviceGetFBCStats"] = {0, 0, 0};
  numbers["nvmlDeviceGetBAR1MemoryInfo"] = {131072, 131000, 72};
  numbers["nvmlDeviceGetConfComputeProtectedMemoryUsage"] = {1000, 400, 600};
  numbers["nvmlDeviceGetConfComputeMemSizeInfo"] = {2, 1};
  numbers["nvmlDeviceGetFanSpeedRPM:0"] = {1500};
  numbers["nvmlDeviceGetFanSpeedRPM:1"] = {1600};
  numbers["nvmlDeviceGetMemoryErrorCounter:0"] = {51};
  numbers["nvmlDeviceGetMemoryErrorCounter:3"] = {52};
  numbers["nvmlDeviceGetSramEccErrorStatus"] = {1};
  numbers["nvmlDeviceGetRowRemapperHistogram"] = {600, 30, 8, 1, 1};
  numbers["nvmlDeviceGetRepairStatus"] = {1, 0};
  numbers["nvmlDeviceGetPersistenceMode"] = {1};
  numbers["nvmlDeviceGetComputeMode"] = {3};
  numbers["nvmlDeviceGetDisplayMode"] = {0};
  numbers["nvmlDeviceGetDisplayActive"] = {1};
  numbers["nvmlDeviceGetAccountingMode"] = {0};
  numbers["nvmlDeviceGetVirtualizationMode"] = {1};
  numbers["nvmlDeviceGetPowerSource"] = {1};
  open();
  EXPECT_EQ(slow(), Verdict::kGood);
  expect({{kGpuApplicationClock, "graphics", 1.98e9},
          {kGpuApplicationClock, "memory", 2.619e9},
          {kGpuApplicationClockDefault, "graphics", 1.755e9},
          {kGpuClockCustomerLimit, "graphics", 1.98e9},
          {kGpuTemperatureThreshold, "shutdown", 92},
          {kGpuTemperatureThreshold, "slowdown", 89},
          {kGpuJpegUtilization, "", 0.12},
          {kGpuOfaUtilization, "", 0.03},
          {kGpuEncoderSessions, "", 2},
          {kGpuEncoderFrameRate, "", 60},
          {kGpuEncoderLatency, "", 0.0015},
          {kGpuFbcSessions, "", 0},
          {kGpuBar1Total, "", 131072},
          {kGpuBar1Free, "", 131000},
          {kGpuBar1Used, "", 72},
          {kGpuProtectedMemoryUsed, "", 600},
          {kGpuProtectedMemoryTotal, "", 2048},
          {kGpuFanRpm, "0", 1500},
          {kGpuFanRpm, "1", 1600},
          {kGpuEccVolatileCorrectedAt, "sram", 51},
          {kGpuEccAggregateUncorrectedAt, "sram", 52},
          {kGpuEccSramThreshold, "", 1},
          {kGpuRowRemapBanks, "max", 600},
          {kGpuRowRemapBanks, "none", 1},
          {kGpuRepairPending, "memory_channel", 1},
          {kGpuRepairPending, "tpc", 0},
          {kGpuPersistenceMode, "", 1},
          {kGpuComputeMode, "", 3},
          {kGpuDisplayMode, "", 0},
          {kGpuDisplayActive, "", 1},
          {kGpuAccountingMode, "", 0},
          {kGpuVirtualizationMode, "", 1},
          {kGpuPowerSource, "", 1}});
  EXPECT_EQ(value(kGpuJpegUtilization)->window(), std::chrono::seconds(1));
  EXPECT_EQ(value(kGpuTemperatureThreshold, "memory_max"), nullptr);
  // An average over nobody is no number.
  EXPECT_EQ(reason(kGpuFbcFrameRate), Reason::kUnknown);
  EXPECT_EQ(reason(kGpuFbcLatency), Reason::kUnknown);
}

// FAULT-044
TEST_F(NvmlSlow, OlderDriversAreAskedByCallsWhatNewerOnesTellInFields) {
  fake_.driver = "470.256.02";
  auto& numbers = gpu().numbers;
  numbers["nvmlDeviceGetPowerManagementLimit"] = {350'000};
  numbers["nvmlDeviceGetPowerManagementDefaultLimit"] = {400'000};
  numbers["nvmlDeviceGetPowerManagementLimitConstraints"] = {100'000, 450'000};
  numbers["nvmlDeviceGetEccMode"] = {1, 0};
  numbers["nvmlDeviceGetTotalEccErrors:0"] = {1};
  numbers["nvmlDeviceGetTotalEccErrors:1"] = {2};
  numbers["nvmlDeviceGetTotalEccErrors:2"] = {3};
  numbers["nvmlDeviceGetTotalEccErrors:3"] = {4};
  open();
  EXPECT_EQ(slow(), Verdict::kGood);
  expect({{kGpuPowerLimit, "", 700},
          {kGpuPowerLimitRequested, "", 350},
          {kGpuPowerLimitDefault, "", 400},
          {kGpuPowerLimitLowest, "", 100},
          {kGpuPowerLimitHighest, "", 450},
          {kGpuPcieReplays, "", 3},
          {kGpuEccMode, "", 1},
          {kGpuEccVolatileCorrected, "", 1},
          {kGpuEccAggregateCorrected, "", 2},
          {kGpuEccVolatileUncorrected, "", 3},
          {kGpuEccAggregateUncorrected, "", 4}});
}

// FAULT-026
TEST_F(NvmlSlow, ALimitThatNobodyTellsIsAbsentNotInvented) {
  fake_.forced["nvmlDeviceGetEnforcedPowerLimit"] = Return::kNotSupported;
  open();
  slow();
  for (const MetricId limit : {kGpuPowerLimit, kGpuPowerLimitRequested, kGpuPowerLimitDefault,
                               kGpuPowerLimitLowest, kGpuPowerLimitHighest}) {
    EXPECT_EQ(reason(limit), Reason::kNotSupported);
  }
}

// FAULT-090
TEST_F(NvmlSlow, FieldsThatMovedBetweenDriversAreChosenByTheDriver) {
  struct Case {
    const char* driver;
    double seconds;  // -1: none of the numbers is a throttle time
  };
  gpu().set_field(251, ValueType::kUint64, 1'000'000'000);
  gpu().set_field(269, ValueType::kUint64, 2'000'000'000);
  for (const Case& c :
       {Case{"570.124.06", -1}, Case{"575.51.02", 1}, Case{"580.65.06", 1}, Case{"580.82.07", 2},
        Case{"610.43.02", 2}, Case{"", -1}, Case{"a driver", -1}}) {
    SCOPED_TRACE(c.driver);
    fake_.driver = c.driver;
    open();
    slow();
    EXPECT_EQ(number(kGpuThrottleSeconds, "sw_thermal").value_or(-1), c.seconds);
  }
}

TEST_F(NvmlSlow, EachNvlinkHasItsOwnSeries) {
  gpu().set_field(91, ValueType::kUint32, 3);
  for (uint32_t link = 0; link < 3; ++link) {
    gpu().set_field_of(link, 165, ValueType::kUint32, link == 2 ? 0 : 1);
    gpu().set_field_of(link, 166, ValueType::kUint32, 6);
    gpu().set_field_of(link, 164, ValueType::kUint32, 26562);
    gpu().set_field_of(link, 138, ValueType::kUint64, 1000 + link);
    gpu().set_field_of(link, 139, ValueType::kUint64, 2000 + link);
    gpu().set_field_of(link, 161, ValueType::kUint64, 3);
    gpu().set_field_of(link, 162, ValueType::kUint64, 4);
    gpu().set_field_of(link, 163, ValueType::kUint64, 5);
  }
  open();
  slow();
  expect({{kGpuNvlinkState, "0", 1},
          {kGpuNvlinkState, "2", 0},
          {kGpuNvlinkVersion, "1", 6},
          {kGpuNvlinkSpeed, "1", 26'562e6},
          {kGpuNvlinkTransmit, "2", 1002 * 1024},
          {kGpuNvlinkReceive, "1", 2001 * 1024},
          {kGpuNvlinkReplays, "0", 3},
          {kGpuNvlinkRecoveries, "0", 4},
          {kGpuNvlinkCrcErrors, "0", 5}});
  EXPECT_EQ(value(kGpuNvlinkState, "3"), nullptr);
}

TEST_F(NvmlSlow, TheFifthNvlinkCountsBytesAndRecoveriesElsewhere) {
  gpu().set_field(91, ValueType::kUint32, 1);
  gpu().set_field_of(0, 202, ValueType::kUint64, 4711);
  gpu().set_field_of(0, 204, ValueType::kUint64, 4712);
  gpu().set_field_of(0, 213, ValueType::kUint64, 6);
  gpu().set_field_of(0, 214, ValueType::kUint64, 1);
  gpu().set_field_of(0, 221, ValueType::kUint64, 8);
  open();
  slow();
  expect({{kGpuNvlinkTransmit, "0", 4711},
          {kGpuNvlinkReceive, "0", 4712},
          {kGpuNvlinkRecoveries, "0", 6},
          {kGpuNvlinkFailedRecoveries, "0", 1},
          {kGpuNvlinkSymbolErrors, "0", 8}});
}

TEST_F(NvmlSlow, OldDriversNumberTheFieldsOfEachLink) {
  fake_.driver = "470.256.02";
  gpu().set_field(91, ValueType::kUint32, 12);
  gpu().set_field(85, ValueType::kUint32, 25'000);
  gpu().set_field(133, ValueType::kUint32, 25'001);
  gpu().set_field(103, ValueType::kUint64, 5);
  gpu().set_field(51, ValueType::kUint64, 6);
  open();
  slow();
  expect({{kGpuNvlinkSpeed, "1", 25e9},
          {kGpuNvlinkSpeed, "7", 25'001e6},
          {kGpuNvlinkCrcDataErrors, "7", 5},
          {kGpuNvlinkReplays, "5", 6}});
}

TEST_F(NvmlSlow, TheFabricIsAskedInTheNewestFormThatTheLibraryTakes) {
  const uint32_t health = 1 | 2 << 2 | 2 << 8;  // degraded, no recovery, a wrong configuration
  for (const uint64_t form : {3, 2}) {
    gpu().numbers["nvmlDeviceGetGpuFabricInfoV"] = {3, health, form};
    open();
    slow();
    expect({{kGpuFabricState, "", 3},
            {kGpuFabricFault, "degraded_bandwidth", 1},
            {kGpuFabricFault, "route_recovery", 0},
            {kGpuFabricFault, "wrong_configuration", 1}});
    EXPECT_EQ(value(kGpuFabricFault, "route_unhealthy"), nullptr);  // not told
  }
  fake_.missing = {"nvmlDeviceGetGpuFabricInfoV"};
  gpu().numbers["nvmlDeviceGetGpuFabricInfo"] = {2};
  open();
  slow();
  expect({{kGpuFabricState, "", 2}});
}

TEST_F(NvmlSlow, SessionsAreListedWhileThereAreAny) {
  open();
  slow();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetEncoderSessions"), 0);
  gpu().encoders = {{.pid = 1001,
                     .codec = 1,
                     .width = 1920,
                     .height = 1080,
                     .average_fps = 60,
                     .average_latency_us = 1500},
                    {.pid = 1002, .codec = 77}};
  gpu().captures = {{.pid = 1003, .width = 640, .height = 480, .average_fps = 30}};
  gpu().numbers["nvmlDeviceGetEncoderStats"] = {2, 60, 1500};
  gpu().numbers["nvmlDeviceGetFBCStats"] = {1, 30, 100};
  open();
  slow();
  const auto& sessions = subject("GPU-0")->sessions;
  ASSERT_TRUE(sessions);
  ASSERT_EQ(sessions->size(), 3u);
  const model::Session& first = sessions->at(0);
  EXPECT_EQ(first.pid, 1001);
  EXPECT_EQ(first.codec, model::VideoCodec::kHevc);
  EXPECT_EQ(first.height, 1080u);
  EXPECT_EQ(first.latency_seconds, 0.0015);
  EXPECT_EQ(sessions->at(1).codec, model::VideoCodec::kUnknown);
  EXPECT_EQ(sessions->at(2).kind, model::SessionKind::kCapture);
}

TEST_F(NvmlSlow, HowTheDeviceIsSharedIsTold) {
  gpu().numbers["nvmlSystemGetConfComputeSettings"] = {1};
  gpu().numbers["nvmlDeviceGetActiveVgpus"] = {100};
  open();
  slow();
  expect({{kGpuConfidential, "", 1}, {kGpuVirtualInstances, "", 100}});
  gpu().numbers.erase("nvmlSystemGetConfComputeSettings");
  gpu().numbers["nvmlSystemGetConfComputeState"] = {0};
  gpu().numbers["nvmlDeviceGetActiveVgpus"] = {0};
  open();
  slow();
  expect({{kGpuConfidential, "", 0}, {kGpuVirtualInstances, "", 0}});
}

TEST_F(NvmlSlow, TheMomentsThroughputIsReadOnlyWhereBytesAreNotCounted) {
  gpu().numbers["nvmlDeviceGetPcieThroughput:0"] = {1500};
  gpu().numbers["nvmlDeviceGetPcieThroughput:1"] = {2500};
  open();
  fast();
  slow();
  expect({{kGpuPcieTransmitRate, "", 1.5e6}, {kGpuPcieReceiveRate, "", 2.5e6}});
  EXPECT_EQ(value(kGpuPcieTransmitRate)->window(), std::chrono::milliseconds(20));
  gpu().set_field(197, ValueType::kUint64, 5'000'000'007);
  gpu().set_field(198, ValueType::kUint64, 6'000'000'007);
  open();
  fast();
  expect({{kGpuPcieTransmit, "", 5'000'000'007}, {kGpuPcieReceive, "", 6'000'000'007}});
  slow();
  clock_.advance(std::chrono::seconds(10));
  const int before = fake_.calls("nvmlDeviceGetPcieThroughput");
  slow();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetPcieThroughput"), before);
  expect({{kGpuPcieTransmitRate, "", 0}, {kGpuPcieReceiveRate, "", 0}});
}

// FAULT-032
TEST_F(NvmlSlow, AByteCounterOfThirtyTwoBitsWouldWrapWithinATick) {
  gpu().set_field(197, ValueType::kUint32, 5);
  open();
  fast();
  EXPECT_EQ(reason(kGpuPcieTransmit), Reason::kNotSupported);
}

// FAULT-083
TEST_F(NvmlSlow, APollCostsAtMostSixtyCallsWhateverThereIs) {
  gpu().fans = {30, 30, 30, 30, 30, 30, 30, 30, 30};
  for (const std::string& name : FakeNvml::function_names()) {
    gpu().numbers[name] = {1, 1, 1};
    for (int i = 0; i < 9; ++i) gpu().numbers[name + ":" + std::to_string(i)] = {1};
  }
  for (int i = 0; i < 300; ++i) gpu().compute.push_back({.pid = static_cast<uint32_t>(5000 + i)});
  open();
  fast();
  slow();  // finds out what there is
  for (int i = 0; i < 90; ++i) {
    clock_.advance(std::chrono::seconds(10));
    slow();
    EXPECT_LE(report_->calls(), SlowLane::kMostCalls);
  }
  EXPECT_GT(fake_.calls("nvmlSystemGetProcessName"), 20);
}

TEST_F(NvmlSlow, ACounterOfAllOnesIsNoCount) {
  gpu().set_field(175, ValueType::kUint32, UINT32_MAX);
  gpu().set_field(180, ValueType::kUint32, UINT32_MAX - 1);
  gpu().numbers["nvmlDeviceGetPcieReplayCounter"] = {UINT32_MAX};
  open();
  slow();
  EXPECT_EQ(reason(kGpuPcieErrors, "GPU-0", "receiver"), Reason::kImplausible);
  EXPECT_EQ(number(kGpuPcieErrors, "fatal"), UINT32_MAX - 1.0);
  EXPECT_EQ(reason(kGpuPcieReplays), Reason::kImplausible);
  EXPECT_EQ(report_->implausible(), 2u);
}

TEST_F(NvmlSlow, ACountOfLinksThatCannotBeIsBoundedOrNone) {
  EXPECT_EQ(link_count({Return::kSuccess, 18}), 18u);
  EXPECT_EQ(link_count({Return::kSuccess, 1e300}), kMostLinks);
  EXPECT_EQ(link_count({Return::kSuccess, -1}), 0u);
  EXPECT_EQ(link_count({Return::kSuccess, number_of(UINT32_MAX)}), 0u);
  EXPECT_EQ(link_count({Return::kNotSupported, 18}), 0u);
}

TEST_F(NvmlSlow, BeforeThereWereFieldsOfALinkItsStateIsACall) {
  gpu().set_field(91, ValueType::kUint32, 2);
  gpu().set_field_of(1, 165, ValueType::kUint32, 1);
  gpu().numbers["nvmlDeviceGetNvLinkState:0"] = {1};
  gpu().numbers["nvmlDeviceGetNvLinkState:1"] = {0};
  gpu().numbers["nvmlDeviceGetNvLinkVersion:0"] = {4};
  open();
  slow();
  expect({{kGpuNvlinkState, "0", 1}, {kGpuNvlinkState, "1", 1}, {kGpuNvlinkVersion, "0", 4}});
  EXPECT_EQ(number(kGpuNvlinkVersion, "1"), std::nullopt);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetNvLinkState"), 1);
  clock_.advance(std::chrono::seconds(10));
  slow();
  expect({{kGpuNvlinkState, "0", 1}, {kGpuNvlinkVersion, "0", 4}});
  EXPECT_EQ(fake_.calls("nvmlDeviceGetNvLinkState"), 2);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetNvLinkVersion"), 2);  // of link 1 it is not supported
}

}  // namespace
}  // namespace gpusight::collect::nvml
