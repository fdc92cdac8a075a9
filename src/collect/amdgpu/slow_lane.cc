#include <algorithm>
#include <vector>

#include "base/text.h"
#include "collect/amdgpu/dpm_table.h"
#include "collect/amdgpu/lanes.h"
#include "collect/amdgpu/ras_counts.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;
using model::Reason;
using platform::RootFs;

constexpr MetricId kMetrics[] = {
    MetricId::kGpuPowerLimit,
    MetricId::kGpuPowerLimitDefault,
    MetricId::kGpuPowerLimitLowest,
    MetricId::kGpuPowerLimitHighest,
    MetricId::kGpuTemperatureThreshold,
    MetricId::kGpuClockLimit,
    MetricId::kGpuPcieGeneration,
    MetricId::kGpuPcieWidth,
    MetricId::kGpuPcieGenerationLimit,
    MetricId::kGpuPcieWidthLimit,
    MetricId::kGpuPcieReplays,
    MetricId::kGpuPcieErrors,
    MetricId::kGpuPerformanceLevel,
    MetricId::kGpuEccVolatileCorrected,
    MetricId::kGpuEccVolatileUncorrected,
    MetricId::kGpuEccVolatileCorrectedAt,
    MetricId::kGpuEccVolatileUncorrectedAt,
    MetricId::kGpuEccVolatileDeferredAt,
    MetricId::kGpuRetiredPagesUncorrected,
    MetricId::kGpuRetiredPagesPending,
    MetricId::kGpuAwakeSeconds,
    MetricId::kGpuAsleepSeconds,
};

struct LimitRow {
  std::string_view file;
  MetricId metric;
};
constexpr LimitRow kLimits[] = {
    {"_cap", MetricId::kGpuPowerLimit},
    {"_cap_default", MetricId::kGpuPowerLimitDefault},
    {"_cap_min", MetricId::kGpuPowerLimitLowest},
    {"_cap_max", MetricId::kGpuPowerLimitHighest},
};

struct ThresholdRow {
  std::string_view sensor;
  std::string_view file;
  std::string_view label;
};
constexpr ThresholdRow kThresholds[] = {
    {"edge", "_crit", "slowdown"},
    {"edge", "_emergency", "shutdown"},
    {"junction", "_crit", "hotspot_slowdown"},
    {"junction", "_emergency", "hotspot_shutdown"},
    {"mem", "_crit", "memory_slowdown"},
    {"mem", "_emergency", "memory_shutdown"},
};

constexpr std::string_view kLevels[] = {
    "auto",
    "low",
    "high",
    "manual",
    "profile_standard",
    "profile_min_sclk",
    "profile_min_mclk",
    "profile_peak",
    "perf_determinism",
};

struct AerRow {
  std::string_view file;
  std::string_view line;
  std::string_view label;
};
constexpr AerRow kAer[] = {
    {"aer_dev_correctable", "TOTAL_ERR_COR", "correctable"},
    {"aer_dev_correctable", "RxErr", "receiver"},
    {"aer_dev_correctable", "BadTLP", "bad_tlp"},
    {"aer_dev_correctable", "BadDLLP", "bad_dllp"},
    {"aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", "non_fatal"},
    {"aer_dev_fatal", "TOTAL_ERR_FATAL", "fatal"},
};

// The number of the line "NAME 12".
std::optional<uint64_t> line_number(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() == 2 && words[0] == name) return parse_uint(words[1]);
  }
  return std::nullopt;
}

class SlowLane final : public DeviceLane {
 public:
  SlowLane(const RootFs& root, std::shared_ptr<const AmdDevice> device,
           const catalog::MetricSet& disabled)
      : DeviceLane(root, std::move(device), LaneCadence::kSlow),
        root_(root),
        link_(platform::slot_link_folder(root, gpu().drm.folder, gpu().drm.vendor)),
        ras_(root, gpu()),
        wants_ras_(!disabled.has_all(RasCounts::metrics())) {
    if (gpu().hwmon.empty()) return;
    const auto powers = platform::hwmon_sensors(root, gpu().hwmon, "power", {"cap"});
    if (!powers.empty()) power_ = powers.front().path;
    temperatures_ = platform::hwmon_sensors(root, gpu().hwmon, "temp", {"crit", "emergency"});
  }

 private:
  std::span<const MetricId> metrics() const override { return kMetrics; }

  void read(Report& report) override {
    read_limits(report);
    read_thresholds(report);
    read_clock_limits(report);
    read_link(report);
    read_errors(report);
    read_level(report);
    read_times(report);
    if (wants_ras_) ras_.read(report, reader());
  }

  void read_limits(Report& report) {
    if (power_.empty()) return;
    for (const LimitRow& row : kLimits) {
      const auto microwatts = reader().number(power_ + std::string(row.file));
      if (microwatts) report.set(row.metric, *microwatts * 1e-6);
      if (!microwatts) report.absent(row.metric, reader().reason());
    }
  }

