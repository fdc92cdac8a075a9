// Conditions of the hardware: every function that speaks of one agrees with the others.
#include "sim_fixture.h"

namespace gpusight::sim {
namespace {

constexpr const char* kMachine = R"(
driver = "595.80"
[clock]
frozen_at = 100
[workload.steady]
phases = [{seconds = 1, high = 1.0, memory = 0.5}]
[[gpu]]
board = "h100-sxm-80gb"
count = 2
)";

class ConditionTest : public SimTest {
 protected:
  void play(const std::string& faults, const std::string& machine = kMachine) {
    ASSERT_EQ(init(machine + faults), NVML_SUCCESS);
  }
  void at(double seconds) { control("[clock]\nfrozen_at = " + std::to_string(seconds) + "\n"); }
  nvmlFieldValue_t field(unsigned id, unsigned scope = 0, unsigned index = 0) const {
    nvmlFieldValue_t value{};
    value.fieldId = id;
    value.scopeId = scope;
    call("nvmlDeviceGetFieldValues", gpu(index), 1, &value);
    EXPECT_EQ(value.nvmlReturn, NVML_SUCCESS) << id;
    return value;
  }
  unsigned long long errors(unsigned kind, unsigned counter, unsigned location) const {
    unsigned long long count = 0;
    EXPECT_EQ(call("nvmlDeviceGetMemoryErrorCounter", gpu(0), kind, counter, location, &count),
              NVML_SUCCESS);
    return count;
  }
  unsigned long long reasons(unsigned index = 0) const {
    return number<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons", gpu(index));
  }
  unsigned graphics(unsigned index = 0) const {
    unsigned mhz = 0;
    EXPECT_EQ(call("nvmlDeviceGetClockInfo", gpu(index), 0U, &mhz), NVML_SUCCESS);
    return mhz;
  }
};

// FAULT-074
TEST_F(ConditionTest, EccErrorsCountUpEverywhereAndOlderOnesInTheAggregateOnly) {
  play(R"(
[[fault]]
kind = "ecc_errors"
location = "dram"
error = "corrected"
per_second = 0.5
at = 50
gpu = 0
[[fault]]
kind = "ecc_errors"
location = "dram"
error = "corrected"
count = 7
earlier = true
gpu = 0
[[fault]]
kind = "ecc_errors"
location = "sram"
error = "uncorrected"
unit = "sm"
parity = true
count = 3
gpu = 0
)");
  EXPECT_EQ(errors(0, 0, 2), 25U);
  EXPECT_EQ(errors(0, 1, 2), 32U);
  EXPECT_EQ(field(11).value.ullVal, 25U);  // device memory, single bit, volatile
  EXPECT_EQ(field(22).value.ullVal, 32U);  // and aggregate
  EXPECT_EQ(field(3).value.ullVal, 25U);
  EXPECT_EQ(errors(1, 0, 7), 3U);
  nvmlEccSramErrorStatus_t sram{};
  sram.version = 0x01000068;
  ASSERT_EQ(call("nvmlDeviceGetSramEccErrorStatus", gpu(0), &sram), NVML_SUCCESS);
  EXPECT_EQ(sram.volatileUncParity, 3U);
  EXPECT_EQ(sram.aggregateUncBucketSm, 3U);
  EXPECT_EQ(sram.aggregateUncSecDed, 0U);
  unsigned long long other = 1;
  ASSERT_EQ(call("nvmlDeviceGetTotalEccErrors", gpu(1), 0U, 1U, &other), NVML_SUCCESS);
  EXPECT_EQ(other, 0U);
}

TEST_F(ConditionTest, RemappedRowsShowInCountsFieldsAndHistogram) {
  play(R"(
[[fault]]
kind = "remapped_rows"
error = "uncorrected"
pending = true
count = 2
at = 50
until = 90
gpu = 0
[[fault]]
kind = "remapped_rows"
error = "corrected"
failed = true
at = 60
gpu = 0
)");
  unsigned corrected = 9, uncorrected = 9, pending = 9, failed = 9;
  ASSERT_EQ(call("nvmlDeviceGetRemappedRows", gpu(0), &corrected, &uncorrected, &pending, &failed),
            NVML_SUCCESS);
  EXPECT_EQ(corrected, 1U);
  EXPECT_EQ(uncorrected, 2U);
  EXPECT_EQ(pending, 0U);  // the restart at second 90 has done it
  EXPECT_EQ(failed, 1U);
  EXPECT_EQ(field(143).value.uiVal, 2U);
  EXPECT_EQ(field(145).value.uiVal, 1U);
  nvmlRemappedRowsInfo_v2_t rows{};
  ASSERT_EQ(call("nvmlDeviceGetRemappedRows_v2", gpu(0), &rows), NVML_SUCCESS);
  EXPECT_EQ(rows.uncActiveRemaps, 2U);
  nvmlRowRemapperHistogramValues_t banks{};
  ASSERT_EQ(call("nvmlDeviceGetRowRemapperHistogram", gpu(0), &banks), NVML_SUCCESS);
  EXPECT_EQ(banks.max + banks.high + banks.partial + banks.low + banks.none, 2560U);
  EXPECT_EQ(banks.high, 3U);
  EXPECT_EQ(banks.none, 1U);
  at(70);
  ASSERT_EQ(call("nvmlDeviceGetRemappedRows", gpu(0), &corrected, &uncorrected, &pending, &failed),
            NVML_SUCCESS);
  EXPECT_EQ(pending, 1U);
}

TEST_F(ConditionTest, RetiredPagesHaveAddressesAndTimes) {
  play(R"(
[[gpu]]
board = "t4"
[[fault]]
kind = "retired_pages"
cause = "double_bit"
count = 2
pending = true
)",
       "");
  unsigned count = 0;
  unsigned long long addresses[4] = {};
  unsigned long long stamps[4] = {};
  EXPECT_EQ(call("nvmlDeviceGetRetiredPages_v2", gpu(0), 1U, &count, addresses, stamps),
            NVML_ERROR_INSUFFICIENT_SIZE);
  ASSERT_EQ(count, 2U);
  ASSERT_EQ(call("nvmlDeviceGetRetiredPages_v2", gpu(0), 1U, &count, addresses, stamps),
            NVML_SUCCESS);
  EXPECT_NE(addresses[0], addresses[1]);
  EXPECT_GT(stamps[1], 1500000000U);
  EXPECT_EQ(field(30).value.ullVal, 2U);
  EXPECT_EQ(field(29).value.ullVal, 0U);
  EXPECT_EQ(field(93).value.uiVal, 1U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetRetiredPagesPendingStatus", gpu(0)), 1U);
}

// FAULT-118
TEST_F(ConditionTest, LinkErrorsBelongToTheirLinkAndADownLinkCarriesNothing) {
  play(R"(
[[fault]]
kind = "nvlink_errors"
counter = "crc_flit"
link = 3
per_second = 2
at = 90
gpu = 0
[[fault]]
kind = "nvlink_down"
link = 7
at = 50
gpu = 0
)");
  unsigned long long count = 0;
  ASSERT_EQ(call("nvmlDeviceGetNvLinkErrorCounter", gpu(0), 3U, 2U, &count), NVML_SUCCESS);
  EXPECT_EQ(count, 20U);
  ASSERT_EQ(call("nvmlDeviceGetNvLinkErrorCounter", gpu(0), 4U, 2U, &count), NVML_SUCCESS);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(field(38).value.ullVal, 20U);
  EXPECT_EQ(field(35).value.ullVal, 20U);
  EXPECT_EQ(field(163, 3).value.ullVal, 20U);
  unsigned active = 9;
  ASSERT_EQ(call("nvmlDeviceGetNvLinkState", gpu(0), 7U, &active), NVML_SUCCESS);
  EXPECT_EQ(active, 0U);
  EXPECT_EQ(field(165, 7).value.uiVal, 0U);
  EXPECT_EQ(field(164, 7).value.uiVal, 0U);
  EXPECT_EQ(field(138, 7).value.ullVal, 0U);
  EXPECT_GT(field(138, 6).value.ullVal, 0U);
  const auto all = field(138, 0xFFFFFFFF).value.ullVal;
  EXPECT_NEAR(static_cast<double>(all), 17.0 * static_cast<double>(field(138, 6).value.ullVal), 20);
}

TEST_F(ConditionTest, ThrottlesShowAsReasonsClocksAndTimeHeldBack) {
  play(R"(
[[fault]]
kind = "throttle"
reason = "hw_power_brake"
clocks = 0.5
at = 40
until = 70
gpu = 0
)");
  EXPECT_EQ(reasons(), 0U);
  EXPECT_EQ(field(271).value.ullVal, 30000000000U);
  at(60);
  EXPECT_EQ(reasons(), 0x88U);  // the brake, and with it the sum of hardware slowdowns
  EXPECT_EQ(reasons(1), 0U);
  EXPECT_LT(graphics(0), graphics(1) * 6 / 10);
  EXPECT_EQ(field(271).value.ullVal, 20000000000U);
  nvmlViolationTime_t held{};
  ASSERT_EQ(call("nvmlDeviceGetViolationStatus", gpu(0), 3U, &held), NVML_SUCCESS);
  EXPECT_EQ(held.violationTime, 20000000000U);
}

// FAULT-115
TEST_F(ConditionTest, HeatSlowsTheBoardDownFirstBySoftwareThenByHardware) {
  play(R"(
[[fault]]
kind = "overheat"
degrees = 40
degrees_per_second = 1
at = 0
gpu = 0
)");
  const auto celsius = [&] {
    unsigned value = 0;
    EXPECT_EQ(call("nvmlDeviceGetTemperature", gpu(0), 0U, &value), NVML_SUCCESS);
    return value;
  };
  at(10);  // 66 at full load, and ten on top
  EXPECT_EQ(celsius(), 76U);
  EXPECT_EQ(reasons(), 0U);
  const unsigned free = graphics();
  at(22);  // from 87 on
  EXPECT_EQ(reasons(), 0x20U);
  EXPECT_LT(graphics(), free);
  const unsigned softly = graphics();
  at(26);  // from 89 on
  EXPECT_EQ(reasons(), 0x68U);
  EXPECT_LT(graphics(), softly);
  EXPECT_EQ(field(269).value.ullVal, 5000000000U);
  EXPECT_EQ(field(270).value.ullVal, 3000000000U);
  at(300);
  EXPECT_EQ(celsius(), 106U);
  nvmlMarginTemperature_t margin{.version = 0x01000008, .marginTemperature = 0};
  ASSERT_EQ(call("nvmlDeviceGetMarginTemperature", gpu(0), &margin), NVML_SUCCESS);
  EXPECT_EQ(margin.marginTemperature, -19);
}

TEST_F(ConditionTest, AStoppedFanTurnsAtNothingThoughAllIsAskedOfIt) {
  play(R"(
[[gpu]]
board = "rtx-4090"
[[fault]]
kind = "fan_stopped"
fan = 1
)",
       "");
  unsigned percent = 0;
  ASSERT_EQ(call("nvmlDeviceGetFanSpeed_v2", gpu(0), 1U, &percent), NVML_SUCCESS);
  EXPECT_EQ(percent, 100U);
  nvmlFanSpeedInfo_t info{.version = 0x0100000C, .fan = 1, .speed = 9};
  ASSERT_EQ(call("nvmlDeviceGetFanSpeedRPM", gpu(0), &info), NVML_SUCCESS);
  EXPECT_EQ(info.speed, 0U);
}

