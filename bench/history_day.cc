#include "history_day.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "base/check.h"
#include "catalog/metric.h"
#include "machine.h"
#include "scenario.h"
#include "store/head_shape.h"

namespace gpusight::bench {
namespace {

using catalog::Cadence;
using catalog::MetricId;

constexpr int64_t kStartMs = 1'764'000'000'417;
constexpr double kPowerPeriod = 0.02;
constexpr double kUtilizationPeriod = 1.0 / 6;
constexpr double kClockPeriod = 0.1;
constexpr int64_t kSlowEvery = 10;

struct Tick {
  double woke = 0;  // seconds since the start
};

std::vector<Tick> make_ticks(int64_t seconds) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> late(1 / 0.0001);
  std::uniform_real_distribution<double> very_late(0, 0.003);
  std::vector<Tick> ticks;
  for (int64_t k = 1; k <= seconds; ++k) {
    const double delay = random() % 100 == 0 ? very_late(random) : late(random);
    ticks.push_back({static_cast<double>(k) + delay});
  }
  return ticks;
}

// Columns of both cadences of one subject, filled a row at a time.
class Recorder {
 public:
  explicit Recorder(std::string uuid) { fast_.uuid = slow_.uuid = std::move(uuid); }

  void begin_row(int64_t time_ms, bool is_slow_too) {
    is_slow_too_ = is_slow_too;
    fast_.times_ms.push_back(time_ms);
    if (is_slow_too) slow_.times_ms.push_back(time_ms);
  }

  void put(MetricId id, double number, const std::string& label = "") {
    const catalog::MetricRow& row = catalog::metric(id);
    if (row.cadence == Cadence::kSlow && !is_slow_too_) return;
    auto& columns = row.cadence == Cadence::kSlow ? slow_columns_ : fast_columns_;
    DayColumn& column = columns[{id, label}];
    if (column.quanta.empty()) {
      column.metric = row.name;
      column.label = label;
    }
    column.quanta.push_back(*catalog::quantize(row, number));
  }

  void finish(std::vector<DayGroup>& out) {
    for (auto* part : {&fast_columns_, &slow_columns_}) {
      DayGroup& group = part == &fast_columns_ ? fast_ : slow_;
      for (auto& [key, column] : *part) {
        CHECK(column.quanta.size() == group.times_ms.size(), "every column is there in every row");
        group.columns.push_back(std::move(column));
      }
      out.push_back(std::move(group));
    }
  }

 private:
  using Columns = std::map<std::pair<MetricId, std::string>, DayColumn>;
  DayGroup fast_;
  DayGroup slow_;
  Columns fast_columns_;
  Columns slow_columns_;
  bool is_slow_too_ = false;
};

// What a ring of the driver says of the samples after `from` until `to`.
template <typename At>
void put_ring(Recorder& out, MetricId mean, double unit, double from, double to, double period,
              const At& at, const std::string& label = "") {
  double sum = 0;
  double lowest = INFINITY;
  double highest = -INFINITY;
  int count = 0;
  for (auto slot = static_cast<int64_t>(std::floor(from / period)) + 1;
       static_cast<double>(slot) * period <= to; ++slot) {
    const double value = at(static_cast<double>(slot) * period);
    sum += value;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    ++count;
  }
  CHECK(count > 0, "a second has samples");
  out.put(mean, sum / count * unit, label);
  out.put(*catalog::companion(mean, catalog::Stat::kMin), lowest * unit, label);
  out.put(*catalog::companion(mean, catalog::Stat::kMax), highest * unit, label);
}

void put_rings(Recorder& out, const sim::GpuModel& gpu, double from, double to) {
  const auto percent = [](double share) { return std::round(share * 100); };
  put_ring(out, MetricId::kGpuUtilization, 0.01, from, to, kUtilizationPeriod,
           [&](double t) { return percent(gpu.busy(t, kUtilizationPeriod)); });
  put_ring(out, MetricId::kGpuMemoryUtilization, 0.01, from, to, kUtilizationPeriod,
           [&](double t) { return percent(gpu.memory_busy(t, kUtilizationPeriod)); });
  put_ring(
      out, MetricId::kGpuClock, 1e6, from, to, kClockPeriod,
      [&](double t) { return double(gpu.graphics_mhz(t)); }, "sm");
  put_ring(
      out, MetricId::kGpuClock, 1e6, from, to, kClockPeriod,
      [&](double t) { return double(gpu.memory_mhz(t)); }, "memory");
  double lowest = INFINITY;
  double highest = 0;
  for (auto slot = static_cast<int64_t>(std::floor(from / kPowerPeriod)) + 1;
       static_cast<double>(slot) * kPowerPeriod <= to; ++slot) {
    const double watts =
        std::round(gpu.power(static_cast<double>(slot) * kPowerPeriod) * 1000) / 1000;
    lowest = std::min(lowest, watts);
    highest = std::max(highest, watts);
  }
  out.put(MetricId::kGpuPowerMin, lowest);
  out.put(MetricId::kGpuPowerMax, highest);
}

void put_levels(Recorder& out, const sim::GpuModel& gpu, double t) {
  const auto used = static_cast<double>(gpu.memory_used(t));
  const auto total = static_cast<double>(gpu.memory_total());
  const auto reserved = static_cast<double>(gpu.memory_reserved());
  out.put(MetricId::kGpuMemoryUsed, used);
  out.put(MetricId::kGpuMemoryFree, total - reserved - used);
  out.put(MetricId::kGpuMemoryReserved, reserved);
  out.put(MetricId::kGpuMemoryTotal, total);
  out.put(MetricId::kGpuTemperature, std::round(gpu.temperature(t)));
  out.put(MetricId::kGpuMemoryTemperature, std::round(gpu.memory_temperature(t)));
  out.put(MetricId::kGpuPowerAverage, gpu.mean_power(t, 1.0));
  out.put(MetricId::kGpuPowerInstant, gpu.power(t));
  out.put(MetricId::kGpuClock, gpu.graphics_mhz(t) * 1e6, "graphics");
  out.put(MetricId::kGpuClock, gpu.video_mhz(t) * 1e6, "video");
  out.put(MetricId::kGpuPcieGeneration, gpu.pcie_generation(t));
  out.put(MetricId::kGpuPerformanceState, gpu.performance_state(t));
  out.put(MetricId::kGpuProcesses, static_cast<double>(gpu.processes(t).size()));
  for (const char* reason : {"applications_clocks", "display_clock", "hw_power_brake",
                             "hw_slowdown", "hw_thermal", "sw_thermal", "sync_boost"}) {
    out.put(MetricId::kGpuThrottle, 0, reason);
  }
  out.put(MetricId::kGpuThrottle, gpu.idle(t), "idle");
  out.put(MetricId::kGpuThrottle, gpu.power_capped(t), "sw_power_cap");
}

void put_what_stands(Recorder& out, const sim::GpuModel& gpu) {
  const auto& board = gpu.board();
  for (const auto& [id, number] : std::to_array<std::pair<MetricId, double>>(
           {{MetricId::kGpuUp, 1},
            {MetricId::kGpuAsleep, 0},
            {MetricId::kGpuPowerLimit, board.peak_watts},
            {MetricId::kGpuPcieWidth, 16},
            {MetricId::kGpuPcieGenerationLimit, double(board.pcie_generation)},
            {MetricId::kGpuPcieWidthLimit, 16},
            {MetricId::kGpuPcieReplays, 0},
            {MetricId::kGpuXidErrors, 0},
            {MetricId::kGpuMigMode, 0}})) {
    out.put(id, number);
  }
  for (const char* clock : {"graphics", "sm"}) {
    out.put(MetricId::kGpuClockLimit, board.max_graphics_mhz * 1e6, clock);
  }
  out.put(MetricId::kGpuClockLimit, board.max_memory_mhz * 1e6, "memory");
  out.put(MetricId::kGpuClockLimit, board.max_video_mhz * 1e6, "video");
}

int64_t wall_ms(const Tick& tick) {
  return kStartMs + static_cast<int64_t>(std::floor(tick.woke * 1000));
}

}  // namespace

