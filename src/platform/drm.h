// GPUs and other accelerators that the kernel's DRM subsystem knows, whoever drives them. Found by
// their uevent files alone, which the kernel answers by itself: nothing here wakes a device. Plain
// values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/pci.h"
#include "platform/root_fs.h"

namespace gpusight::platform {

inline constexpr uint32_t kVendorAmd = 0x1002;

struct DrmDevice {
  std::string node;         // "card1", "renderD128" or "accel0"; its number changes between boots
  std::string render_node;  // "renderD128"; empty: none, or not known
  std::string folder;       // of its files, below the root: by its PCI address where that works
  std::string driver;       // "amdgpu", "xe", "panfrost"; empty: not told
  std::string address;      // "0000:03:00.0", lower case; empty: it is not on the PCI bus
  uint32_t class_code = 0;  // 24 bits, as all that follow 0 where not known
  uint32_t vendor = 0;
  uint32_t device = 0;
  uint32_t subsystem_vendor = 0;
  uint32_t subsystem_device = 0;
  std::string compatible;  // of its node in the device tree: "arm,mali-g610"
  bool operator==(const DrmDevice&) const = default;
};

inline constexpr size_t kMostDrmDevices = 256;

// Each device once, in the order of their nodes' names. Connectors are no devices.
std::vector<DrmDevice> drm_devices(const RootFs& root);

// A screen is lit by it: its driver keeps it awake. False where that cannot be seen.
bool drives_a_screen(const RootFs& root, const DrmDevice& device);

// The folder of the hwmon chip that `driver` made for the device; nullopt if it made none.
std::optional<std::string> find_hwmon(const RootFs& root, std::string_view device_folder,
                                      std::string_view driver);

// One sensor of a hwmon chip, found by its label, never by its number.
struct HwmonSensor {
  std::string label;  // "edge", "PPT"; empty: the chip gives it none
  std::string path;   // what the names of its files begin with: "…/hwmon5/temp2"
};
// Sensors of a kind ("temp", "power", "in", "freq", "fan") that have any of `files` ("input").
std::vector<HwmonSensor> hwmon_sensors(const RootFs& root, std::string_view chip,
                                       std::string_view kind,
                                       const std::vector<std::string_view>& files = {"input"});

}  // namespace gpusight::platform
