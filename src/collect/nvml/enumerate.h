// The devices of one library generation: GPUs, their MIG devices, and those that do not answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collect/nvml/call_meter.h"
#include "collect/nvml/known_devices.h"
#include "collect/nvml/nvml_api.h"
#include "collect/nvml/return_code.h"
#include "model/device.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {

// More than any GPU is divided into; a count beyond it is garbage.
inline constexpr unsigned kMostMigDevices = 64;

struct MigDevice {
  Handle handle = nullptr;
  model::Device device;
};

struct Gpu {
  Handle handle = nullptr;
  model::Device device;
  std::optional<uint32_t> architecture;
  uint32_t pci_device_id = 0;     // 0: not known
  uint32_t pci_subsystem_id = 0;  // likewise
  bool mig_enabled = false;
  bool has_unified_memory = false;  // the host's; the driver has no figures of it
  std::vector<MigDevice> instances;
};

struct Enumeration {
  std::vector<Gpu> gpus;
  std::vector<model::Device> lost;    // fallen off the bus, or otherwise there and silent
  unsigned refused = 0;               // not for us (a container's other GPUs): no fault
  unsigned failed = 0;                // how many of the lost are silent for another reason
  Return failure = Return::kSuccess;  // of counting, or the last of `failed`
};

// Every device of the library, by index. `bus` helps to tell which one a lost index was.
Enumeration enumerate_all(CallMeter& call, const NvmlApi& api,
                          const std::vector<platform::PciDevice>& bus, const KnownDevices& known);
// Only the devices at these addresses: handles of others would wake them.
Enumeration enumerate_at(CallMeter& call, const NvmlApi& api,
                         const std::vector<std::string>& addresses, const KnownDevices& known);

std::string driver_version(CallMeter& call, const NvmlApi& api);

}  // namespace gpusight::collect::nvml
