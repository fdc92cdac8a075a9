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

constexpr NameSets kNames = NameSet::kNvidiaSmi;

// A family of nvidia_gpu_exporter's, what of ours fills it, and what it then says.
struct Case {
  const char* name;  // after "nvidia_smi_"
  MetricId metric;
  const char* label;
  double ours;
  double theirs;
};

const Case kCases[] = {
    {"utilization_gpu_ratio", MetricId::kGpuUtilization, "", 0.57, 0.57},
    {"utilization_memory_ratio", MetricId::kGpuMemoryUtilization, "", 0.29, 0.29},
    {"utilization_encoder_ratio", MetricId::kGpuEncoderUtilization, "", 0.07, 0.07},
    {"utilization_decoder_ratio", MetricId::kGpuDecoderUtilization, "", 0.14, 0.14},
    {"utilization_jpeg_ratio", MetricId::kGpuJpegUtilization, "", 0.01, 0.01},
    {"utilization_ofa_ratio", MetricId::kGpuOfaUtilization, "", 0.02, 0.02},
    {"memory_total_bytes", MetricId::kGpuMemoryTotal, "", 86436216832, 86436216832},
    {"memory_used_bytes", MetricId::kGpuMemoryUsed, "", 34359738368, 34359738368},
    {"memory_free_bytes", MetricId::kGpuMemoryFree, "", 51539607552, 51539607552},
    {"memory_reserved_bytes", MetricId::kGpuMemoryReserved, "", 536870912, 536870912},
    {"temperature_gpu", MetricId::kGpuTemperature, "", 61, 61},
    {"temperature_memory", MetricId::kGpuMemoryTemperature, "", 71, 71},
    {"temperature_gpu_tlimit", MetricId::kGpuTemperatureMargin, "", 26, 26},
    {"power_draw_watts", MetricId::kGpuPowerAverage, "", 512.345, 512.345},
    {"power_draw_average_watts", MetricId::kGpuPowerAverage, "", 512.345, 512.345},
    {"power_draw_instant_watts", MetricId::kGpuPowerInstant, "", 530.002, 530.002},
    {"power_limit_watts", MetricId::kGpuPowerLimitRequested, "", 650, 650},
    {"enforced_power_limit_watts", MetricId::kGpuPowerLimit, "", 640, 640},
    {"power_default_limit_watts", MetricId::kGpuPowerLimitDefault, "", 700, 700},
    {"power_min_limit_watts", MetricId::kGpuPowerLimitLowest, "", 200, 200},
    {"power_max_limit_watts", MetricId::kGpuPowerLimitHighest, "", 700, 700},
    {"clocks_current_graphics_clock_hz", MetricId::kGpuClock, "graphics", 1.98e9, 1.98e9},
    {"clocks_current_sm_clock_hz", MetricId::kGpuClock, "sm", 1.98e9, 1.98e9},
    {"clocks_current_memory_clock_hz", MetricId::kGpuClock, "memory", 2.619e9, 2.619e9},
    {"clocks_current_video_clock_hz", MetricId::kGpuClock, "video", 1.545e9, 1.545e9},
    {"clocks_max_graphics_clock_hz", MetricId::kGpuClockLimit, "graphics", 1.98e9, 1.98e9},
    {"clocks_max_sm_clock_hz", MetricId::kGpuClockLimit, "sm", 1.98e9, 1.98e9},
    {"clocks_max_memory_clock_hz", MetricId::kGpuClockLimit, "memory", 2.619e9, 2.619e9},
    {"fan_speed_ratio", MetricId::kGpuFanSpeed, "0", 0.37, 0.37},
    {"pstate", MetricId::kGpuPerformanceState, "", 8, 8},
    {"pcie_link_gen_current", MetricId::kGpuPcieGeneration, "", 4, 4},
    {"pcie_link_gen_max", MetricId::kGpuPcieGenerationLimit, "", 5, 5},
    {"pcie_link_gen_gpumax", MetricId::kGpuPcieGenerationDeviceLimit, "", 5, 5},
    {"pcie_link_width_current", MetricId::kGpuPcieWidth, "", 8, 8},
    {"pcie_link_width_max", MetricId::kGpuPcieWidthLimit, "", 16, 16},
    {"clocks_event_reasons_gpu_idle", MetricId::kGpuThrottle, "idle", 1, 1},
    {"clocks_event_reasons_applications_clocks_setting", MetricId::kGpuThrottle,
     "applications_clocks", 1, 1},
    {"clocks_event_reasons_sw_power_cap", MetricId::kGpuThrottle, "sw_power_cap", 1, 1},
    {"clocks_event_reasons_hw_slowdown", MetricId::kGpuThrottle, "hw_slowdown", 0, 0},
    {"clocks_event_reasons_hw_thermal_slowdown", MetricId::kGpuThrottle, "hw_thermal", 1, 1},
    {"clocks_event_reasons_hw_power_brake_slowdown", MetricId::kGpuThrottle, "hw_power_brake", 1,
     1},
    {"clocks_event_reasons_sw_thermal_slowdown", MetricId::kGpuThrottle, "sw_thermal", 1, 1},
    {"clocks_event_reasons_sync_boost", MetricId::kGpuThrottle, "sync_boost", 1, 1},
    {"clocks_event_reasons_counters_sw_power_cap_seconds", MetricId::kGpuThrottleSeconds,
     "sw_power_cap", 1.5, 1.5},
    {"clocks_event_reasons_counters_sw_thermal_slowdown_seconds", MetricId::kGpuThrottleSeconds,
     "sw_thermal", 2.5, 2.5},
    {"clocks_event_reasons_counters_hw_thermal_slowdown_seconds", MetricId::kGpuThrottleSeconds,
     "hw_thermal", 3.5, 3.5},
    {"clocks_event_reasons_counters_hw_power_brake_slowdown_seconds", MetricId::kGpuThrottleSeconds,
     "hw_power_brake", 4.5, 4.5},
    {"clocks_event_reasons_counters_sync_boost_seconds", MetricId::kGpuThrottleSeconds,
     "sync_boost", 5.5, 5.5},
    {"ecc_mode_current", MetricId::kGpuEccMode, "", 1, 1},
    {"ecc_mode_pending", MetricId::kGpuEccModePending, "", 0, 0},
    {"ecc_errors_corrected_volatile_total", MetricId::kGpuEccVolatileCorrected, "", 1, 1},
    {"ecc_errors_corrected_volatile_dram", MetricId::kGpuEccVolatileCorrectedAt, "dram", 2, 2},
    {"ecc_errors_corrected_volatile_sram", MetricId::kGpuEccVolatileCorrectedAt, "sram", 3, 3},
    {"ecc_errors_corrected_volatile_device_memory", MetricId::kGpuEccVolatileCorrectedAt, "dram", 4,
     4},
    {"ecc_errors_corrected_aggregate_total", MetricId::kGpuEccAggregateCorrected, "", 1, 1},
    {"ecc_errors_corrected_aggregate_dram", MetricId::kGpuEccAggregateCorrectedAt, "dram", 2, 2},
    {"ecc_errors_corrected_aggregate_sram", MetricId::kGpuEccAggregateCorrectedAt, "sram", 3, 3},
    {"ecc_errors_corrected_aggregate_device_memory", MetricId::kGpuEccAggregateCorrectedAt, "dram",
     4, 4},
    {"ecc_errors_uncorrected_volatile_total", MetricId::kGpuEccVolatileUncorrected, "", 1, 1},
    {"ecc_errors_uncorrected_volatile_dram", MetricId::kGpuEccVolatileUncorrectedAt, "dram", 2, 2},
    {"ecc_errors_uncorrected_volatile_sram", MetricId::kGpuEccVolatileUncorrectedAt, "sram", 3, 3},
    {"ecc_errors_uncorrected_volatile_device_memory", MetricId::kGpuEccVolatileUncorrectedAt,
     "dram", 4, 4},
    {"ecc_errors_uncorrected_aggregate_total", MetricId::kGpuEccAggregateUncorrected, "", 1, 1},
    {"ecc_errors_uncorrected_aggregate_dram", MetricId::kGpuEccAggregateUncorrectedAt, "dram", 2,
     2},
    {"ecc_errors_uncorrected_aggregate_sram", MetricId::kGpuEccAggregateUncorrectedAt, "sram", 3,
     3},
    {"ecc_errors_uncorrected_aggregate_device_memory", MetricId::kGpuEccAggregateUncorrectedAt,
     "dram", 4, 4},
    {"remapped_rows_correctable", MetricId::kGpuRemappedRowsCorrected, "", 7, 7},
    {"remapped_rows_uncorrectable", MetricId::kGpuRemappedRowsUncorrected, "", 4, 4},
    {"remapped_rows_pending", MetricId::kGpuRemappedRowsPending, "", 1, 1},
    {"remapped_rows_failure", MetricId::kGpuRemappedRowsFailure, "", 0, 0},
    {"remapped_rows_histogram_partial", MetricId::kGpuRowRemapBanks, "partial", 12, 12},
    {"mig_mode_current", MetricId::kGpuMigMode, "", 1, 1},
    {"mig_mode_pending", MetricId::kGpuMigModePending, "", 1, 1},
    {"encoder_stats_session_count", MetricId::kGpuEncoderSessions, "", 3, 3},
    {"encoder_stats_average_fps", MetricId::kGpuEncoderFrameRate, "", 60, 60},
    {"encoder_stats_average_latency", MetricId::kGpuEncoderLatency, "", 0.000755, 755},
    {"gpu_recovery_action", MetricId::kGpuRecoveryAction, "", 4, 4},
    {"fabric_state", MetricId::kGpuFabricState, "", 3, 3},
    {"compute_mode", MetricId::kGpuComputeMode, "", 3, 3},
    {"persistence_mode", MetricId::kGpuPersistenceMode, "", 1, 1},
    {"energy_joules_total", MetricId::kGpuEnergy, "", 8000000.123, 8000000.123},
    {"pcie_throughput_tx_bytes_per_second", MetricId::kGpuPcieTransmitRate, "", 1024000, 1024000},
    {"pcie_throughput_rx_bytes_per_second", MetricId::kGpuPcieReceiveRate, "", 2048000, 2048000},
};

