// NVIDIA GPUs through the driver's management library (NVML), loaded at run time.
//
// Before the library is touched, the kernel is asked whether the GPUs sleep: with every one of them
// suspended not even nvmlInit is called. Threads and ownership are those of collect/source.h.
#pragma once

#include <functional>
#include <memory>

#include "collect/source.h"

namespace gpusight::collect {

std::unique_ptr<Source> create_nvml_source(const SourceOptions& options);

}  // namespace gpusight::collect