  void read_thresholds(Report& report) {
    for (const platform::HwmonSensor& sensor : temperatures_) {
      for (const ThresholdRow& row : kThresholds) {
        if (row.sensor != sensor.label) continue;
        const auto millidegrees = reader().number(sensor.path + std::string(row.file));
        if (!millidegrees) {
          report.absent(MetricId::kGpuTemperatureThreshold, reader().reason(), row.label);
          continue;
        }
        // Zero or less is how the driver says that there is none.
        if (*millidegrees <= 0) continue;
        report.set(MetricId::kGpuTemperatureThreshold, *millidegrees * 1e-3, {}, row.label);
      }
    }
  }

  void read_clock_limits(Report& report) {
    for (const auto& [file, clock] :
         {std::pair("pp_dpm_sclk", "graphics"), std::pair("pp_dpm_mclk", "memory")}) {
      if (!gpu().has(file)) continue;
      const auto text = reader().text(gpu().path(file));
      if (!text) report.absent(MetricId::kGpuClockLimit, reader().reason(), clock);
      const auto highest = text ? parse_dpm_table(*text).highest : std::nullopt;
      if (highest) report.set(MetricId::kGpuClockLimit, *highest, {}, clock);
    }
  }

  // Of an integrated GPU the link is the chip's own, and its numbers mean nothing.
  void read_link(Report& report) {
    if (gpu().is_apu) return;
    for (const auto& [file, metric] :
         {std::pair("/current_link_speed", MetricId::kGpuPcieGeneration),
          std::pair("/max_link_speed", MetricId::kGpuPcieGenerationLimit)}) {
      const auto text = reader().text(link_ + file);
      if (!text) {
        report.absent(metric, reader().reason());
      } else if (const auto generation = platform::pcie_generation(*text)) {
        report.set(metric, *generation);
      }
    }
    for (const auto& [file, metric] :
         {std::pair("/current_link_width", MetricId::kGpuPcieWidth),
          std::pair("/max_link_width", MetricId::kGpuPcieWidthLimit)}) {
      const auto lanes = reader().number(link_ + file);
      if (!lanes) {
        report.absent(metric, reader().reason());
      } else if (*lanes > 0) {
        report.set(metric, *lanes);
      }
    }
  }

  void read_errors(Report& report) {
    if (gpu().has("pcie_replay_count")) {
      const auto replays = reader().number(gpu().path("pcie_replay_count"));
      if (replays) report.set(MetricId::kGpuPcieReplays, *replays);
      if (!replays) report.absent(MetricId::kGpuPcieReplays, reader().reason());
    }
    for (const std::string_view file :
         {"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"}) {
      if (!gpu().has(file)) continue;
      const auto text = reader().text(gpu().path(file));
      for (const AerRow& row : kAer) {
        if (row.file != file) continue;
        if (!text) report.absent(MetricId::kGpuPcieErrors, reader().reason(), row.label);
        if (!text) continue;
        const auto count = line_number(*text, row.line);
        if (!count) continue;
        report.set(MetricId::kGpuPcieErrors, static_cast<double>(*count), {}, row.label);
      }
    }
  }

  void read_level(Report& report) {
    constexpr std::string_view kFile = "power_dpm_force_performance_level";
    if (!gpu().has(kFile)) return;
    const auto text = reader().text(gpu().path(kFile));
    if (!text) return report.absent(MetricId::kGpuPerformanceLevel, reader().reason());
    const auto* const at = std::ranges::find(kLevels, *text);
    if (at == std::end(kLevels)) {
      return report.absent(MetricId::kGpuPerformanceLevel, Reason::kUnknown);
    }
    report.set(MetricId::kGpuPerformanceLevel, static_cast<double>(at - std::begin(kLevels)));
  }

  void read_times(Report& report) const {
    if (platform::runtime_status_in(root_, gpu().drm.folder) ==
        platform::RuntimeStatus::kUnmanaged) {
      return;
    }
    const platform::PciTimes times = platform::pci_times_in(root_, gpu().drm.folder);
    if (times.awake) report.set(MetricId::kGpuAwakeSeconds, seconds(*times.awake));
    if (times.asleep) report.set(MetricId::kGpuAsleepSeconds, seconds(*times.asleep));
  }

  RootFs root_;
  std::string link_;   // folder whose link is the slot's
  std::string power_;  // "…/power1"; empty: no limits
  std::vector<platform::HwmonSensor> temperatures_;
  RasCounts ras_;
  bool wants_ras_;
};

}  // namespace

std::span<const MetricId> slow_metrics() { return kMetrics; }

std::unique_ptr<DeviceLane> make_slow_lane(const RootFs& root, std::shared_ptr<const AmdDevice> gpu,
                                           const catalog::MetricSet& disabled) {
  return std::make_unique<SlowLane>(root, std::move(gpu), disabled);
}

}  // namespace gpusight::collect::amdgpu