std::map<std::string, ReadFamily> read_machine(const model::Snapshot& s,
                                               const model::Caller& caller = {}) {
  return read_exposition(text_by(kNames, s, caller));
}

TEST(NvidiaSmiNames, EveryFamilyHasItsNameTypeAndUnit) {
  for (const Case& c : kCases) {
    model::Snapshot s = names_machine();
    s.devices.resize(1);
    s.devices[0].samples = {{c.metric, c.label, fresh_value(c.ours)}};
    const auto families = read_machine(s);
    const std::string name = std::string("nvidia_smi_") + c.name;
    ASSERT_TRUE(families.contains(name)) << name;
    const ReadFamily& family = families.at(name);
    EXPECT_EQ(family.type, name == "nvidia_smi_energy_joules_total" ? "counter" : "gauge") << name;
    ASSERT_EQ(family.samples.size(), 1u) << name;
    EXPECT_EQ(family.samples[0].number, c.theirs) << name;
    EXPECT_EQ(family.samples[0].labels,
              (LabelList{{"uuid", "8f6e1d2c-3b4a-5968-7786-95a4b3c21000"}}))
        << name;
  }
}

TEST(NvidiaSmiNames, TheTextIsTheGoldenOne) {
  expect_golden("metrics.nvidia_smi.prom", text_by(kNames, names_machine()));
}

