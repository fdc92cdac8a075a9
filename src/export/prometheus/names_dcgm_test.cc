#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/prometheus/exposition_reader.h"
#include "export/prometheus/golden.h"
#include "export/prometheus/names_fixture.h"

namespace gpusight::prometheus {
namespace {

using catalog::MetricId;
using model::Reason;
using model::Value;
using testing::HasSubstr;
using testing::Not;

constexpr NameSets kOld = NameSet::kDcgm;
constexpr NameSets kNew = NameSet::kDcgm46;

// A family of dcgm-exporter's, what of ours fills it, and what it then says. Numbers worked out by
// hand from DCGM's units.
struct Case {
  const char* name;
  const char* name46;
  const char* type;
  MetricId metric;
  const char* label;
  double ours;
  double theirs;
};

constexpr double kMib = 1048576;
constexpr auto kPower = "DCGM_FI_DEV_POWER_USAGE";
constexpr auto kPower46 = "DCGM_FI_DEV_BOARD_POWER_WATTS";

const Case kCases[] = {
    {"DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_SM_CLOCK", "gauge", MetricId::kGpuClock, "sm", 1.98e9,
     1980},
    {"DCGM_FI_DEV_MEM_CLOCK", "DCGM_FI_DEV_MEM_CLOCK", "gauge", MetricId::kGpuClock, "memory",
     2.619e9, 2619},
    {"DCGM_FI_DEV_VIDEO_CLOCK", "DCGM_FI_DEV_VIDEO_CLOCK", "gauge", MetricId::kGpuClock, "video",
     1.545e9, 1545},
    {"DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS", "gauge",
     MetricId::kGpuMemoryTemperature, "", 71, 71},
    {"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "gauge", MetricId::kGpuTemperature, "",
     61, 61},
    {"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS", "gauge",
     MetricId::kGpuPowerAverage, "", 512.345, 512.345},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter",
     MetricId::kGpuEnergy, "", 8000000.123, 8000000123},
    {"DCGM_FI_DEV_POWER_USAGE_INSTANT", "DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", "gauge",
     MetricId::kGpuPowerInstant, "", 530.002, 530.002},
    {"DCGM_FI_DEV_SLOWDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SLOWDOWN_CELSIUS", "gauge",
     MetricId::kGpuTemperatureThreshold, "slowdown", 89, 89},
    {"DCGM_FI_DEV_SHUTDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SHUTDOWN_CELSIUS", "gauge",
     MetricId::kGpuTemperatureThreshold, "shutdown", 92, 92},
    {"DCGM_FI_DEV_POWER_MGMT_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS", "gauge",
     MetricId::kGpuPowerLimitRequested, "", 650, 650},
    {"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS", "gauge",
     MetricId::kGpuPowerLimit, "", 700, 700},
    {"DCGM_FI_DEV_PSTATE", "DCGM_FI_DEV_GPU_PSTATE", "gauge", MetricId::kGpuPerformanceState, "", 8,
     8},
    {"DCGM_FI_DEV_FAN_SPEED", "DCGM_FI_DEV_FAN_SPEED", "gauge", MetricId::kGpuFanSpeed, "0", 0.37,
     37},
    {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL", "counter",
     MetricId::kGpuPcieReplays, "", 5, 5},
    {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "gauge", MetricId::kGpuUtilization, "",
     0.57, 57},
    {"DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "gauge",
     MetricId::kGpuMemoryUtilization, "", 0.29, 29},
    {"DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_ENC_UTIL", "gauge", MetricId::kGpuEncoderUtilization, "",
     0.07, 7},
    {"DCGM_FI_DEV_DEC_UTIL", "DCGM_FI_DEV_DEC_UTIL", "gauge", MetricId::kGpuDecoderUtilization, "",
     0.14, 14},
    {"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR", "gauge", MetricId::kGpuXidLast, "", 79, 79},
    {"DCGM_FI_DEV_PCIE_LINK_GEN", "DCGM_FI_DEV_PCIE_LINK_GEN", "gauge",
     MetricId::kGpuPcieGeneration, "", 5, 5},
    {"DCGM_FI_DEV_PCIE_LINK_WIDTH", "DCGM_FI_DEV_PCIE_LINK_WIDTH", "gauge", MetricId::kGpuPcieWidth,
     "", 16, 16},
    {"DCGM_FI_DEV_POWER_VIOLATION", "DCGM_FI_DEV_POWER_VIOLATION", "counter",
     MetricId::kGpuViolationSeconds, "power", 1.5, 1.5e9},
    {"DCGM_FI_DEV_THERMAL_VIOLATION", "DCGM_FI_DEV_THERMAL_VIOLATION", "counter",
     MetricId::kGpuViolationSeconds, "thermal", 0.25, 2.5e8},
    {"DCGM_FI_DEV_SYNC_BOOST_VIOLATION", "DCGM_FI_DEV_SYNC_BOOST_VIOLATION", "counter",
     MetricId::kGpuViolationSeconds, "sync_boost", 2, 2e9},
    {"DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", "counter",
     MetricId::kGpuViolationSeconds, "board_limit", 3, 3e9},
    {"DCGM_FI_DEV_LOW_UTIL_VIOLATION", "DCGM_FI_DEV_LOW_UTIL_VIOLATION", "counter",
     MetricId::kGpuViolationSeconds, "low_utilization", 4, 4e9},
    {"DCGM_FI_DEV_RELIABILITY_VIOLATION", "DCGM_FI_DEV_RELIABILITY_VIOLATION", "counter",
     MetricId::kGpuViolationSeconds, "reliability", 5, 5e9},
    {"DCGM_FI_DEV_FB_TOTAL", "DCGM_FI_DEV_FB_TOTAL", "gauge", MetricId::kGpuMemoryTotal, "",
     81559 * kMib, 81559},
    {"DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_FREE", "gauge", MetricId::kGpuMemoryFree, "",
     49152 * kMib, 49152},
    {"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_USED", "gauge", MetricId::kGpuMemoryUsed, "",
     32767.5 * kMib, 32767.5},
    {"DCGM_FI_DEV_FB_RESERVED", "DCGM_FI_DEV_FB_RESERVED", "gauge", MetricId::kGpuMemoryReserved,
     "", 512 * kMib, 512},
    {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "counter",
     MetricId::kGpuEccVolatileCorrected, "", 6, 6},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "counter",
     MetricId::kGpuEccVolatileUncorrected, "", 1, 1},
    {"DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "counter",
     MetricId::kGpuEccAggregateCorrected, "", 60, 60},
    {"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "counter",
     MetricId::kGpuEccAggregateUncorrected, "", 10, 10},
    {"DCGM_FI_DEV_RETIRED_SBE", "DCGM_FI_DEV_PAGE_RETIRED_SBE_TOTAL", "counter",
     MetricId::kGpuRetiredPagesCorrected, "", 3, 3},
    {"DCGM_FI_DEV_RETIRED_DBE", "DCGM_FI_DEV_PAGE_RETIRED_DBE_TOTAL", "counter",
     MetricId::kGpuRetiredPagesUncorrected, "", 2, 2},
    {"DCGM_FI_DEV_RETIRED_PENDING", "DCGM_FI_DEV_PAGE_RETIRED_PENDING", "counter",
     MetricId::kGpuRetiredPagesPending, "", 1, 1},
    {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL",
     "counter", MetricId::kGpuRemappedRowsUncorrected, "", 4, 4},
    {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL", "counter",
     MetricId::kGpuRemappedRowsCorrected, "", 7, 7},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED", "gauge",
     MetricId::kGpuRemappedRowsFailure, "", 1, 1},
    {"DCGM_FI_DEV_ROW_REMAP_PENDING", "DCGM_FI_DEV_ROW_REMAP_PENDING", "gauge",
     MetricId::kGpuRemappedRowsPending, "", 0, 0},
    {"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL",
     "counter", MetricId::kGpuNvlinkCrcErrors, "0", 9, 9},
    {"DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_TOTAL",
     "counter", MetricId::kGpuNvlinkCrcDataErrors, "0", 8, 8},
    {"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL",
     "counter", MetricId::kGpuNvlinkReplays, "0", 2, 2},
    {"DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL",
     "counter", MetricId::kGpuNvlinkRecoveries, "0", 1, 1},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "gauge",
     MetricId::kGpuGraphicsActivity, "", 0.615, 0.615},
    {"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO", "gauge", MetricId::kGpuSmActivity, "",
     0.5, 0.5},
    {"DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO", "gauge",
     MetricId::kGpuSmOccupancy, "", 0.25, 0.25},
    {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO", "gauge",
     MetricId::kGpuTensorActivity, "", 0.333, 0.333},
    {"DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO", "gauge",
     MetricId::kGpuDramActivity, "", 0.4, 0.4},
    {"DCGM_FI_PROF_PIPE_FP64_ACTIVE", "DCGM_FI_PROF_FP64_UTIL_RATIO", "gauge",
     MetricId::kGpuFp64Activity, "", 0.01, 0.01},
    {"DCGM_FI_PROF_PIPE_FP32_ACTIVE", "DCGM_FI_PROF_FP32_UTIL_RATIO", "gauge",
     MetricId::kGpuFp32Activity, "", 0.02, 0.02},
    {"DCGM_FI_PROF_PIPE_FP16_ACTIVE", "DCGM_FI_PROF_FP16_UTIL_RATIO", "gauge",
     MetricId::kGpuFp16Activity, "", 0.03, 0.03},
    {"DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_TX_BYTES", "gauge",
     MetricId::kGpuPcieTransmitMean, "", 1048576000, 1048576000},
    {"DCGM_FI_PROF_PCIE_RX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES", "gauge",
     MetricId::kGpuPcieReceiveMean, "", 2097152000, 2097152000},
    {"DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_PROF_NVLINK_TX_BYTES", "gauge",
     MetricId::kGpuNvlinkTransmitMean, "", 3145728000, 3145728000},
    {"DCGM_FI_PROF_NVLINK_RX_BYTES", "DCGM_FI_PROF_NVLINK_RX_BYTES", "gauge",
     MetricId::kGpuNvlinkReceiveMean, "", 4194304000, 4194304000},
};

