// The processes on AMD GPUs: what the driver says of each of their clients. One lane for all GPUs
// of a generation, since /proc is walked once for all.
//
// A client is counted once, however many descriptors and processes share it: it belongs to the
// process with the lowest pid. Memory is what is resident: of a board its own, of an APU both
// pools. Shares are of the busiest engine's time, from counters; one that goes backwards counts
// nothing until it passed where it was. Clients of other users are seen only by who may
// look at them: where one may not, how many there are is not known. What computes by ROCm is seen
// by all, with the memory that KFD says it holds; of its time the driver counts nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collect/amdgpu/amd_device.h"
#include "collect/amdgpu/device_lane.h"
#include "collect/source.h"

namespace gpusight::collect::amdgpu {

struct ProcessesOf {
  std::shared_ptr<const AmdDevice> gpu;
  std::shared_ptr<DeviceWork> work;  // a process that computes is work
};
// Where processes are not wanted (switched off) nothing of them is read.
std::unique_ptr<Lane> make_process_lane(const platform::RootFs& root, std::vector<ProcessesOf> gpus,
                                        bool is_wanted);

std::span<const catalog::MetricId> process_metrics();

}  // namespace gpusight::collect::amdgpu
