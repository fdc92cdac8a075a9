// The limit of open files, as far as the driver's library suffers from it.
#pragma once

#include <cstdint>
#include <optional>

namespace gpusight::collect::nvml {

inline constexpr uint64_t kMostDescriptors = 65536;

// The driver's library may start a helper of its own (nvidia-modprobe), and in front of it closes
// every descriptor number up to the limit, one by one: with the limits of some containers, a
// thousand million, that is minutes. gpusight itself needs a few hundred.
//
// Lowers this process's soft limit to `most` if it is higher; the limit before, if it was lowered.
std::optional<uint64_t> lower_descriptor_limit(uint64_t most = kMostDescriptors);

}  // namespace gpusight::collect::nvml
