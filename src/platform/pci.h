// Display devices on the PCI bus, and whether the kernel has put them to sleep. Only files are read
// that the kernel answers by itself: none of it wakes a sleeping device. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
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

// The driver as the link in the device's folder has it; empty: none. The link goes as soon as the
// kernel begins to take the device from its driver, while it still waits for who has it open.
std::string pci_driver(const RootFs& root, const std::string& address);
bool is_on_bus(const RootFs& root, const std::string& address);

RuntimeStatus runtime_status(const RootFs& root, const std::string& address);
PciPower pci_power(const RootFs& root, const std::string& address);
// The same of a device by the folder of its files.
RuntimeStatus runtime_status_in(const RootFs& root, const std::string& folder);
PciPower pci_power_in(const RootFs& root, const std::string& folder);

// How long the kernel has kept a device awake and asleep; absent where it does not say.
struct PciTimes {
  std::optional<Duration> awake;
  std::optional<Duration> asleep;
};
PciTimes pci_times(const RootFs& root, const std::string& address);
PciTimes pci_times_in(const RootFs& root, const std::string& folder);

// The folder whose link is the slot's. Boards with a switch of their own show the inside of it at
// the GPU, always at full width; the slot is above the topmost bridge of the same vendor. Where
// nothing is known of what is above, the device's own.
std::string slot_link_folder(const RootFs& root, const std::string& folder, uint32_t vendor);
// The generation that a link's speed means: 4 of "16.0 GT/s PCIe"; nullopt for "Unknown".
std::optional<uint32_t> pcie_generation(std::string_view speed);

// Asleep, on the way to sleep or on the way out of it: a touch would wake it or wait for it.
constexpr bool is_asleep(RuntimeStatus status) {
  return status == RuntimeStatus::kSuspended || status == RuntimeStatus::kSuspending ||
         status == RuntimeStatus::kResuming;
}

// Where a device sits: facts of the bus, which change no more.
struct PciPlace {
  std::optional<uint32_t> numa_node;
  std::string cpu_list;  // of the processors that are near, "0-31,64-95"; empty: not known
};
PciPlace pci_place(const RootFs& root, const std::string& address);

// What lies between two devices, from closest to farthest.
enum class PciDistance : uint8_t {
  kOneSwitch,    // at most one PCIe switch or bridge
  kSwitches,     // several
  kHostBridge,   // the root complex that both hang on
  kSameNode,     // two root complexes of one NUMA node
  kAcrossNodes,  // and of different ones
  kUnknown,
};
PciDistance pci_distance(const RootFs& root, const std::string& a, const std::string& b);

// Network cards that have a place on the bus, by the name that their users know: "mlx5_0", else the
// interface's. At most kMostNetworkCards.
struct NetworkCard {
  std::string name;
  std::string address;
};
inline constexpr size_t kMostNetworkCards = 64;
std::vector<NetworkCard> network_cards(const RootFs& root);

// "0000:19:00.0" from numbers; the domain may need more than four digits.
std::string pci_address(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function = 0);

}  // namespace gpusight::platform
