#include <algorithm>
#include <vector>

#include "collect/amdgpu/dpm_table.h"
#include "collect/amdgpu/lanes.h"
#include "collect/amdgpu/table_filler.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;
using model::Reason;
using platform::HwmonSensor;
using platform::RootFs;

constexpr MetricId kMetrics[] = {
    MetricId::kGpuUtilization,
    MetricId::kGpuMemoryUtilization,
    MetricId::kGpuMediaActivity,
    MetricId::kGpuMemoryUsed,
    MetricId::kGpuMemoryFree,
    MetricId::kGpuMemoryTotal,
    MetricId::kGpuMemoryPoolUsed,
    MetricId::kGpuMemoryPoolTotal,
    MetricId::kGpuTemperature,
    MetricId::kGpuHotspotTemperature,
    MetricId::kGpuMemoryTemperature,
    MetricId::kGpuSensorTemperature,
    MetricId::kGpuPower,
    MetricId::kGpuPowerAverage,
    MetricId::kGpuPowerInstant,
    MetricId::kGpuModulePower,
    MetricId::kGpuComponentPower,
    MetricId::kGpuEnergy,
    MetricId::kGpuVoltage,
    MetricId::kGpuClock,
    MetricId::kGpuFanSpeed,
    MetricId::kGpuFanRpm,
    MetricId::kGpuThrottle,
    MetricId::kGpuThrottleShare,
    MetricId::kGpuPcieRecoveries,
    MetricId::kGpuPcieReplayRollovers,
};

// Raven, Raven2 and Picasso: their gpu_busy_percent mostly stands at 100.
constexpr uint32_t kBusyIsStuck[] = {0x15dd, 0x15d8};

enum class Zero : uint8_t {
  kReal,
  kMissing,  // the way in which the driver says that a part is not fitted
};

// A file that holds one whole number, and the metric that it is.
struct NumberRow {
  MetricId metric;
  std::string label;
  std::string path;
  double scale;
  Zero zero = Zero::kReal;
};
// A pp_dpm_* file, and the clock that it is.
struct DpmRow {
  std::string_view clock;
  std::string path;
};

struct FileRow {
  std::string_view file;
  MetricId metric;
  std::string_view label;
  double scale;
};
constexpr double kPercent = 0.01;
constexpr FileRow kFiles[] = {
    {"gpu_busy_percent", MetricId::kGpuUtilization, "", kPercent},
    {"mem_busy_percent", MetricId::kGpuMemoryUtilization, "", kPercent},
    {"vcn_busy_percent", MetricId::kGpuMediaActivity, "vcn", kPercent},
    {"mem_info_vram_used", MetricId::kGpuMemoryPoolUsed, "vram", 1},
    {"mem_info_vram_total", MetricId::kGpuMemoryPoolTotal, "vram", 1},
    {"mem_info_gtt_used", MetricId::kGpuMemoryPoolUsed, "gtt", 1},
    {"mem_info_gtt_total", MetricId::kGpuMemoryPoolTotal, "gtt", 1},
};

struct SensorRow {
  std::string_view kind;
  std::string_view sensor;  // its label in hwmon
  MetricId metric;
  std::string_view label;
  double scale;
  Zero zero;
};
constexpr double kMilli = 1e-3;
constexpr double kMicro = 1e-6;
constexpr SensorRow kSensors[] = {
    {"temp", "edge", MetricId::kGpuTemperature, "", kMilli, Zero::kReal},
    {"temp", "junction", MetricId::kGpuHotspotTemperature, "", kMilli, Zero::kReal},
    {"temp", "mem", MetricId::kGpuMemoryTemperature, "", kMilli, Zero::kMissing},
    {"in", "vddgfx", MetricId::kGpuVoltage, "gfx", kMilli, Zero::kMissing},
    {"in", "vddnb", MetricId::kGpuVoltage, "northbridge", kMilli, Zero::kMissing},
    {"freq", "sclk", MetricId::kGpuClock, "graphics", 1, Zero::kReal},
    {"freq", "mclk", MetricId::kGpuClock, "memory", 1, Zero::kReal},
};