TEST_F(ConditionTest, ABadPcieLinkIsNarrowAndCountsReplays) {
  play(R"(
[[fault]]
kind = "pcie_link"
generation = 3
width = 4
gpu = 0
[[fault]]
kind = "pcie_errors"
counter = "replay"
count = 12
gpu = 0
[[fault]]
kind = "pcie_errors"
counter = "bad_tlp"
per_second = 1
at = 90
gpu = 0
)");
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetCurrPcieLinkWidth", gpu(0)), 4U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", gpu(0)), 16U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetCurrPcieLinkGeneration", gpu(0)), 3U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetPcieReplayCounter", gpu(0)), 12U);
  EXPECT_EQ(field(94).value.uiVal, 12U);
  EXPECT_EQ(field(176).value.uiVal, 10U);
  EXPECT_EQ(number<unsigned>("nvmlDeviceGetPcieReplayCounter", gpu(1)), 0U);
}

// FAULT-032
TEST_F(ConditionTest, TheByteCountersOfOlderBoardsWrapAt32Bits) {
  play("[workload.main]\nphases = [{seconds = 1, high = 1.0}]\n[[gpu]]\nboard = \"rtx-3090\"\n",
       "[clock]\nfrozen_at = 100\n");
  EXPECT_LE(field(197).value.ullVal, 0xFFFFFFFFU);
  EXPECT_GT(field(197).value.ullVal, 0U);
}

