// AMD GPUs, from the files of the amdgpu driver: boards, APUs and Instinct. No library of the
// vendor is loaded.
//
// power/runtime_status comes before every other file: of a device that sleeps nothing else is read
// but what the kernel's PCI code answers by itself, and one that is idle is left alone for as long
// as the kernel needs to put it to sleep. Devices are looked for once a second by their uevent
// files; partitions of an Instinct board, which hang on no bus, are no devices of their own.
//
// Cost: fast lane at most 40 files a tick and device (lanes.h), 16 to 26 on known boards; of these
// gpu_metrics asks the firmware, about a millisecond. Wakes a GPU: no.
//
// Threads: as collect/source.h says.
#pragma once

#include <memory>

#include "collect/source.h"

namespace gpusight::collect {

std::unique_ptr<Source> create_amdgpu_source(const SourceOptions& options);

}  // namespace gpusight::collect
