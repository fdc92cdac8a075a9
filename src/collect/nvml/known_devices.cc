#include "collect/nvml/known_devices.h"

namespace gpusight::collect::nvml {

void KnownDevices::remember(const model::Device& device) {
  MutexLock lock(mutex_);
  // A board moved or exchanged: its address and index now belong to the one seen last.
  std::erase_if(by_uuid_, [&](const auto& entry) {
    const model::Device& other = entry.second;
    return entry.first != device.uuid && !device.pci.empty() && other.pci == device.pci;
  });
  for (auto& [uuid, other] : by_uuid_) {
    if (uuid != device.uuid && other.index == device.index) other.index.reset();
  }
  if (by_uuid_.size() < kMost || by_uuid_.contains(device.uuid)) by_uuid_[device.uuid] = device;
}

std::optional<model::Device> KnownDevices::by_pci(const std::string& address) const {
  MutexLock lock(mutex_);
  for (const auto& [uuid, device] : by_uuid_) {
    if (device.pci == address) return device;
  }
  return std::nullopt;
}

std::optional<model::Device> KnownDevices::by_index(uint32_t index) const {
  MutexLock lock(mutex_);
  for (const auto& [uuid, device] : by_uuid_) {
    if (device.index == index) return device;
  }
  return std::nullopt;
}

ThrottleBegan KnownDevices::throttle(const std::string& uuid) const {
  MutexLock lock(mutex_);
  const auto it = throttle_.find(uuid);
  return it == throttle_.end() ? ThrottleBegan{} : it->second;
}

void KnownDevices::set_throttle(const std::string& uuid, const ThrottleBegan& began) {
  MutexLock lock(mutex_);
  if (throttle_.size() < kMost || throttle_.contains(uuid)) throttle_[uuid] = began;
}

model::Device device_at(const std::string& pci_address) {
  model::Device device;
  device.uuid = "PCI-" + pci_address;
  device.vendor = "nvidia";
  device.pci = pci_address;
  return device;
}

}  // namespace gpusight::collect::nvml
