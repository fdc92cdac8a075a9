// How the GPUs of a generation hang together, with each other and with network cards: the driver's
// word for pairs of GPUs, the kernel's files for the rest. Read once, when the devices are opened;
// none of the files wakes a device.
#pragma once

#include <memory>

#include "collect/nvml/call_meter.h"
#include "collect/nvml/enumerate.h"
#include "model/topology.h"
#include "platform/root_fs.h"

namespace gpusight::collect::nvml {

std::shared_ptr<const model::Topology> read_topology(CallMeter& call, const NvmlApi& api,
                                                     const platform::RootFs& root,
                                                     const std::vector<Gpu>& gpus);

}  // namespace gpusight::collect::nvml
