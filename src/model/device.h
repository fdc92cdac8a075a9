// What a device is: the facts that do not change while it stands. Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpusight::model {

enum class DeviceKind : uint8_t { kGpu, kMig };

// All but kActive concern the whole device; its values carry the same reason.
enum class DeviceState : uint8_t {
  kActive,
  kAsleep,    // the kernel suspended it; nobody touches it
  kBusy,      // a call into its driver has not come back in time
  kLost,      // it was there and does not answer any more
  kReleased,  // let go of on purpose: by `gpusight release`, or because it is being unbound
};

std::string_view device_kind_key(DeviceKind kind);     // "gpu", "mig"
std::string_view device_state_key(DeviceState state);  // "active", "asleep", …
std::optional<DeviceKind> find_device_kind(std::string_view key);
std::optional<DeviceState> find_device_state(std::string_view key);

// Texts are cleaned (base/text.h) and empty when not known; numbers are absent when not known.
struct Device {
  std::string uuid;  // the identity: the vendor's UUID, else "PCI-" and the address, else a hash
  DeviceKind kind = DeviceKind::kGpu;
  std::string vendor;  // "nvidia"
  std::string name;    // "NVIDIA H100 80GB HBM3"; a MIG device: "MIG 1g.10gb"
  std::string driver;  // "580.105.08"
  std::string pci;     // "0000:19:00.0", lower case
  std::string serial;
  std::string vbios;
  std::optional<uint32_t> index;  // the driver's order: not stable, never an identity
  std::optional<uint32_t>
      cuda_index;                 // CUDA's default order (fastest first), where it can be known
  std::optional<uint32_t> minor;  // N of /dev/nvidiaN
  // What else is known of it, by names of [a-z_]+: "board_part", "architecture", "memory_kind"
  // ("unified": it has none of its own, the host's is what it uses). A fact not known is not there.
  std::vector<std::pair<std::string, std::string>> facts;

  // MIG devices only.
  std::string parent;  // uuid of the GPU they are part of
  std::optional<uint32_t> gpu_instance;
  std::optional<uint32_t> compute_instance;
  std::string profile;  // "1g.10gb"

  bool operator==(const Device&) const = default;
};

// The fact of that name; nullptr if it is not known.
const std::string* find_fact(const Device& device, std::string_view name);

// Devices as views list them: GPUs by index, each followed by its MIG devices.
void sort_for_views(std::vector<Device>& devices);

}  // namespace gpusight::model