TEST(NvidiaSmiNames, TheFactsOfAGpuStandInAlphabeticalOrder) {
  EXPECT_THAT(text_by(kNames, names_machine()),
              HasSubstr("\nnvidia_smi_gpu_info{compute_cap=\"9.0\",cuda_version=\"13.0\","
                        "driver_model_current=\"[N/A]\",driver_model_pending=\"[N/A]\","
                        "driver_version=\"580.105.08\",index=\"0\",name=\"NVIDIA H100 80GB HBM3\","
                        "pci_bus_id=\"00000000:3B:00.0\",pci_sub_device_id=\"0x16C110DE\","
                        "serial=\"1654923009999\",uuid=\"8f6e1d2c-3b4a-5968-7786-95a4b3c21000\","
                        "vbios_version=\"96.00.61.00.01\"} 1\n"));
}

TEST(NvidiaSmiNames, XidErrorsKeepTheirNumber) {
  const auto families = read_machine(names_machine());
  const ReadFamily& counts = families.at("nvidia_smi_xid_errors_total");
  EXPECT_EQ(counts.type, "counter");
  ASSERT_EQ(counts.samples.size(), 2u);
  EXPECT_EQ(counts.samples[1].labels,
            (LabelList{{"uuid", "8f6e1d2c-3b4a-5968-7786-95a4b3c21000"}, {"xid", "79"}}));
  EXPECT_EQ(counts.samples[1].number, 2);
  const ReadFamily& times = families.at("nvidia_smi_xid_last_timestamp_seconds");
  EXPECT_EQ(times.type, "gauge");
  EXPECT_EQ(times.samples[1].number, 1767225595.5);
}

