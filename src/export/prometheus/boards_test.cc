// Grafana's public boards ask for series by name and label; here each panel's questions are put to
// what a machine answers that has all they want. Prometheus itself adds job and instance.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "export/prometheus/exposition_reader.h"
#include "export/prometheus/names_fixture.h"

namespace gpusight::prometheus {
namespace {

using catalog::MetricId;

// What one query of a panel needs: one of these families, with these labels on its series.
struct Wanted {
  int panel;
  std::vector<std::string> any_of;
  std::set<std::string> labels;
};

void expect_found(const std::map<std::string, ReadFamily>& families, const Wanted& wanted) {
  bool found = false;
  for (const std::string& name : wanted.any_of) {
    if (!families.contains(name)) continue;
    found = true;
    // A label that only MIG has need not be on every series, but on some.
    for (const std::string& label : wanted.labels) {
      const bool is_there = std::ranges::any_of(
          families.at(name).samples, [&](const ReadSample& sample) { return sample.has(label); });
      EXPECT_TRUE(is_there) << "panel " << wanted.panel << ": " << name << " has no " << label;
    }
  }
  EXPECT_TRUE(found) << "panel " << wanted.panel << ": there is no " << wanted.any_of.front();
}

// A board that has everything there is: every metric of the catalogue fresh on every device.
model::Snapshot everything() {
  model::Snapshot s = names_machine();
  for (model::DeviceSnapshot& device : s.devices) {
    device.samples.clear();
    for (const catalog::MetricRow& row : catalog::metrics()) {
      if (row.scope != catalog::Scope::kDevice) continue;
      std::set<std::string> labels;
      for (const catalog::LabelNames& series : row.by_label) labels.emplace(series.label);
      if (row.id == MetricId::kGpuThrottle) labels.emplace("display_clock");
      if (labels.empty()) labels.emplace(row.label.empty() ? "" : "0");
      for (const std::string& label : labels) {
        device.samples.push_back({row.id, label, fresh_value(row.max > 1 ? 1 : 0.5)});
      }
    }
    device.processes_known = true;
  }
  return s;
}

// FAULT-104
TEST(Boards, EveryPanelOf12239FindsItsSeries) {
  const auto families = read_exposition(text_by(NameSet::kDcgm, everything()));
  const std::set<std::string> host_and_gpu = {"Hostname", "gpu"};
  const std::set<std::string> instance = {"Hostname", "gpu", "GPU_I_ID", "GPU_I_PROFILE"};
  const std::vector<Wanted> panels = {
      {0, {"DCGM_FI_DEV_FB_FREE"}, host_and_gpu},  // the variables Hostname and gpu
      {12, {"DCGM_FI_DEV_GPU_TEMP"}, host_and_gpu},
      {14, {"DCGM_FI_DEV_GPU_TEMP"}, host_and_gpu},
      {10, {"DCGM_FI_DEV_POWER_USAGE"}, host_and_gpu},
      {16, {"DCGM_FI_DEV_POWER_USAGE"}, host_and_gpu},
      {2, {"DCGM_FI_DEV_SM_CLOCK"}, {"Hostname", "gpu", "UUID"}},
      {6, {"DCGM_FI_PROF_GR_ENGINE_ACTIVE"}, instance},
      {6, {"DCGM_FI_DEV_GPU_UTIL"}, host_and_gpu},  // the same panel before 2023
      {4, {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"}, instance},
      {18, {"DCGM_FI_DEV_FB_USED"}, instance},
  };
  for (const Wanted& wanted : panels) expect_found(families, wanted);
  // It multiplies megahertz and shows percent of one.
  for (const ReadSample& sample : families.at("DCGM_FI_PROF_GR_ENGINE_ACTIVE").samples) {
    EXPECT_LE(sample.number, 1);
  }
}

std::string smi(std::string_view field) { return "nvidia_smi_" + std::string(field); }

// The name that nvidia-smi's field has had on either side of driver 535.
std::vector<std::string> reason(std::string_view name) {
  return {smi("clocks_event_reasons_") + std::string(name),
          smi("clocks_throttle_reasons_") + std::string(name)};
}

std::vector<Wanted> panels_of_14574() {
  const std::set<std::string> uuid = {"uuid"};
  const std::set<std::string> instance = {"uuid", "gpu_instance_id"};
  std::vector<Wanted> panels = {
      {0, {smi("index")}, {}},  // the variables job and node
      {0, {smi("gpu_info")}, {"uuid", "name", "index"}},
      {42,
       {smi("gpu_info")},
       {"uuid", "name", "driver_version", "vbios_version", "pci_bus_id", "index", "serial",
        "compute_cap", "cuda_version"}},
      {43, {smi("compute_app_used_memory_bytes")}, {"uuid", "pid", "process_name"}},
      {43, {smi("compute_app_info")}, {"uuid", "pid", "process_name"}},
      {51, {smi("compute_app_used_memory_bytes")}, {"uuid", "pid", "process_name"}},
      {52, {smi("compute_apps_last_collect_success")}, {}},
      {55, {smi("xid_errors_total")}, {"uuid", "xid"}},
      {61, {smi("xid_last_timestamp_seconds")}, uuid},
      {60, {smi("mig_memory_used_bytes")}, instance},
      {60, {smi("mig_info")}, {"uuid", "gpu_instance_id", "profile"}},
      {58, {smi("mig_sm_activity_ratio")}, instance},
      {59, {smi("mig_tensor_activity_ratio")}, instance},
  };
  const std::pair<int, const char*> plain[] = {
      {35, "gpu_recovery_action"},
      {41, "ecc_errors_uncorrected_aggregate_total"},
      {44, "ecc_errors_uncorrected_volatile_total"},
      {22, "pstate"},
      {39, "pstate"},
      {36, "compute_mode"},
      {6, "utilization_gpu_ratio"},
      {10, "utilization_gpu_ratio"},
      {7, "utilization_memory_ratio"},
      {11, "utilization_memory_ratio"},
      {21, "power_draw_watts"},
      {21, "enforced_power_limit_watts"},
      {21, "power_limit_watts"},
      {21, "power_default_limit_watts"},
      {8, "power_draw_watts"},
      {4, "fan_speed_ratio"},
      {9, "fan_speed_ratio"},
      {16, "temperature_gpu"},
      {15, "temperature_gpu"},
      {20, "clocks_current_graphics_clock_hz"},
      {20, "clocks_max_graphics_clock_hz"},
      {33, "clocks_current_memory_clock_hz"},
      {33, "clocks_max_memory_clock_hz"},
      {12, "clocks_current_graphics_clock_hz"},
      {19, "clocks_current_video_clock_hz"},
      {24, "clocks_current_sm_clock_hz"},
      {18, "clocks_current_memory_clock_hz"},
      {25, "memory_used_bytes"},
      {25, "memory_total_bytes"},
      {17, "memory_used_bytes"},
      {37, "fabric_state"},
      {54, "xid_errors_total"},
      {57, "pcie_throughput_tx_bytes_per_second"},
      {57, "pcie_throughput_rx_bytes_per_second"},
      {56, "energy_joules_total"},
      {62, "energy_joules_total"},
  };
  for (const auto& [panel, name] : plain) panels.push_back({panel, {smi(name)}, uuid});
  for (const char* name :
       {"sw_power_cap", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
        "gpu_idle", "applications_clocks_setting", "sync_boost"}) {
    panels.push_back({38, reason(name), uuid});
    panels.push_back({40, reason(name), uuid});
  }
  return panels;
}

// FAULT-104
TEST(Boards, EveryPanelOf14574FindsItsSeries) {
  const auto families =
      read_exposition(text_by(NameSet::kNvidiaSmi, everything(), {.role = model::Role::kAdmin}));
  for (const Wanted& wanted : panels_of_14574()) expect_found(families, wanted);
}

// FAULT-090
TEST(Boards, ADriverOfAnyAgeAnswersTheSamePanels) {
  for (const char* driver : {"470.256.02", "535.43.02", "610.43.02"}) {
    model::Snapshot s = everything();
    for (model::DeviceSnapshot& device : s.devices) {
      model::Device changed = *device.device;
      changed.driver = driver;
      device.device = std::make_shared<const model::Device>(changed);
    }
    const auto families =
        read_exposition(text_by(NameSet::kNvidiaSmi, s, {.role = model::Role::kAdmin}));
    for (const Wanted& wanted : panels_of_14574()) expect_found(families, wanted);
  }
}

TEST(Boards, PanelsJoinMigReadingsWithTheirProfileByTheseLabels) {
  const auto families = read_exposition(text_by(NameSet::kNvidiaSmi, everything()));
  std::set<std::pair<std::string, std::string>> infos;
  for (const ReadSample& info : families.at("nvidia_smi_mig_info").samples) {
    infos.emplace(info.label("uuid"), info.label("gpu_instance_id"));
  }
  for (const ReadSample& used : families.at("nvidia_smi_mig_memory_used_bytes").samples) {
    EXPECT_TRUE(infos.contains({used.label("uuid"), used.label("gpu_instance_id")}));
  }
}

TEST(Boards, ANameElsewhereIsGivenToOneReadingOnly) {
  for (const auto theirs :
       {&catalog::Elsewhere::dcgm, &catalog::Elsewhere::dcgm46, &catalog::Elsewhere::nvidia_smi}) {
    std::set<std::string_view> names;
    for (const catalog::MetricRow& row : catalog::metrics()) {
      const std::string_view name = row.elsewhere.*theirs;
      EXPECT_TRUE(name.empty() || names.insert(name).second) << name;
      for (const catalog::LabelNames& series : row.by_label) {
        const std::string_view of_series = series.names.*theirs;
        EXPECT_TRUE(of_series.empty() || names.insert(of_series).second) << of_series;
      }
    }
  }
}

}  // namespace
}  // namespace gpusight::prometheus
