// What a machine with eight H100 in training looks like to the head, made up from a seed: for the
// test of its size and for its benchmark. Ratios move by whole percents (means by thousandths),
// power is noisy to the milliwatt around 600 W with the pulse of a training step, energy grows by
// what power says, memory stands still and steps now and then, clocks follow power in steps of
// 15 MHz. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "catalog/metric.h"
#include "model/snapshot.h"

namespace gpusight::store {

class TrainingMachine {
 public:
  struct Options {
    size_t gpus = 8;
    Duration tick = std::chrono::seconds(1);
    uint64_t seed = 1;
  };
  explicit TrainingMachine(Options options) : options_(options), random_(options.seed) {
    for (size_t i = 0; i < options.gpus; ++i) {
      auto device = std::make_shared<model::Device>();
      device->uuid = "GPU-00000000-0000-4000-8000-00000000000" + std::to_string(i);
      device->name = "NVIDIA H100 80GB HBM3";
      gpus_.push_back({.device = std::move(device), .energy_joules = 1e8 + 1e6 * double(i)});
    }
  }

  // The next tick's snapshot: sorted as snapshots are, numbers rounded as they are where they
  // enter.
  model::Snapshot next() {
    now_ += options_.tick;
    model::Snapshot snapshot{.sequence = ++sequence_,
                             .wall = WallTime(std::chrono::hours(24 * 365 * 55)) +
                                     now_.time_since_epoch() +
                                     std::chrono::microseconds(random_() % 3000),
                             .mono = now_,
                             .interval = options_.tick};
    if (slow_read_at_ == MonoTime{} || now_ - slow_read_at_ >= std::chrono::seconds(10)) {
      slow_read_at_ = now_;
    }
    for (Gpu& gpu : gpus_) snapshot.devices.push_back(read(gpu));
    return snapshot;
  }

 private:
  using Id = catalog::MetricId;
  struct Gpu {
    std::shared_ptr<const model::Device> device;
    double energy_joules = 0;
    double celsius = 55;
    double memory_bytes = 6e10;
    double phase = 0;
  };

  // Within ±1, around 0: the mean of four.
  double noise() {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += double(random_() % 20001) / 10000 - 1;
    return sum / 4;
  }

  void put(model::Samples& samples, Id id, double number, std::string label = {}) const {
    const catalog::MetricRow& row = catalog::metric(id);
    const MonoTime read_at = row.cadence == catalog::Cadence::kSlow ? slow_read_at_ : now_;
    const double rounded = catalog::value_of(row, catalog::quantize(row, number).value_or(0));
    samples.push_back({id, std::move(label), model::Value::fresh(rounded, read_at, {}, 1)});
  }

  model::DeviceSnapshot read(Gpu& gpu) {
    model::DeviceSnapshot out{.device = gpu.device};
    model::Samples& samples = out.samples;
    gpu.phase += 0.9 + 0.1 * noise();
    const double load = std::clamp(0.93 + 0.07 * std::sin(gpu.phase) + 0.05 * noise(), 0.0, 1.0);
    const double watts = 330 + 300 * load + 40 * noise();
    gpu.energy_joules += watts * seconds(options_.tick);
    gpu.celsius += 0.2 * noise() + 0.02 * (60 - gpu.celsius);
    if (random_() % 100 == 0) gpu.memory_bytes += double(2 << 20) * std::round(noise() * 100);
    put_states(samples);
    put_load(samples, gpu, load);
    put_power(samples, gpu, watts);
    put_clocks(samples, watts);
    std::ranges::sort(samples, {},
                      [](const model::Sample& s) { return std::pair(s.metric, s.label); });
    return out;
  }

