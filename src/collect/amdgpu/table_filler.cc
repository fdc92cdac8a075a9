#include "collect/amdgpu/table_filler.h"

#include <cmath>
#include <utility>

#include "collect/amdgpu/device_lane.h"
#include "collect/amdgpu/throttle_classes.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;
using model::Reason;

// A sensor may have moved this far between the two readings.
constexpr double kMostDegreesApart = 25;
// Below this load a throttle bit that never changed is one that is stuck.
constexpr double kBusy = 0.05;

struct GapRow {
  MetricField field;
  MetricId metric;
  std::string_view label = {};
};
constexpr GapRow kTemperatures[] = {
    {MetricField::kTemperatureEdge, MetricId::kGpuTemperature},
    {MetricField::kTemperatureHotspot, MetricId::kGpuHotspotTemperature},
    {MetricField::kTemperatureMemory, MetricId::kGpuMemoryTemperature},
    {MetricField::kTemperatureSoc, MetricId::kGpuSensorTemperature, "soc"},
    {MetricField::kTemperatureSkin, MetricId::kGpuSensorTemperature, "skin"},
    {MetricField::kTemperatureVrGfx, MetricId::kGpuSensorTemperature, "vr_gfx"},
    {MetricField::kTemperatureVrSoc, MetricId::kGpuSensorTemperature, "vr_soc"},
    {MetricField::kTemperatureVrMemory, MetricId::kGpuSensorTemperature, "vr_mem"},
};
constexpr GapRow kClocks[] = {
    {MetricField::kClockGfx, MetricId::kGpuClock, "graphics"},
    {MetricField::kClockMemory, MetricId::kGpuClock, "memory"},
    {MetricField::kClockSoc, MetricId::kGpuClock, "soc"},
    {MetricField::kClockFabric, MetricId::kGpuClock, "fabric"},
    {MetricField::kClockVideo, MetricId::kGpuClock, "video"},
    {MetricField::kClockDecode, MetricId::kGpuClock, "decode"},
};
constexpr GapRow kComponents[] = {
    {MetricField::kGfxPower, MetricId::kGpuComponentPower, "gfx"},
    {MetricField::kCpuPower, MetricId::kGpuComponentPower, "cpu"},
    {MetricField::kSocPower, MetricId::kGpuComponentPower, "soc"},
};
constexpr GapRow kVoltages[] = {
    {MetricField::kVoltageGfx, MetricId::kGpuVoltage, "gfx"},
    {MetricField::kVoltageSoc, MetricId::kGpuVoltage, "soc"},
    {MetricField::kVoltageMemory, MetricId::kGpuVoltage, "memory"},
};
constexpr GapRow kPcie[] = {
    {MetricField::kPcieRecoveries, MetricId::kGpuPcieRecoveries},
    {MetricField::kPcieReplayRollovers, MetricId::kGpuPcieReplayRollovers},
};
constexpr GapRow kResidencyRows[] = {
    {MetricField::kResidencyPower, MetricId::kGpuThrottleShare, "sw_power_cap"},
    {MetricField::kResidencySocketThermal, MetricId::kGpuThrottleShare, "sw_thermal"},
    {MetricField::kResidencyProchot, MetricId::kGpuThrottleShare, "hw_thermal"},
    {MetricField::kResidencyVrThermal, MetricId::kGpuThrottleShare, "vr_thermal"},
    {MetricField::kResidencyHbmThermal, MetricId::kGpuThrottleShare, "memory_thermal"},
};

void fill_gap(Report& report, MetricId metric, std::optional<double> number,
              std::string_view label) {
  if (!number || told(report, metric, label)) return;
  report.set(metric, *number, {}, label);
}

// Zero is how much of the firmware says that it has no such reading.
std::optional<double> unless_zero(std::optional<double> number) {
  return number == 0.0 ? std::nullopt : number;
}

// The unit is documented for Instinct, which is told by the temperatures of its memory's stacks.
// Other boards fill the same layouts and count in units of their own: a Navi 21 in mJ.
bool knows_energy_unit(const GpuMetrics& table) {
  constexpr uint8_t kFirstOfInstinctAlone = 4;
  if (table.format != 1) return false;
  return table.content >= kFirstOfInstinctAlone ||
         !table.elements(MetricField::kTemperatureHbm).empty();
}

// The counters have 32 bits and go round.
double increase(double now, double before) {
  constexpr double kRound = 4294967296.0;
  return now >= before ? now - before : now + kRound - before;
}

}  // namespace

void TableFiller::fill(Report& report, std::optional<std::string_view> bytes, FileReader& reader,
                       const AmdDevice& gpu) {
  if (!bytes) return rate_.reset();
  const std::string path = gpu.path("gpu_metrics");
  const auto table = parse_gpu_metrics(*bytes);
  if (!table.ok()) {
    rate_.reset();
    return reader.not_understood(path, table.status().message());
  }
  if (!is_believed(report, *table)) {
    rate_.reset();
    report.count_implausible();
    return reader.not_understood(path, "its temperatures are not those of the sensors");
  }
  reader.understood(path);
  fill_temperatures(report, *table);
  fill_activity(report, *table);
  fill_power(report, *table, gpu.is_apu);
  fill_clocks(report, *table);
  fill_throttle(report, *table);
  fill_residencies(report, *table);
}