TEST(NvidiaSmiNames, MigDevicesAreListedAndTheirInstancesMeasured) {
  const auto families = read_machine(names_machine());
  ASSERT_EQ(families.at("nvidia_smi_mig_info").samples.size(), 3u);
  const std::string parent = "8f6e1d2c-3b4a-5968-7786-95a4b3c21001";
  EXPECT_EQ(families.at("nvidia_smi_mig_info").samples[1].labels,
            (LabelList{{"compute_instance_id", "1"},
                       {"gpu_instance_id", "1"},
                       {"mig_uuid", "MIG-1-1"},
                       {"profile", "1c.2g.20gb"},
                       {"uuid", parent}}));
  const auto& used = families.at("nvidia_smi_mig_memory_used_bytes").samples;
  ASSERT_EQ(used.size(), 2u);
  EXPECT_EQ(used[0].labels, (LabelList{{"gpu_instance_id", "1"}, {"uuid", parent}}));
  EXPECT_EQ(used[0].number, 1073741824);
  EXPECT_EQ(families.at("nvidia_smi_mig_tensor_activity_ratio").samples[1].number, 0.2);
  EXPECT_EQ(families.at("nvidia_smi_mig_sm_activity_ratio").samples.size(), 2u);
  // A MIG device's readings are its own; the GPU's families are the GPU's.
  EXPECT_EQ(families.at("nvidia_smi_memory_used_bytes").samples.size(), 1u);
}

TEST(NvidiaSmiNames, EveryGpuHasAnIndexAndKnowsHowManyThereAre) {
  const auto families = read_machine(names_machine());
  ASSERT_EQ(families.at("nvidia_smi_index").samples.size(), 2u);
  EXPECT_EQ(families.at("nvidia_smi_index").samples[1].number, 1);
  EXPECT_EQ(families.at("nvidia_smi_count").samples[0].number, 2);
}

TEST(NvidiaSmiNames, DriversBefore535CallTheReasonsOtherwise) {
  model::Snapshot s = names_machine();
  for (model::DeviceSnapshot& device : s.devices) {
    model::Device old = *device.device;
    old.driver = "525.147.05";
    device.device = std::make_shared<const model::Device>(old);
  }
  const auto families = read_machine(s);
  EXPECT_TRUE(families.contains("nvidia_smi_clocks_throttle_reasons_hw_thermal_slowdown"));
  EXPECT_TRUE(families.contains("nvidia_smi_clocks_throttle_reasons_active"));
  EXPECT_FALSE(families.contains("nvidia_smi_clocks_event_reasons_hw_thermal_slowdown"));
  EXPECT_EQ(
      read_machine(names_machine()).at("nvidia_smi_clocks_event_reasons_active").samples[0].number,
      0x4 | 0x40);
}

