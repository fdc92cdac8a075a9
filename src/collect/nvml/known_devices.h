// What one run of the program remembers of devices across library generations: who is behind a PCI
// address that cannot be asked now, and since when a device's clocks are held down.
//
// Thread-safe: lanes and the control thread share it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/annotations.h"
#include "base/clock.h"
#include "model/device.h"

namespace gpusight::collect::nvml {

// When each throttle reason that is active now began; nullopt: it is not active. The order is
// kThrottleEvents's (throttle.h).
using ThrottleBegan = std::array<std::optional<MonoTime>, 5>;

class KnownDevices {
 public:
  void remember(const model::Device& device) EXCLUDES(mutex_);
  std::optional<model::Device> by_pci(const std::string& address) const EXCLUDES(mutex_);
  std::optional<model::Device> by_index(uint32_t index) const EXCLUDES(mutex_);

  ThrottleBegan throttle(const std::string& uuid) const EXCLUDES(mutex_);
  void set_throttle(const std::string& uuid, const ThrottleBegan& began) EXCLUDES(mutex_);

 private:
  // Identities of one machine's slots; a machine that swaps more than this is not believable.
  static constexpr size_t kMost = 1024;

  mutable Mutex mutex_;
  std::map<std::string, model::Device> by_uuid_ GUARDED_BY(mutex_);
  std::map<std::string, ThrottleBegan> throttle_ GUARDED_BY(mutex_);
};

// A device known from its place on the bus alone.
model::Device device_at(const std::string& pci_address);

}  // namespace gpusight::collect::nvml
