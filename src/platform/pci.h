// Display devices on the PCI bus, and whether the kernel has put them to sleep. Only files are read
// that the kernel answers by itself: none of it wakes a sleeping device. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/root_fs.h"

namespace gpusight::platform {

inline constexpr uint32_t kVendorNvidia = 0x10de;

struct PciDevice {
  std::string address;  // "0000:19:00.0", lower case
  uint32_t vendor = 0;
  uint32_t device = 0;
  uint32_t class_code = 0;  // 24 bits; 0x03xxxx is a display device
  std::string driver;       // "nvidia", "nouveau", "vfio-pci"; empty: none is bound
  bool operator==(const PciDevice&) const = default;
};

enum class RuntimeStatus : uint8_t {
  kActive,
  kSuspended,
  kSuspending,
  kResuming,
  kUnmanaged,  // the kernel does not manage its power, or does not say: it never sleeps
};

struct PciPower {
  RuntimeStatus status = RuntimeStatus::kUnmanaged;
  bool may_sleep = false;  // power/control is "auto"
  // How long the device must be idle; absent when the driver has its own idea; negative: never.
  std::optional<int64_t> autosuspend_delay_ms;
};

// Every display device, or those of one vendor, in the order of the bus.
std::vector<PciDevice> display_devices(const RootFs& root,
                                       std::optional<uint32_t> vendor = std::nullopt);

RuntimeStatus runtime_status(const RootFs& root, const std::string& address);
PciPower pci_power(const RootFs& root, const std::string& address);

// Asleep, on the way to sleep or on the way out of it: a touch would wake it or wait for it.
constexpr bool is_asleep(RuntimeStatus status) {
  return status == RuntimeStatus::kSuspended || status == RuntimeStatus::kSuspending ||
         status == RuntimeStatus::kResuming;
}

// "0000:19:00.0" from numbers; the domain may need more than four digits.
std::string pci_address(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function = 0);

}  // namespace gpusight::platform