TEST_F(ConditionTest, FabricAndRecoveryActionSayWhatIsTheMatter) {
  play(R"(
[[fault]]
kind = "fabric"
state = "completed"
trouble = "route_unhealthy"
gpu = 0
[[fault]]
kind = "recovery_action"
action = "drain_and_reset"
gpu = 0
)");
  nvmlGpuFabricInfo_v3_t fabric{};
  fabric.version = 0x03000028;
  ASSERT_EQ(call("nvmlDeviceGetGpuFabricInfoV", gpu(0), &fabric), NVML_SUCCESS);
  EXPECT_EQ(fabric.healthMask >> 4 & 3, 1U);
  EXPECT_EQ(fabric.healthMask & 3, 0U);  // of bandwidth these boards tell nothing
  EXPECT_EQ(fabric.healthSummary, 2U);
  EXPECT_EQ(field(230).value.uiVal, 4U);
  EXPECT_EQ(field(230, 0, 1).value.uiVal, 0U);
}

TEST_F(ConditionTest, AHealthyFabricSaysOnlyWhatItsBoardsTell) {
  const auto health = [&](unsigned index) {
    nvmlGpuFabricInfo_v3_t fabric{};
    fabric.version = 0x03000028;
    EXPECT_EQ(call("nvmlDeviceGetGpuFabricInfoV", gpu(index), &fabric), NVML_SUCCESS);
    EXPECT_EQ(fabric.state, 3U);
    return std::pair<unsigned, unsigned>(fabric.healthMask, fabric.healthSummary);
  };
  play("[[gpu]]\nboard = \"b200-sxm-180gb\"\n");
  EXPECT_EQ(health(0), std::pair(0U, 0U));
  EXPECT_EQ(health(2), std::pair(0x80U, 1U));
}

