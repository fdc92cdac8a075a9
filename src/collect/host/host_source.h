// The machine around the GPUs: processors, load, memory, swap, pressure, disks, network, uptime and
// the temperatures that hwmon knows, each from a file of /proc or /sys below a root path.
//
// There is always a machine, so open() always gives a generation: no devices, and two lanes about
// kHost. host/fast reads /proc every tick; host/slow reads hwmon every 10 s, apart, since a sensor
// may answer through a slow bus or a disk's own firmware. Neither asks anything of a GPU: sensors
// that belong to a GPU's driver are passed over, because reading them can wake a sleeping card.
//
// A file that is missing gives not_supported, one we may not read no_permission, one that fails or
// makes no sense driver_error (logged once); a share that needs two readings gives warming_up.
//
// Cost (-O2, 2-core virtual machine, Linux 6.18, 1 disk, 3 interfaces): 52 µs a fast poll at the
// median, most of it the kernel's; wakes a GPU: no. Each core more costs about 0.4 µs.
//
// Threads: as collect/source.h says; the two lanes share nothing but the constant RootFs.
#pragma once

#include <memory>

#include "collect/source.h"

namespace gpusight::collect {

std::unique_ptr<Source> create_host_source(const SourceOptions& options);

}  // namespace gpusight::collect