struct DpmFile {
  std::string_view file;
  std::string_view clock;
};
constexpr DpmFile kDpmFiles[] = {
    {"pp_dpm_sclk", "graphics"}, {"pp_dpm_mclk", "memory"}, {"pp_dpm_socclk", "soc"},
    {"pp_dpm_fclk", "fabric"},   {"pp_dpm_vclk", "video"},  {"pp_dpm_dclk", "decode"},
};

constexpr size_t kMostFans = 4;

class FastLane final : public DeviceLane {
 public:
  FastLane(const RootFs& root, std::shared_ptr<const AmdDevice> device,
           std::shared_ptr<DeviceWork> work)
      : DeviceLane(root, std::move(device), LaneCadence::kFast), work_(std::move(work)) {
    find_files();
    if (!gpu().hwmon.empty()) find_sensors(root);
    find_clocks();
  }

 private:
  std::span<const MetricId> metrics() const override { return kMetrics; }

  void find_files() {
    for (const FileRow& row : kFiles) {
      const bool is_stuck = row.metric == MetricId::kGpuUtilization &&
                            std::ranges::count(kBusyIsStuck, gpu().drm.device) > 0;
      if (!gpu().has(row.file) || is_stuck) continue;
      rows_.push_back({row.metric, std::string(row.label), gpu().path(row.file), row.scale});
    }
  }

  void find_sensors(const RootFs& root) {
    for (const std::string_view kind : {"temp", "in", "freq"}) {
      for (const HwmonSensor& sensor : platform::hwmon_sensors(root, gpu().hwmon, kind)) {
        add_sensor(kind, sensor);
      }
    }
    // Where there are two, the first is the slower limit's, which is the one that lasts.
    const auto powers = platform::hwmon_sensors(root, gpu().hwmon, "power", {"average", "input"});
    if (!powers.empty()) {
      for (const auto& [file, metric] : {std::pair("_average", MetricId::kGpuPowerAverage),
                                         std::pair("_input", MetricId::kGpuPowerInstant)}) {
        const std::string path = powers.front().path + file;
        if (root.exists(path)) rows_.push_back({metric, "", path, kMicro, Zero::kMissing});
      }
    }
    find_fans(root);
  }

  void add_sensor(std::string_view kind, const HwmonSensor& sensor) {
    // Drivers before 4.20 have one temperature, and no labels.
    const bool is_old = sensor.label.empty() && sensor.path.ends_with("/temp1");
    const std::string_view name = is_old ? std::string_view("edge") : sensor.label;
    for (const SensorRow& row : kSensors) {
      if (row.kind != kind || row.sensor != name) continue;
      rows_.push_back(
          {row.metric, std::string(row.label), sensor.path + "_input", row.scale, row.zero});
    }
  }

  void find_fans(const RootFs& root) {
    for (size_t fan = 0; fan < kMostFans; ++fan) {
      const std::string number = std::to_string(fan + 1);
      const std::string label = std::to_string(fan);
      const std::string rpm = gpu().hwmon + "/fan" + number + "_input";
      const std::string pwm = gpu().hwmon + "/pwm" + number;
      if (root.exists(rpm)) rows_.push_back({MetricId::kGpuFanRpm, label, rpm, 1});
      if (!root.exists(pwm)) continue;
      const int64_t most = root.read_int(pwm + "_max").value_or(255);
      if (most <= 0) continue;
      rows_.push_back({MetricId::kGpuFanSpeed, label, pwm, 1.0 / static_cast<double>(most)});
    }
  }

  void find_clocks() {
    for (const DpmFile& row : kDpmFiles) {
      const bool has_sensor = std::ranges::any_of(rows_, [&](const NumberRow& other) {
        return other.metric == MetricId::kGpuClock && other.label == row.clock;
      });
      if (!has_sensor && gpu().has(row.file)) dpm_.push_back({row.clock, gpu().path(row.file)});
    }
  }