bool TableFiller::is_believed(Report& report, const GpuMetrics& table) const {
  for (const GapRow& row : std::span(kTemperatures).first(2)) {
    const auto sensor = told(report, row.metric);
    const auto own = table.number(row.field);
    if (sensor && own && std::fabs(*sensor - *own) > kMostDegreesApart) return false;
  }
  return true;
}

void TableFiller::fill_temperatures(Report& report, const GpuMetrics& table) const {
  for (const GapRow& row : kTemperatures) {
    fill_gap(report, row.metric, unless_zero(table.number(row.field)), row.label);
  }
  for (const auto& stack : table.elements(MetricField::kTemperatureHbm)) {
    fill_gap(report, MetricId::kGpuSensorTemperature, unless_zero(stack.number),
             "hbm" + std::to_string(stack.index));
  }
}

void TableFiller::fill_activity(Report& report, const GpuMetrics& table) const {
  // The unit differs between firmwares of APUs, and all of them have gpu_busy_percent.
  if (table.format == 1) {
    fill_gap(report, MetricId::kGpuUtilization, table.number(MetricField::kGfxActivity), "");
  }
  fill_gap(report, MetricId::kGpuMemoryUtilization, table.number(MetricField::kMemoryActivity), "");
  const auto engines = table.elements(MetricField::kMediaActivity);
  const bool is_one = engines.size() == 1 && engines.front().index == 0;
  for (const auto& engine : engines) {
    fill_gap(report, MetricId::kGpuMediaActivity, engine.number,
             is_one ? "vcn" : "vcn" + std::to_string(engine.index));
  }
  // Up to 40 of them, in groups that work together: the busiest tells.
  fill_gap(report, MetricId::kGpuMediaActivity, table.highest(MetricField::kJpegActivity), "jpeg");
}

void TableFiller::fill_power(Report& report, const GpuMetrics& table, bool is_apu) {
  // Of APUs the unit differs between firmwares, and hwmon puts it right.
  if (!is_apu && table.format == 1) {
    constexpr uint8_t kLastWithAverage = 3;
    const MetricId metric =
        table.content <= kLastWithAverage ? MetricId::kGpuPowerAverage : MetricId::kGpuPowerInstant;
    fill_gap(report, metric, unless_zero(table.number(MetricField::kSocketPower)), "");
  }
  for (const GapRow& row : kComponents) {
    fill_gap(report, row.metric, unless_zero(table.number(row.field)), row.label);
  }
  for (const GapRow& row : kVoltages) {
    fill_gap(report, row.metric, unless_zero(table.number(row.field)), row.label);
  }
  for (const GapRow& row : kPcie) fill_gap(report, row.metric, table.number(row.field), row.label);
  if (const auto joules = table.number(MetricField::kEnergy); joules && knows_energy_unit(table)) {
    report.set(MetricId::kGpuEnergy, *joules);
    note_energy(*joules, report.now());
  } else {
    rate_.reset();
  }
}

void TableFiller::note_energy(double joules, MonoTime now) {
  constexpr Duration kLeast = std::chrono::seconds(1);
  constexpr Duration kMost = std::chrono::seconds(60);
  const Duration window = now - energy_at_;
  if (energy_ && window < kLeast) return;
  rate_.reset();
  // A counter that stands still is none.
  if (energy_ && window <= kMost && joules > *energy_) {
    rate_ = EnergyRate{.watts = (joules - *energy_) / seconds(window), .window = window};
  }
  energy_ = joules;
  energy_at_ = now;
}

void TableFiller::fill_clocks(Report& report, const GpuMetrics& table) const {
  for (const GapRow& row : kClocks) {
    fill_gap(report, row.metric, table.highest(row.field), row.label);
  }
}

void TableFiller::fill_throttle(Report& report, const GpuMetrics& table) {
  if (!table.throttle) return;
  const uint64_t bits = *table.throttle;
  if (!first_throttle_) first_throttle_ = bits;
  throttle_has_changed_ = throttle_has_changed_ || bits != *first_throttle_;
  const bool is_idle = told(report, MetricId::kGpuUtilization).value_or(0) < kBusy;
  if (bits != 0 && is_idle && !throttle_has_changed_) {
    return report.absent(MetricId::kGpuThrottle, Reason::kImplausible);
  }
  for (const ThrottleClass& row : kThrottleClasses) {
    report.set(MetricId::kGpuThrottle, (bits & row.bits) != 0 ? 1 : 0, {}, row.reason);
  }
}

void TableFiller::fill_residencies(Report& report, const GpuMetrics& table) {
  const auto rounds = table.number(MetricField::kAccumulation);
  if (!rounds) return;
  const double passed = rounds_ ? increase(*rounds, *rounds_) : 0;
  // More than half a round between two polls is a firmware that began anew.
  constexpr double kMostRounds = 2147483648.0;
  for (size_t i = 0; i < kResidencies; ++i) {
    const GapRow& row = kResidencyRows[i];
    const auto now = table.number(row.field);
    const auto before = std::exchange(residencies_[i], now);
    if (!now) continue;
    const double held = before ? increase(*now, *before) : 0;
    if (before && passed > 0 && passed < kMostRounds && held <= passed) {
      const double share = held / passed;
      report.set(row.metric, share, {}, row.label);
      report.set(MetricId::kGpuThrottle, share > 0 ? 1 : 0, {}, row.label);
    } else {
      report.absent(row.metric, Reason::kWarmingUp, row.label);
      report.absent(MetricId::kGpuThrottle, Reason::kWarmingUp, row.label);
    }
  }
  rounds_ = rounds;
}

}  // namespace gpusight::collect::amdgpu