bool varies(const DayColumn& column) {
  return std::ranges::any_of(column.quanta,
                             [&](int64_t quantum) { return quantum != column.quanta.front(); });
}

std::vector<DayGroup> simulated_day(int64_t seconds) {
  const auto scenario = sim::load_scenario("h100-training");
  CHECK(scenario.value.has_value(), "a built-in scenario");
  const std::vector<Tick> ticks = make_ticks(seconds);
  std::vector<DayGroup> groups;
  for (size_t position = 0; position < scenario.value->gpus.size(); ++position) {
    const sim::GpuModel gpu(*scenario.value, position);
    Recorder out("GPU-" + std::to_string(position));
    std::mt19937_64 random(100 + position);
    std::uniform_real_distribution<double> reading(0.0001, 0.0006);
    double before = reading(random);
    auto energy_before = static_cast<double>(gpu.energy_mj(before));
    for (size_t k = 0; k < ticks.size(); ++k) {
      const double t = ticks[k].woke + reading(random);
      const auto energy = static_cast<double>(gpu.energy_mj(t));
      out.begin_row(wall_ms(ticks[k]), k % kSlowEvery == 0);
      put_rings(out, gpu, before, t);
      put_levels(out, gpu, t);
      put_what_stands(out, gpu);
      out.put(MetricId::kGpuEnergy, energy / 1000);
      out.put(MetricId::kGpuPower, (energy - energy_before) / 1000 / (t - before));
      before = t;
      energy_before = energy;
    }
    out.finish(groups);
  }
  return groups;
}

std::vector<DayGroup> noisy_day(int64_t seconds) {
  store::TrainingMachine machine({.gpus = 8});
  std::vector<Recorder> recorders;
  for (int64_t k = 0; k < seconds; ++k) {
    const model::Snapshot snapshot = machine.next();
    for (size_t i = 0; i < snapshot.devices.size(); ++i) {
      const model::DeviceSnapshot& device = snapshot.devices[i];
      if (k == 0) recorders.emplace_back(device.device->uuid);
      recorders[i].begin_row(
          std::chrono::duration_cast<std::chrono::milliseconds>(snapshot.wall.time_since_epoch())
              .count(),
          k % kSlowEvery == 0);
      for (const model::Sample& sample : device.samples) {
        recorders[i].put(sample.metric, *sample.value.number(), sample.label);
      }
    }
  }
  std::vector<DayGroup> groups;
  for (Recorder& recorder : recorders) recorder.finish(groups);
  return groups;
}

}  // namespace gpusight::bench