// FAULT-128, FAULT-095, FAULT-064
TEST(NvidiaSmiNames, AStrangerIsToldHowManyProcessesThereAreAndNoneOfThem) {
  const std::string text = text_by(kNames, names_machine());
  EXPECT_THAT(text, Not(HasSubstr("compute_app_info")));
  EXPECT_THAT(text, Not(HasSubstr("train")));
  EXPECT_THAT(text, Not(HasSubstr("4711")));
  const auto families = read_exposition(text);
  ASSERT_EQ(families.at("nvidia_smi_compute_apps").samples.size(), 2u);
  EXPECT_EQ(families.at("nvidia_smi_compute_apps").samples[0].number, 1);
  EXPECT_EQ(families.at("nvidia_smi_compute_apps").samples[1].number, 1);  // on a MIG device
  EXPECT_EQ(families.at("nvidia_smi_compute_apps_last_collect_success").samples[0].number, 1);
}

TEST(NvidiaSmiNames, CallersSeeTheProcessesThatTheyMaySee) {
  const model::Caller own{.identity = model::LocalUser{1000}, .role = model::Role::kOwn};
  auto families = read_machine(names_machine(), own);
  ASSERT_EQ(families.at("nvidia_smi_compute_app_info").samples.size(), 1u);
  EXPECT_EQ(families.at("nvidia_smi_compute_app_info").samples[0].labels,
            (LabelList{{"pid", "4711"},
                       {"process_name", "train"},
                       {"uuid", "8f6e1d2c-3b4a-5968-7786-95a4b3c21000"}}));
  EXPECT_EQ(families.at("nvidia_smi_compute_app_used_memory_bytes").samples[0].number, 34000000000);
  families = read_machine(names_machine(), {.role = model::Role::kAdmin});
  EXPECT_EQ(families.at("nvidia_smi_compute_app_info").samples.size(), 2u);
}

TEST(NvidiaSmiNames, AProcessThatTheGpuAndItsMigDevicesListIsCountedOnce) {
  model::Snapshot s = names_machine();
  s.devices[1].processes_known = true;
  s.devices[1].processes = {process_of(4801, 1001, "serve", 800000000)};
  s.devices[3].processes = {process_of(4801, 1001, "serve", 100000000)};  // on a second part
  const auto families = read_machine(s, {.role = model::Role::kAdmin});
  const auto& memory = families.at("nvidia_smi_compute_app_used_memory_bytes").samples;
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[1].number, 900000000);
  EXPECT_EQ(families.at("nvidia_smi_compute_apps").samples[1].number, 1);
}

TEST(NvidiaSmiNames, PowerIsTheMomentOnlyOnBoardsThatNeverHaveAnAverage) {
  model::Snapshot s = names_machine();
  s.devices.resize(1);
  model::Samples& samples = s.devices[0].samples;
  samples = {{MetricId::kGpuPowerAverage, "", Value::absent(Reason::kNotSupported)},
             {MetricId::kGpuPowerInstant, "", fresh_value(70.5)}};
  EXPECT_EQ(read_machine(s).at("nvidia_smi_power_draw_watts").samples[0].number, 70.5);
  EXPECT_FALSE(read_machine(s).contains("nvidia_smi_power_draw_average_watts"));
  samples[0].value = Value::absent(Reason::kDriverError);
  EXPECT_FALSE(read_machine(s).contains("nvidia_smi_power_draw_watts"));
}

TEST(NvidiaSmiNames, PcieThroughputComesFromActivityWhereTheDriversWindowIsNotReadFor) {
  model::Snapshot s = names_machine();
  s.devices.resize(1);
  s.devices[0].samples = {{MetricId::kGpuPcieTransmitRate, "", Value::absent(Reason::kUnknown)},
                          {MetricId::kGpuPcieTransmitMean, "", fresh_value(3000000)}};
  constexpr auto kFamily = "nvidia_smi_pcie_throughput_tx_bytes_per_second";
  EXPECT_EQ(read_machine(s).at(kFamily).samples[0].number, 3000000);
  s.devices[0].samples[0].value = fresh_value(2000000);
  EXPECT_EQ(read_machine(s).at(kFamily).samples[0].number, 2000000);
}