  void put_states(model::Samples& samples) {
    for (const auto& [id, number] :
         std::to_array<std::pair<Id, double>>({{Id::kGpuUp, 1},
                                               {Id::kGpuAsleep, 0},
                                               {Id::kGpuPcieGeneration, 5},
                                               {Id::kGpuPcieWidth, 16},
                                               {Id::kGpuPcieGenerationLimit, 5},
                                               {Id::kGpuPcieWidthLimit, 16},
                                               {Id::kGpuPcieReplays, 0},
                                               {Id::kGpuPerformanceState, 0},
                                               {Id::kGpuXidErrors, 0},
                                               {Id::kGpuProcesses, 1},
                                               {Id::kGpuMigMode, 0}})) {
      put(samples, id, number);
    }
    for (const char* reason : {"gpu_idle", "hw_slowdown", "hw_thermal", "hw_power_brake",
                               "sw_thermal", "sync_boost", "applications_clocks"}) {
      put(samples, Id::kGpuThrottle, 0, reason);
    }
    put(samples, Id::kGpuThrottle, random_() % 20 == 0 ? 1 : 0, "sw_power_cap");
  }

  void put_load(model::Samples& samples, const Gpu& gpu, double load) {
    const auto percent = [](double ratio) { return std::clamp(std::round(ratio * 100), 0., 100.); };
    put(samples, Id::kGpuUtilization, load);
    put(samples, Id::kGpuUtilizationMin, percent(load - 0.15 + 0.05 * noise()) / 100);
    put(samples, Id::kGpuUtilizationMax, percent(load + 0.05) / 100);
    put(samples, Id::kGpuMemoryUtilization, 0.4 * load + 0.02 * noise());
    put(samples, Id::kGpuMemoryUtilizationMin, percent(0.2 + 0.1 * noise()) / 100);
    put(samples, Id::kGpuMemoryUtilizationMax, percent(0.6 + 0.1 * noise()) / 100);
    put(samples, Id::kGpuMemoryUsed, gpu.memory_bytes);
    put(samples, Id::kGpuMemoryFree, 85e9 - gpu.memory_bytes);
    put(samples, Id::kGpuMemoryReserved, 5.2e8);
    put(samples, Id::kGpuMemoryTotal, 85520809984);
    put(samples, Id::kGpuTemperature, std::round(gpu.celsius));
    put(samples, Id::kGpuMemoryTemperature, std::round(gpu.celsius + 12));
  }

  void put_power(model::Samples& samples, const Gpu& gpu, double watts) {
    put(samples, Id::kGpuPower, watts);
    put(samples, Id::kGpuPowerMin, watts - 90 + 30 * noise());
    put(samples, Id::kGpuPowerMax, watts + 60 + 30 * noise());
    put(samples, Id::kGpuPowerAverage, watts + 5 * noise());
    put(samples, Id::kGpuPowerInstant, watts + 80 * noise());
    put(samples, Id::kGpuPowerLimit, 700);
    put(samples, Id::kGpuEnergy, gpu.energy_joules);
  }

  void put_clocks(model::Samples& samples, double watts) {
    const double sm_hertz = 1980e6 - 15e6 * std::round(std::max(0.0, watts - 620) / 8);
    for (const char* clock : {"graphics", "sm"}) {
      put(samples, Id::kGpuClock, sm_hertz, clock);
      put(samples, Id::kGpuClockMin, sm_hertz - 15e6 * double(random_() % 4), clock);
      put(samples, Id::kGpuClockMax, 1980e6, clock);
      put(samples, Id::kGpuClockLimit, 1980e6, clock);
    }
    put(samples, Id::kGpuClock, 2619e6, "memory");
    put(samples, Id::kGpuClock, 1545e6, "video");
    put(samples, Id::kGpuClockLimit, 2619e6, "memory");
    put(samples, Id::kGpuClockLimit, 1545e6, "video");
  }

  const Options options_;
  std::mt19937_64 random_;
  std::vector<Gpu> gpus_;
  uint64_t sequence_ = 0;
  MonoTime now_{std::chrono::hours(1)};
  MonoTime slow_read_at_{};
};

}  // namespace gpusight::store
