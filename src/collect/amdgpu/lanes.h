// The two lanes of a GPU that amdgpu holds.
//
// Fast, every tick, at most kMostFastReads files: load, memory, temperatures, power, clocks, fans,
// voltages, and gpu_metrics, which fills gaps only. Slow, every ten seconds: limits, the PCIe link
// and its errors, modes, times awake and asleep, and once a minute RAS, whose files make the driver
// ask and clear the hardware's counters. pcie_bw is never read: it sleeps for a second.
#pragma once

#include <memory>
#include <span>

#include "collect/amdgpu/amd_device.h"
#include "collect/amdgpu/device_lane.h"
#include "collect/source.h"

namespace gpusight::collect::amdgpu {

inline constexpr unsigned kMostFastReads = 40;

std::unique_ptr<DeviceLane> make_fast_lane(const platform::RootFs& root,
                                           std::shared_ptr<const AmdDevice> gpu,
                                           std::shared_ptr<DeviceWork> work);
std::unique_ptr<DeviceLane> make_slow_lane(const platform::RootFs& root,
                                           std::shared_ptr<const AmdDevice> gpu,
                                           const catalog::MetricSet& disabled = {});

std::span<const catalog::MetricId> fast_metrics();
std::span<const catalog::MetricId> slow_metrics();

}  // namespace gpusight::collect::amdgpu
