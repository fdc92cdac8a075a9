// What a GPU is beyond its identity: part numbers, firmware, architecture, where its memory is.
// Asked once, when the device is listed; each fact that the driver does not tell is left out.
#pragma once

#include "collect/nvml/call_meter.h"
#include "collect/nvml/enumerate.h"

namespace gpusight::collect::nvml {

// Adds to gpu.device.facts, and sets gpu.has_unified_memory.
void read_device_facts(CallMeter& call, const NvmlApi& api, Gpu& gpu);

// Versions that are the machine's: of CUDA and of the library.
using Facts = std::vector<std::pair<std::string, std::string>>;
Facts system_facts(CallMeter& call, const NvmlApi& api);

}  // namespace gpusight::collect::nvml