  void read(Report& report) override {
    for (const NumberRow& row : rows_) read_row(row, report);
    for (const DpmRow& row : dpm_) read_clock(row, report);
    if (gpu().has("gpu_metrics")) {
      filler_.fill(report, reader().bytes(gpu().path("gpu_metrics")), reader(), gpu());
    }
    // Instinct boards have no sensor at the edge.
    const auto hotspot = told(report, MetricId::kGpuHotspotTemperature);
    if (!told(report, MetricId::kGpuTemperature) && hotspot) {
      report.set(MetricId::kGpuTemperature, *hotspot);
    }
    work_->throttle_events().update(gpu().device.uuid, report);
    set_memory(report);
    set_power(report);
    // Of a board that does not tell its load nobody can say that it is idle.
    if (told(report, MetricId::kGpuUtilization).value_or(1) > 0) work_->note(report.now());
  }

  void read_row(const NumberRow& row, Report& report) {
    const auto number = reader().number(row.path);
    if (!number) return report.absent(row.metric, reader().reason(), row.label);
    if (*number == 0 && row.zero == Zero::kMissing) {
      return report.absent(row.metric, Reason::kNotSupported, row.label);
    }
    report.set(row.metric, *number * row.scale, {}, row.label);
  }

  void read_clock(const DpmRow& row, Report& report) {
    const auto text = reader().text(row.path);
    if (!text) return report.absent(MetricId::kGpuClock, reader().reason(), row.clock);
    const auto current = parse_dpm_table(*text).current;
    if (!current) return report.absent(MetricId::kGpuClock, Reason::kNotSupported, row.clock);
    report.set(MetricId::kGpuClock, *current, {}, row.clock);
  }

  // Of a board its own memory; of an APU both pools. What it may borrow is at most what the host
  // has left, which is without what firmware set aside.
  void set_memory(Report& report) {
    auto used = told(report, MetricId::kGpuMemoryPoolUsed, "vram");
    auto total = told(report, MetricId::kGpuMemoryPoolTotal, "vram");
    if (gpu().is_apu) {
      const auto gtt_used = told(report, MetricId::kGpuMemoryPoolUsed, "gtt");
      const auto gtt_total = told(report, MetricId::kGpuMemoryPoolTotal, "gtt");
      used = used && gtt_used ? std::optional(*used + *gtt_used) : std::nullopt;
      const double host = gpu().host_memory_bytes;
      const auto borrowed =
          gtt_total && host > 0 ? std::optional(std::min(*gtt_total, host)) : gtt_total;
      total = total && borrowed ? std::optional(*total + *borrowed) : std::nullopt;
    }
    if (used) report.set(MetricId::kGpuMemoryUsed, *used);
    if (total) report.set(MetricId::kGpuMemoryTotal, *total);
    if (used && total && *used <= *total) report.set(MetricId::kGpuMemoryFree, *total - *used);
  }

  // The driver's average where it has one, since the table is not to be trusted on all boards.
  void set_power(Report& report) {
    const auto rate = filler_.energy_rate();
    if (const auto average = told(report, MetricId::kGpuPowerAverage)) {
      report.set(MetricId::kGpuPower, *average);
    } else if (rate) {
      report.set(MetricId::kGpuPower, rate->watts, rate->window);
    } else if (const auto instant = told(report, MetricId::kGpuPowerInstant)) {
      report.set(MetricId::kGpuPower, *instant);
    }
    const auto power = told(report, MetricId::kGpuPower);
    if (power && gpu().is_apu) report.set(MetricId::kGpuModulePower, *power);
  }

  std::shared_ptr<DeviceWork> work_;
  std::vector<NumberRow> rows_;
  std::vector<DpmRow> dpm_;
  TableFiller filler_;
};

// Status (twice where a file refuses), files, sensors, power, fans, clocks, the table.
static_assert(2 + std::size(kFiles) + std::size(kSensors) + 2 + 2 * kMostFans +
                  std::size(kDpmFiles) + 1 <=
              kMostFastReads);

}  // namespace

std::span<const MetricId> fast_metrics() { return kMetrics; }

std::unique_ptr<DeviceLane> make_fast_lane(const RootFs& root, std::shared_ptr<const AmdDevice> gpu,
                                           std::shared_ptr<DeviceWork> work) {
  return std::make_unique<FastLane>(root, std::move(gpu), std::move(work));
}

}  // namespace gpusight::collect::amdgpu
