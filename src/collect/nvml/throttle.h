// Why a GPU's clocks are held down: the driver's bits as one 0/1 series a reason, and events when
// one that means "slowed by a limit" begins or ends. Belongs to one lane.
#pragma once

#include <string>

#include "collect/nvml/gathering.h"
#include "collect/nvml/known_devices.h"

namespace gpusight::collect::nvml {

class ThrottleWatch {
 public:
  ThrottleWatch(const model::Device& device, KnownDevices& known)
      : uuid_(device.uuid), known_(known), began_(known.throttle(device.uuid)) {}

  // Sets gpu_throttle_active{reason} of the report's subject and emits what changed.
  void update(uint64_t bits, Gathering& found);

 private:
  void say_unknown(uint64_t bits);

  std::string uuid_;
  KnownDevices& known_;
  ThrottleBegan began_;
  uint64_t said_ = 0;  // unknown bits that were logged
};

}  // namespace gpusight::collect::nvml
