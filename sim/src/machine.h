// What a simulated GPU reads at an instant: pure functions of scenario, seed and time.
//
// `t` is seconds since the start. Nothing here knows the driver's interface; the library dresses
// these figures in it, and the tree builder writes the host around them. Safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "scenario.h"

namespace gpusight::sim {

class GpuModel {
 public:
  GpuModel(const Scenario& scenario, std::size_t position)
      : scenario_(scenario), position_(position), gpu_(scenario.gpus[position]) {}

  const GpuSpec& spec() const { return gpu_; }
  const Board& board() const { return *gpu_.board; }
  std::size_t position() const { return position_; }

  // Watts at `t` with the noise of the sensor, and the mean over the `window` before it.
  double power(double t) const;
  double mean_power(double t, double window_seconds) const;

  // Millijoules since the driver was loaded; never decreases.
  std::uint64_t energy_mj(double t) const;

  // Shares 0..1 over the window before `t`.
  double busy(double t, double window_seconds) const;
  double memory_busy(double t, double window_seconds) const;
  double encoder(double t, double window_seconds) const;
  double decoder(double t, double window_seconds) const;

  // The integral of activity since the driver was loaded, in busy seconds: what counters grow with.
  double busy_seconds(double t) const;

  // Seconds since then in which the power limit held the clocks back.
  double power_held_seconds(double t) const;

  double temperature(double t) const;  // degrees Celsius of the die
  double memory_temperature(double t) const;
  unsigned fan_percent(double t) const;

  bool idle(double t) const;
  bool power_capped(double t) const;
  unsigned graphics_mhz(double t) const;
  unsigned memory_mhz(double t) const;
  unsigned video_mhz(double t) const;
  unsigned performance_state(double t) const;
  unsigned pcie_generation(double t) const;

  // Bytes held by processes and the driver's contexts; without the driver's own reserve.
  std::uint64_t memory_used(double t) const;
  std::uint64_t memory_total() const { return std::uint64_t{board().memory_mib} << 20; }
  std::uint64_t memory_reserved() const { return std::uint64_t{board().reserved_mib} << 20; }

  std::vector<RunningProcess> processes(double t) const;
  const InstanceSpec* instance_in_slot(unsigned slot, double t) const;

 private:
  const Workload& workload() const { return scenario_.workloads[gpu_.workload]; }
  double local(double t) const { return t - gpu_.offset_seconds; }
  double watts_at_activity(double activity) const;

  const Scenario& scenario_;
  std::size_t position_;
  const GpuSpec& gpu_;
};

// The process as it is at `t`, if it is there then.
std::optional<RunningProcess> running_at(const ProcessSpec& process, double t);

}  // namespace gpusight::sim
