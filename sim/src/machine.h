// What a simulated GPU reads at an instant: pure functions of scenario, seed and time.
//
// `t` is seconds since the start. Nothing here knows the driver's interface; the library dresses
// these figures in it, and the tree builder writes the host around them. Safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conditions.h"
#include "scenario.h"

namespace gpusight::sim {

// Which limit holds clocks back, as the driver's counters tell them apart.
enum class Held { kPower, kThermal, kSyncBoost, kBoard, kIdle, kReliability, kApplication, kBase };

class GpuModel {
 public:
  // Scenario and conditions must outlive the model.
  GpuModel(const Scenario& scenario, std::size_t position)
      : GpuModel(scenario, position, scenario.faults) {}
  GpuModel(const Scenario& scenario, std::size_t position, std::span<const Fault> conditions)
      : scenario_(scenario),
        position_(position),
        gpu_(scenario.gpus[position]),
        conditions_(conditions, position, scenario.uptime_seconds) {}

  const Conditions& conditions() const { return conditions_; }

  // A figure that the scenario has nailed down.
  std::optional<double> reading(std::string_view name) const;

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
  double jpeg(double t, double window_seconds) const;
  double ofa(double t, double window_seconds) const;
  double tensor(double t, double window_seconds) const;  // of all time, in the tensor cores

  // The integral of activity since the driver was loaded, in busy seconds: what counters grow with.
  double busy_seconds(double t) const;

  // Seconds since then in which a limit held the clocks back.
  double held_seconds(Held by, double t) const;
  double held_by_reason_seconds(std::uint64_t reason, double t) const;  // one of the driver's bits

  double temperature(double t) const;  // degrees Celsius of the die
  double memory_temperature(double t) const;
  unsigned fan_percent(double t, unsigned fan = 0) const;
  unsigned fan_rpm(double t, unsigned fan) const;

  bool idle(double t) const;
  bool power_capped(double t) const;
  std::uint64_t throttle_reasons(double t) const;  // the driver's bits, without the idle one
  unsigned graphics_mhz(double t) const;
  unsigned memory_mhz(double t) const;
  unsigned video_mhz(double t) const;
  unsigned performance_state(double t) const;
  unsigned pcie_generation(double t) const;
  unsigned pcie_width(double t) const;
  double pcie_errors(PcieCounter counter, double t) const;
  double pcie_bytes(bool sent, double t) const;             // since the driver was loaded
  double pcie_bytes_per_second(bool sent, double t) const;  // over the last 20 ms

  // Errors of one kind and place. `aggregate` are those of the board's whole life.
  std::uint64_t ecc_errors(bool uncorrected, bool aggregate, EccLocation where, double t) const;
  std::uint64_t ecc_errors(bool uncorrected, bool aggregate, double t) const;  // all places

  bool has_nvlinks() const;
  bool nvlink_up(unsigned link, double t) const;
  // Where a link leads: another GPU's position, or nothing for a switch.
  std::optional<std::size_t> nvlink_peer(unsigned link) const;

  // Bytes held by processes and the driver's contexts; without the driver's own reserve.
  std::uint64_t memory_used(double t) const;
  std::uint64_t process_memory(const RunningProcess& process, double t) const;
  std::uint64_t bar1_used(double t) const;
  std::uint64_t memory_total() const { return std::uint64_t{board().memory_mib} << 20; }
  std::uint64_t memory_reserved() const { return std::uint64_t{board().reserved_mib} << 20; }

  std::vector<RunningProcess> processes(double t) const;
  const InstanceSpec* instance_in_slot(unsigned slot, double t) const;
  const InstanceSpec* instance_of(unsigned gpu_instance, double t) const;

  // What share of the GPU's work the processes of an instance do.
  double instance_share(unsigned gpu_instance, double t) const;

 private:
  const Workload& workload() const { return scenario_.workloads[gpu_.workload]; }
  double local(double t) const { return t - gpu_.offset_seconds; }
  double watts_at_activity(double activity) const;
  double most_watts() const;

  const Scenario& scenario_;
  std::size_t position_;
  const GpuSpec& gpu_;
  Conditions conditions_;
};

// The interrupt of the first GPU; the others' follow.
constexpr unsigned first_irq() { return 60; }

// The process as it is at `t`, if it is there then.
std::optional<RunningProcess> running_at(const ProcessSpec& process, double t);

}  // namespace gpusight::sim