// FAULT-006
TEST(NvidiaSmiNames, UnknownMemoryOfAProcessIsNoNumber) {
  model::Snapshot s = names_machine();
  s.devices[0].processes[0].memory_bytes = Value::absent(Reason::kNotSupported);
  const auto families = read_machine(s, {.role = model::Role::kAdmin});
  EXPECT_EQ(families.at("nvidia_smi_compute_app_info").samples.size(), 2u);
  EXPECT_EQ(families.at("nvidia_smi_compute_app_used_memory_bytes").samples.size(), 1u);
}

// FAULT-095
TEST(NvidiaSmiNames, TheRowsOfAGpuAreBoundedAndTheirNumberIsNot) {
  model::Snapshot s = names_machine();
  s.devices[0].processes.clear();
  for (int64_t pid = 1; pid <= 5000; ++pid) {
    s.devices[0].processes.push_back(
        process_of(pid, 1000, "p" + std::to_string(pid), static_cast<double>(pid)));
  }
  s.devices[0].processes.push_back(process_of(6000, 1000, "game", 1e9));
  s.devices[0].processes.back().type = model::ProcessType::kGraphics;
  const auto families = read_machine(s, {.role = model::Role::kAdmin});
  const auto& rows = families.at("nvidia_smi_compute_app_info").samples;
  EXPECT_EQ(rows.size(), 64u + 1);
  EXPECT_EQ(rows[0].label("pid"), "5000");  // most memory first
  EXPECT_EQ(families.at("nvidia_smi_compute_apps").samples[0].number, 5000);
}

TEST(NvidiaSmiNames, AMissingListIsNotAnEmptyOne) {
  model::Snapshot s = names_machine();
  s.devices[0].processes_known = false;
  auto families = read_machine(s);
  EXPECT_EQ(families.at("nvidia_smi_compute_apps").samples.size(), 1u);
  EXPECT_EQ(families.at("nvidia_smi_compute_apps_last_collect_success").samples[0].number, 0);
  s = names_machine();
  s.devices[4].processes_known = false;  // one MIG device of three
  families = read_machine(s);
  ASSERT_EQ(families.at("nvidia_smi_compute_apps").samples.size(), 1u);
  EXPECT_EQ(families.at("nvidia_smi_compute_apps_last_collect_success").samples[0].number, 0);
}

TEST(NvidiaSmiNames, CollectingTellsOfItself) {
  auto families = read_machine(names_machine());
  EXPECT_EQ(families.at("nvidia_smi_last_collect_success").samples[0].number, 1);
  EXPECT_EQ(families.at("nvidia_smi_last_collect_success_timestamp_seconds").samples[0].number,
            1767225600.123);
  EXPECT_EQ(families.at("nvidia_smi_last_collect_duration_seconds").samples[0].number, 0.004);
  EXPECT_EQ(families.at("nvidia_smi_failed_scrapes_total").samples[0].number, 4);
  EXPECT_EQ(families.at("nvidia_smi_failed_scrapes_total").type, "counter");
  model::Snapshot s = names_machine();
  s.sources[0].phase = model::SourcePhase::kStuck;
  families = read_machine(s);
  EXPECT_EQ(families.at("nvidia_smi_last_collect_success").samples[0].number, 0);
  EXPECT_FALSE(families.contains("nvidia_smi_last_collect_success_timestamp_seconds"));
}

// FAULT-041
TEST(NvidiaSmiNames, WhenSamplingStandsEveryReadingIsWithdrawnAndSaidSo) {
  const auto families =
      read_exposition(render(names_machine(), {.outdated = true, .names = kNames}));
  EXPECT_EQ(families.at("nvidia_smi_last_collect_success").samples[0].number, 0);
  EXPECT_EQ(families.at("nvidia_smi_last_collect_success_timestamp_seconds").samples[0].number,
            1767225600.123);
  EXPECT_EQ(families.size(), 3u);  // and how many failed
}

