// What gpu_metrics adds to the files of the kernel's stable interface: it fills gaps and never
// overrides them, and where it contradicts them it is not believed at all. Belongs to one lane.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "collect/amdgpu/amd_device.h"
#include "collect/amdgpu/file_reader.h"
#include "collect/amdgpu/gpu_metrics.h"
#include "collect/source.h"

namespace gpusight::collect::amdgpu {

class TableFiller {
 public:
  // `bytes`: the file as it is; nullopt: it could not be read, and `reader` knows why.
  void fill(Report& report, std::optional<std::string_view> bytes, FileReader& reader,
            const AmdDevice& gpu);

  // Watts by the energy counter, over at least a second; nullopt: not known (yet).
  struct EnergyRate {
    double watts;
    Duration window;
  };
  std::optional<EnergyRate> energy_rate() const { return rate_; }

 private:
  static constexpr size_t kResidencies = 5;

  bool is_believed(Report& report, const GpuMetrics& table) const;
  void fill_temperatures(Report& report, const GpuMetrics& table) const;
  void fill_activity(Report& report, const GpuMetrics& table) const;
  void fill_power(Report& report, const GpuMetrics& table, bool is_apu);
  void fill_clocks(Report& report, const GpuMetrics& table) const;
  void fill_throttle(Report& report, const GpuMetrics& table);
  void fill_residencies(Report& report, const GpuMetrics& table);
  void note_energy(double joules, MonoTime now);

  std::optional<EnergyRate> rate_;
  std::optional<double> energy_;  // at energy_at_
  MonoTime energy_at_{};
  std::optional<uint64_t> first_throttle_;
  bool throttle_has_changed_ = false;
  std::optional<double> rounds_;
  std::array<std::optional<double>, kResidencies> residencies_;
};

}  // namespace gpusight::collect::amdgpu
