// The processes on AMD GPUs: what the driver says of each of their clients. One lane for all GPUs
// of a generation, since /proc is walked once for all.
//
// A client is counted once, however many descriptors and processes share it: it belongs to the
// process with the lowest pid. Memory is what is resident: of a board its own, of an APU both
// pools. Shares are of the busiest engine's time, from counters; one that goes backwards counts
// nothing until it passed where it was. Clients of other users are seen only by who may
// look at them; what computes by ROCm is seen by all, with the memory that KFD says it holds.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collect/amdgpu/amd_device.h"
#include "collect/source.h"

namespace gpusight::collect::amdgpu {

std::unique_ptr<Lane> make_process_lane(const platform::RootFs& root,
                                        std::vector<std::shared_ptr<const AmdDevice>> gpus);

std::span<const catalog::MetricId> process_metrics();

}  // namespace gpusight::collect::amdgpu