// FAULT-038, FAULT-039
TEST(NvidiaSmiNames, AGpuThatDoesNotAnswerIsNotListedButItsXidErrorsAre) {
  model::Snapshot s = names_machine();
  s.devices[0].state = model::DeviceState::kLost;
  for (model::Sample& sample : s.devices[0].samples) {
    const bool is_ours = sample.metric >= MetricId::kGpuXidErrors;
    if (!is_ours) sample.value = Value::absent(Reason::kLost);
  }
  const auto families = read_machine(s);
  for (const char* name :
       {"nvidia_smi_gpu_info", "nvidia_smi_index", "nvidia_smi_temperature_gpu"}) {
    EXPECT_EQ(families.at(name).samples.size(), 1u) << name;
  }
  EXPECT_EQ(families.at("nvidia_smi_count").samples[0].number, 1);
  EXPECT_EQ(families.at("nvidia_smi_xid_errors_total").samples.size(), 2u);
}

// FAULT-091, FAULT-092, FAULT-094
TEST(NvidiaSmiNames, LabelsOfReadingsDoNotChangeWithFactsReadingsOrWhoUsesTheGpu) {
  model::Snapshot changed = names_machine();
  model::Device device = *changed.devices[0].device;
  device.driver = "595.45.04";
  device.index = 3;
  changed.devices[0].device = std::make_shared<const model::Device>(device);
  changed.devices[0].processes[0].owner.pod = "another";
  changed.devices[0].samples[1].value = fresh_value(0.99);
  const auto before = read_machine(names_machine());
  const auto now = read_machine(changed);
  for (const auto& [name, family] : before) {
    if (name == "nvidia_smi_gpu_info") continue;
    ASSERT_TRUE(now.contains(name)) << name;
    ASSERT_EQ(now.at(name).samples.size(), family.samples.size()) << name;
    for (size_t i = 0; i < family.samples.size(); ++i) {
      EXPECT_EQ(now.at(name).samples[i].labels, family.samples[i].labels) << name;
      for (const auto& [label, value] : family.samples[i].labels) {
        EXPECT_NE(label, "pod");
        EXPECT_TRUE(label.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
      }
    }
  }
}

// FAULT-130
TEST(NvidiaSmiNames, HostileTextIsEscapedInEveryLabel) {
  model::Snapshot s = names_machine();
  model::Device device = *s.devices[0].device;
  device.name = "a\"} 1\nnvidia_smi_pstate{uuid=\"x\\";
  s.devices[0].device = std::make_shared<const model::Device>(device);
  s.devices[0].processes[0].owner.command = "\"\n\\\xff";
  const auto families = read_machine(s, {.role = model::Role::kAdmin});
  EXPECT_EQ(families.at("nvidia_smi_gpu_info").samples[0].label("name"), device.name);
  EXPECT_EQ(families.at("nvidia_smi_pstate").samples.size(), 1u);
  EXPECT_EQ(families.at("nvidia_smi_compute_app_info").samples.size(), 2u);
}

TEST(NvidiaSmiNames, BeforeTheFirstTickThereIsNothing) { EXPECT_EQ(text_by(kNames, {}), ""); }

TEST(NvidiaSmiNames, OursTheirsAndDcgmsStandInOneText) {
  const NameSets all = NameSets(NameSet::kGpusight)
                           .with(NameSet::kDcgm)
                           .with(NameSet::kDcgm46)
                           .with(NameSet::kNvidiaSmi);
  const auto families = read_exposition(text_by(all, names_machine()));
  for (const char* name : {"gpu_power_average_watts", "DCGM_FI_DEV_GPU_TEMP",
                           "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "nvidia_smi_temperature_gpu"}) {
    EXPECT_TRUE(families.contains(name)) << name;
  }
}

}  // namespace
}  // namespace gpusight::prometheus