// A machine whose one GPU tells this and nothing else.
model::Snapshot machine_with(model::Samples samples) {
  model::Snapshot s = names_machine();
  s.devices.resize(1);
  s.devices[0].samples = std::move(samples);
  return s;
}

TEST(DcgmNames, EveryFamilyHasItsNameTypeAndUnitAndNoOtherComesWithIt) {
  for (const Case& c : kCases) {
    const model::Snapshot s = machine_with({{c.metric, c.label, fresh_value(c.ours)}});
    for (const auto& [set, name] : {std::pair(kOld, c.name), std::pair(kNew, c.name46)}) {
      auto families = read_exposition(text_by(set, s));
      // A board that knows nothing but the moment calls it its power as well.
      if (c.metric == MetricId::kGpuPowerInstant) families.erase(set == kOld ? kPower : kPower46);
      ASSERT_EQ(families.size(), 1u) << name;
      EXPECT_EQ(families.begin()->first, name);
      EXPECT_EQ(families.begin()->second.type, c.type) << name;
      ASSERT_EQ(families.begin()->second.samples.size(), 1u) << name;
      EXPECT_EQ(families.begin()->second.samples[0].number, c.theirs) << name;
    }
  }
}

TEST(DcgmNames, TheOldNamesAreTheGoldenOnes) {
  expect_golden("metrics.dcgm.prom", text_by(kOld, names_machine()));
}