TEST_F(ConditionTest, WhatWasCountedStaysWhenTheControlFileForgetsIt) {
  play("");
  at(200);
  EXPECT_EQ(errors(0, 0, 2), 0U);
  control(
      "[clock]\nfrozen_at = 200\n[[fault]]\nkind = \"ecc_errors\"\ncount = 4\nper_second = 1\n"
      "gpu = 0\n");
  EXPECT_EQ(errors(0, 0, 2), 4U);
  at(250);
  EXPECT_EQ(errors(0, 0, 2), 4U);
}

TEST_F(ConditionTest, AMemoryLeakGrowsUntilItsProcessDies) {
  setenv("GPUSIGHT_SIM_SCENARIO", "memory-leak", 1);
  ASSERT_EQ(call("nvmlInit_v2"), NVML_SUCCESS);
  std::vector<unsigned long long> used;
  for (const double seconds : {10.0, 300.0, 600.0, 835.0}) {
    at(seconds);
    nvmlMemory_t memory{};
    ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", gpu(0), &memory), NVML_SUCCESS);
    used.push_back(memory.used >> 20);
  }
  EXPECT_GT(used[1], used[0] + 4000);
  EXPECT_GT(used[2], used[1] + 4000);
  EXPECT_LT(used[3], 1000U);  // gone, and back five seconds later
}

}  // namespace
}  // namespace gpusight::sim
