// What of a device no process explains. Plain functions, any thread.
#pragma once

#include <optional>

#include "model/snapshot.h"

namespace gpusight::model {

// Bytes in use less those of all processes, hidden ones included: contexts left by dead processes,
// other PID namespaces, what a driver keeps without saying so. Absent where one of the numbers is,
// and where processes hold more than is in use (memory that they share is counted for each).
std::optional<double> unexplained_memory_bytes(const DeviceSnapshot& device);

// The share of time in which the device worked, less the shares of all processes. Absent as above;
// the two are of windows that differ a little, so that for a moment it may be too large.
std::optional<double> unattributed_ratio(const DeviceSnapshot& device);

}  // namespace gpusight::model