TEST(DcgmNames, TheNewNamesAreTheGoldenOnes) {
  expect_golden("metrics.dcgm46.prom", text_by(kNew, names_machine()));
}

TEST(DcgmNames, LabelsStandAsDcgmExporterPrintsThem) {
  EXPECT_THAT(text_by(kOld, names_machine()),
              HasSubstr("\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\","
                        "UUID=\"GPU-8F6E1D2C-3b4a-5968-7786-95a4b3c21000\","
                        "pci_bus_id=\"00000000:3B:00.0\",device=\"nvidia2\","
                        "modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"box\","
                        "DCGM_FI_DRIVER_VERSION=\"580.105.08\"} 61\n"));
  EXPECT_THAT(text_by(kNew, names_machine()),
              HasSubstr("modelName=\"NVIDIA H100 80GB HBM3\",hostname=\"box\","
                        "DCGM_FI_DRIVER_VERSION=\"580.105.08\"} 61\n"));
}

// FAULT-015, FAULT-027
TEST(DcgmNames, AGpuInstanceStandsOnceUnderItsParentAndTheBoardsReadingsOnTheBoard) {
  const auto families = read_exposition(text_by(kOld, names_machine()));
  const auto& used = families.at("DCGM_FI_DEV_FB_USED").samples;
  ASSERT_EQ(used.size(), 3u);  // the whole GPU, and two GPU instances of three MIG devices
  EXPECT_EQ(used[1].label("GPU_I_ID"), "1");
  EXPECT_EQ(used[1].label("GPU_I_PROFILE"), "2g.20gb");
  EXPECT_EQ(used[1].label("UUID"), "GPU-8f6e1d2c-3b4a-5968-7786-95a4b3c21001");
  EXPECT_EQ(used[1].label("device"), "nvidia3");
  EXPECT_EQ(used[1].number, 1024);
  EXPECT_EQ(used[2].label("GPU_I_PROFILE"), "1g.10gb");
  EXPECT_FALSE(used[0].has("GPU_I_ID"));
  for (const char* name : {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_POWER_USAGE"}) {
    EXPECT_EQ(families.at(name).samples.size(), 2u) << name;
    for (const ReadSample& sample : families.at(name).samples) {
      EXPECT_FALSE(sample.has("GPU_I_ID")) << name;
    }
  }
}

TEST(DcgmNames, AnInstancesReadingMayStandOnAnyOfItsDevices) {
  model::Snapshot s = names_machine();
  std::erase_if(s.devices[2].samples, [](const model::Sample& sample) {
    return sample.metric == MetricId::kGpuTensorActivity;
  });
  const auto families = read_exposition(text_by(kOld, s));
  EXPECT_EQ(families.at("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE").samples.size(), 3u);
}

// FAULT-012
TEST(DcgmNames, TheLastXidNamesItselfAndNoneIsZero) {
  EXPECT_THAT(text_by(kOld, names_machine()),
              HasSubstr(",err_code=\"79\",err_msg=\"gpu has fallen off the bus\"} 79\n"));
  model::Snapshot s = machine_with({{MetricId::kGpuXidLast, "", fresh_value(0)}});
  EXPECT_THAT(text_by(kOld, s), HasSubstr(",err_code=\"0\",err_msg=\"No Error\"} 0\n"));
  s = machine_with({{MetricId::kGpuXidLast, "", fresh_value(99999)}});
  EXPECT_THAT(text_by(kOld, s),
              HasSubstr(",err_code=\"99999\",err_msg=\"Unknown Error\"} 99999\n"));
}

// FAULT-119
TEST(DcgmNames, ActivityComesFromActivityAndNeverFromUtilization) {
  EXPECT_THAT(text_by(kOld, machine_with({{MetricId::kGpuUtilization, "", fresh_value(1)},
                                          {MetricId::kGpuMemoryUtilization, "", fresh_value(1)}})),
              Not(HasSubstr("DCGM_FI_PROF_")));
}

// FAULT-014, FAULT-023
TEST(DcgmNames, WhatIsNotFreshIsNotThere) {
  const size_t all = read_exposition(text_by(kOld, names_machine())).size();
  for (size_t i = 0; i < whole_gpu().samples.size(); ++i) {
    const auto reason = static_cast<Reason>(i % model::kReasonCount);
    model::Snapshot s = names_machine();
    Value& value = s.devices[0].samples[i].value;
    value = value.stale(reason);
    const std::string stale = text_by(kOld, s);
    value = Value::absent(reason);
    EXPECT_EQ(stale, text_by(kOld, s));
    EXPECT_LE(read_exposition(stale).size(), all);
    EXPECT_THAT(stale, Not(testing::ContainsRegex("N/A|nan|NaN|Inf| -1\n")));
  }
}

TEST(DcgmNames, PowerIsTheMomentOnlyOnBoardsThatNeverHaveAnAverage) {
  model::Samples samples = {{MetricId::kGpuPowerAverage, "", Value::absent(Reason::kNotSupported)},
                            {MetricId::kGpuPowerInstant, "", fresh_value(70.5)}};
  EXPECT_EQ(read_exposition(text_by(kOld, machine_with(samples)))
                .at("DCGM_FI_DEV_POWER_USAGE")
                .samples[0]
                .number,
            70.5);
  samples[0].value = Value::absent(Reason::kDriverError);
  EXPECT_THAT(text_by(kOld, machine_with(samples)), Not(HasSubstr("DCGM_FI_DEV_POWER_USAGE{")));
}

TEST(DcgmNames, AnOutdatedSnapshotHasNoReadings) {
  EXPECT_EQ(render(names_machine(), {.outdated = true, .names = kOld}), "");
}

TEST(DcgmNames, TheMaskOfReasonsIsTheDriversOwnOnceAllAreKnown) {
  model::Snapshot s = names_machine();
  EXPECT_THAT(text_by(kOld, s), HasSubstr("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{"));
  EXPECT_EQ(
      read_exposition(text_by(kNew, s)).at("DCGM_FI_DEV_CLOCKS_EVENT_REASONS").samples[0].number,
      0x4 | 0x40);
  for (model::Sample& sample : s.devices[0].samples) {
    if (sample.label == "display_clock") sample.value = Value::absent(Reason::kDriverError);
  }
  EXPECT_THAT(text_by(kOld, s), Not(HasSubstr("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS")));
}

TEST(DcgmNames, LinksAreTotalledOnceEachIsKnown) {
  model::Samples links = {{MetricId::kGpuNvlinkReplays, "0", fresh_value(2)},
                          {MetricId::kGpuNvlinkReplays, "1", fresh_value(3)},
                          {MetricId::kGpuNvlinkReplays, "2", Value::absent(Reason::kNotSupported)}};
  constexpr auto kFamily = "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL";
  EXPECT_EQ(read_exposition(text_by(kOld, machine_with(links))).at(kFamily).samples[0].number, 5);
  links[1].value = links[1].value.stale(Reason::kBusy);
  EXPECT_EQ(text_by(kOld, machine_with(links)), "");
  EXPECT_EQ(text_by(kOld, machine_with({{MetricId::kGpuNvlinkReplays, "",
                                         Value::absent(Reason::kNotSupported)}})),
            "");
}

TEST(DcgmNames, OldAndNewTogetherHaveEveryFamilyOnce) {
  const NameSets both = kOld.with(NameSet::kDcgm46);
  const auto families = read_exposition(text_by(both, names_machine()));
  for (const auto& set : {kOld, kNew}) {
    for (const auto& [name, family] : read_exposition(text_by(set, names_machine()))) {
      EXPECT_TRUE(families.contains(name)) << name;
    }
  }
  EXPECT_TRUE(families.at("DCGM_FI_DEV_SM_CLOCK").samples[0].has("Hostname"));
}

// FAULT-130
TEST(DcgmNames, HostileTextIsEscapedInEveryLabel) {
  model::Snapshot s = names_machine();
  model::Device device = *s.devices[0].device;
  device.name = "a\"} 1\nDCGM_FI_DEV_GPU_TEMP{gpu=\"9\\";
  device.driver = "\xff\"";
  s.devices[0].device = std::make_shared<const model::Device>(device);
  s.host_name = "h\\\"x";
  const auto families = read_exposition(text_by(kOld, s));
  const ReadSample& sample = families.at("DCGM_FI_DEV_GPU_TEMP").samples[0];
  EXPECT_EQ(families.at("DCGM_FI_DEV_GPU_TEMP").samples.size(), 2u);
  EXPECT_EQ(sample.label("modelName"), device.name);
  EXPECT_EQ(sample.label("Hostname"), "h\\\"x");
}

TEST(DcgmNames, OnlyNvidiasDevicesHaveThem) {
  model::Snapshot s = names_machine();
  model::Device device = *s.devices[0].device;
  device.vendor = "amd";
  s.devices = {s.devices[0]};
  s.devices[0].device = std::make_shared<const model::Device>(device);
  EXPECT_EQ(text_by(kOld, s), "");
}

TEST(DcgmNames, WhatIsNotKnownOfADeviceIsNoLabelOfAMadeUpOne) {
  model::Snapshot s = names_machine();
  s.devices.resize(1);
  s.devices[0].device = std::make_shared<const model::Device>(
      model::Device{.uuid = "PCI-0000:3b:00.0", .vendor = "nvidia", .index = 0});
  s.host_name = "";
  EXPECT_THAT(text_by(kOld, s),
              HasSubstr("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"PCI-0000:3b:00.0\","
                        "pci_bus_id=\"\",device=\"\",modelName=\"\"} 61\n"));
}

TEST(DcgmNames, ASimulatedMachineSaysSoUnderTheseNamesToo) {
  model::Snapshot s = names_machine();
  EXPECT_THAT(text_by(kOld, s), Not(HasSubstr("gpusight")));
  s.simulated = true;
  EXPECT_THAT(text_by(kOld, s), HasSubstr("# HELP gpusight_simulated SIMULATED"));
}

}  // namespace
}  // namespace gpusight::prometheus
