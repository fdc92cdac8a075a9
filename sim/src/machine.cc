#include "machine.h"

#include <algorithm>
#include <cmath>

#include "waveform.h"

namespace gpusight::sim {
namespace {

// The energy counter of real boards advances in steps of tens of milliseconds.
constexpr double kEnergyStepSeconds = 0.02;
// Thermal mass: the die follows the mean power of about this long.
constexpr double kThermalSeconds = 24;
constexpr double kIdleBelow = 0.015;
constexpr double kClockWindowSeconds = 0.5;
constexpr double kNoiseWatts = 1.5;
constexpr double kNoiseSlotsPerSecond = 50;

std::int64_t slot_of(double t, double per_second) {
  return static_cast<std::int64_t>(std::floor(t * per_second));
}

}  // namespace

// A lower power limit scales the whole swing, so that power, its means and the energy counter
// agree.
double GpuModel::watts_at_activity(double activity) const {
  const double most = std::min(board().peak_watts, gpu_.power_limit_watts);
  return board().idle_watts + (most - board().idle_watts) * activity;
}

double GpuModel::power(double t) const {
  const double activity = level(workload(), Channel::kActivity, local(t));
  const double jitter =
      noise(scenario_.seed, 100 + position_, slot_of(t, kNoiseSlotsPerSecond)) * kNoiseWatts;
  return std::max(1.0, watts_at_activity(activity) + jitter * (0.3 + activity));
}

double GpuModel::mean_power(double t, double window) const {
  const double activity = mean(workload(), Channel::kActivity, local(t) - window, local(t));
  const double jitter = noise(scenario_.seed, 200 + position_, slot_of(t, 10)) * kNoiseWatts;
  return std::max(1.0, watts_at_activity(activity) + jitter * 0.4);
}

double GpuModel::busy_seconds(double t) const {
  const double since_load =
      integral(workload(), Channel::kActivity, local(t)) -
      integral(workload(), Channel::kActivity, local(-scenario_.uptime_seconds));
  return std::max(0.0, since_load);
}

std::uint64_t GpuModel::energy_mj(double t) const {
  const double at = std::floor(t / kEnergyStepSeconds) * kEnergyStepSeconds;
  const Board& b = board();
  const double span = std::min(b.peak_watts, gpu_.power_limit_watts) - b.idle_watts;
  const double joules =
      b.idle_watts * std::max(0.0, at + scenario_.uptime_seconds) + span * busy_seconds(at);
  return static_cast<std::uint64_t>(joules * 1000);
}

double GpuModel::power_held_seconds(double t) const {
  // Where the limit lies below what full activity would draw, that share of busy time is held back.
  const double over = std::max(0.0, board().peak_watts - gpu_.power_limit_watts * 0.97);
  return busy_seconds(t) * std::min(1.0, over / board().peak_watts);
}

double GpuModel::busy(double t, double window) const {
  return std::clamp(mean(workload(), Channel::kActivity, local(t) - window, local(t)), 0.0, 1.0);
}

double GpuModel::memory_busy(double t, double window) const {
  return std::clamp(mean(workload(), Channel::kMemory, local(t) - window, local(t)), 0.0, 1.0);
}

double GpuModel::encoder(double t, double window) const {
  return mean(workload(), Channel::kEncoder, local(t) - window, local(t));
}

double GpuModel::decoder(double t, double window) const {
  return mean(workload(), Channel::kDecoder, local(t) - window, local(t));
}

double GpuModel::temperature(double t) const {
  const Board& b = board();
  // Two windows, so that the approach to a new level is quick at first and then slow.
  const double heat = 0.6 * busy(t, kThermalSeconds) + 0.4 * busy(t, 4 * kThermalSeconds);
  return b.idle_celsius + (b.peak_celsius - b.idle_celsius) * heat;
}

double GpuModel::memory_temperature(double t) const { return temperature(t) + 7; }

unsigned GpuModel::fan_percent(double t) const {
  // Boards with fans stop them when cool.
  const double celsius = temperature(t);
  if (celsius < 45) return 0;
  return static_cast<unsigned>(std::min(100.0, 30 + (celsius - 45) * 2));
}

bool GpuModel::idle(double t) const { return busy(t, kClockWindowSeconds) < kIdleBelow; }

bool GpuModel::power_capped(double t) const {
  const Board& b = board();
  const double wanted = b.idle_watts + (b.peak_watts - b.idle_watts) * busy(t, kClockWindowSeconds);
  return wanted > gpu_.power_limit_watts * 0.97;
}

unsigned GpuModel::graphics_mhz(double t) const {
  const Board& b = board();
  if (idle(t)) return b.idle_graphics_mhz;
  // Clocks move in steps of 15 MHz, and sink a little with the load.
  const double load = busy(t, kClockWindowSeconds);
  const int steps = static_cast<int>(std::lround(load * 6 + (power_capped(t) ? 8 : 0)));
  return b.max_graphics_mhz - 15 * static_cast<unsigned>(std::max(0, steps));
}

unsigned GpuModel::memory_mhz(double t) const {
  return idle(t) ? board().idle_memory_mhz : board().max_memory_mhz;
}

unsigned GpuModel::video_mhz(double t) const {
  return idle(t) ? board().idle_video_mhz : board().max_video_mhz;
}

unsigned GpuModel::performance_state(double t) const {
  return idle(t) ? board().idle_pstate : board().busy_pstate;
}

unsigned GpuModel::pcie_generation(double t) const {
  return idle(t) ? board().pcie_idle_generation : board().pcie_generation;
}

std::uint64_t GpuModel::memory_used(double t) const {
  std::uint64_t used = 0;
  for (const RunningProcess& process : processes(t)) used += process.spec->memory_bytes;
  return std::min(used, memory_total() - memory_reserved());
}

std::optional<RunningProcess> running_at(const ProcessSpec& process, double t) {
  if (t < process.from || t >= process.until) return std::nullopt;
  if (process.every_seconds <= 0) return RunningProcess{&process, process.pid};
  const double since = t - (std::isinf(process.from) ? 0 : process.from);
  const double round = std::floor(since / process.every_seconds);
  if (since - round * process.every_seconds >= process.for_seconds) return std::nullopt;
  const auto later = static_cast<unsigned>(static_cast<std::int64_t>(round) & 0x3FF);
  return RunningProcess{&process, process.pid + later};
}

std::vector<RunningProcess> GpuModel::processes(double t) const {
  std::vector<RunningProcess> result;
  for (const ProcessSpec& process : scenario_.processes) {
    const auto here = static_cast<unsigned>(position_);
    if (std::find(process.gpus.begin(), process.gpus.end(), here) == process.gpus.end()) continue;
    if (const auto running = running_at(process, t)) result.push_back(*running);
  }
  return result;
}

const InstanceSpec* GpuModel::instance_in_slot(unsigned slot, double t) const {
  if (!gpu_.mig) return nullptr;
  for (const InstanceSpec& instance : gpu_.instances) {
    if (instance.slot == slot && t >= instance.from && t < instance.until) return &instance;
  }
  return nullptr;
}

}  // namespace gpusight::sim
