#include "collect/nvml/enumerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "collect/nvml/device_facts.h"

namespace gpusight::collect::nvml {
namespace {

// More than any machine has; a count beyond it is garbage.
constexpr unsigned kMostGpus = 512;

// The library's texts end with a zero within their buffer; one that does not is cut there.
class Text {
 public:
  explicit Text(unsigned bytes) : buffer_(bytes + 1, '\0') {}
  char* data() { return buffer_.data(); }
  unsigned size() const { return static_cast<unsigned>(buffer_.size() - 1); }
  std::string clean() const { return clean_text(buffer_.substr(0, buffer_.find('\0'))); }

 private:
  std::string buffer_;
};

std::string device_text(CallMeter& call, Return (*function)(Handle, char*, unsigned), Handle handle,
                        unsigned bytes) {
  Text text(bytes);
  return call(function, handle, text.data(), text.size()) == Return::kSuccess ? text.clean() : "";
}

std::optional<uint32_t> device_number(CallMeter& call, Return (*function)(Handle, unsigned*),
                                      Handle handle) {
  unsigned number = 0;
  if (call(function, handle, &number) != Return::kSuccess) return std::nullopt;
  return number;
}

void read_pci(CallMeter& call, const NvmlApi& api, Gpu& gpu) {
  PciInfo info{};
  if (call(api.pci_info, gpu.handle, &info) != Return::kSuccess) return;
  gpu.device.pci = platform::pci_address(info.domain, info.bus, info.device);
  gpu.pci_device_id = info.pci_device_id;
  gpu.pci_subsystem_id = info.pci_subsystem_id;
}

// "NVIDIA A100-SXM4-40GB MIG 3g.20gb" → "3g.20gb"; "" if the name does not say.
std::string profile_in(const std::string& name) {
  constexpr std::string_view kMark = "MIG ";
  const size_t at = name.rfind(kMark);
  return at == std::string::npos ? "" : name.substr(at + kMark.size());
}

// The same from what the instance has: "1c.3g.20gb" when it is part of a GPU instance.
std::string profile_of(CallMeter& call, const NvmlApi& api, Handle handle) {
  DeviceAttributes has{};
  if (call(api.attributes, handle, &has) != Return::kSuccess) return {};
  if (has.gpu_instance_slices == 0) return {};
  const double gigabytes = std::ceil(static_cast<double>(has.memory_mib) / 1024);
  std::string whole =
      fmt::format("{}g.{}gb", has.gpu_instance_slices, static_cast<int64_t>(gigabytes));
  if (has.compute_instance_slices == has.gpu_instance_slices) return whole;
  return fmt::format("{}c.{}", has.compute_instance_slices, whole);
}

MigDevice describe_mig(CallMeter& call, const NvmlApi& api, Handle handle,
                       const model::Device& parent) {
  MigDevice mig{.handle = handle};
  model::Device& device = mig.device;
  device.kind = model::DeviceKind::kMig;
  device.vendor = parent.vendor;
  device.driver = parent.driver;
  device.pci = parent.pci;
  device.index = parent.index;
  device.minor = parent.minor;
  device.parent = parent.uuid;
  device.uuid = device_text(call, api.uuid, handle, kUuidBytes);
  device.gpu_instance = device_number(call, api.gpu_instance, handle);
  device.compute_instance = device_number(call, api.compute_instance, handle);
  device.profile = profile_in(device_text(call, api.name, handle, kNameBytes));
  if (device.profile.empty()) device.profile = profile_of(call, api, handle);
  device.name = device.profile.empty() ? "MIG" : "MIG " + device.profile;
  if (device.uuid.empty() && device.gpu_instance && device.compute_instance) {
    device.uuid =
        fmt::format("MIG-{}/{}/{}", parent.uuid, *device.gpu_instance, *device.compute_instance);
  }
  return mig;
}

// Calls `visit` with each MIG device's handle. Holes in the numbering are normal.
template <typename Visit>
Return each_mig(CallMeter& call, const NvmlApi& api, Handle gpu, Visit visit) {
  unsigned most = 0;
  const Return counted = call(api.mig_max_devices, gpu, &most);
  if (counted != Return::kSuccess) return counted;
  for (unsigned i = 0; i < std::min(most, kMostMigDevices); ++i) {
    Handle handle = nullptr;
    const Return code = call(api.mig_handle, gpu, i, &handle);
    if (code == Return::kSuccess) visit(handle);
    if (code == Return::kGpuIsLost || ends_generation(code)) return code;
  }
  return Return::kSuccess;
}

// Where the device is and who; the codes that concern the whole device come back.
Return identify(CallMeter& call, const NvmlApi& api, Gpu& gpu) {
  model::Device& device = gpu.device;
  Text uuid(kUuidBytes);
  const Return code = call(api.uuid, gpu.handle, uuid.data(), uuid.size());
  if (code == Return::kGpuIsLost || ends_generation(code)) return code;
  if (code == Return::kSuccess) device.uuid = uuid.clean();
  read_pci(call, api, gpu);
  if (device.uuid.empty() && device.pci.empty()) {
    return code == Return::kSuccess ? Return::kUnknown : code;
  }
  if (device.uuid.empty()) device.uuid = "PCI-" + device.pci;
  return Return::kSuccess;
}

Return list_instances(CallMeter& call, const NvmlApi& api, Gpu& gpu) {
  unsigned mode = 0;
  unsigned pending = 0;
  const Return code = call(api.mig_mode, gpu.handle, &mode, &pending);
  gpu.mig_enabled = code == Return::kSuccess && mode == 1;
  if (!gpu.mig_enabled) return code;
  return each_mig(call, api, gpu.handle, [&](Handle handle) {
    MigDevice mig = describe_mig(call, api, handle, gpu.device);
    if (!mig.device.uuid.empty()) gpu.instances.push_back(std::move(mig));
  });
}

// What all devices of a machine have in common.
struct Machine {
  std::string driver;
  Facts facts;
};

Machine describe_machine(CallMeter& call, const NvmlApi& api) {
  return {driver_version(call, api), system_facts(call, api)};
}

Return describe(CallMeter& call, const NvmlApi& api, const Machine& machine, Gpu& gpu) {
  const auto& [driver, facts] = machine;
  const Return identified = identify(call, api, gpu);
  if (identified != Return::kSuccess) return identified;
  model::Device& device = gpu.device;
  device.vendor = "nvidia";
  device.driver = driver;
  device.name = device_text(call, api.name, gpu.handle, kNameBytes);
  device.serial = device_text(call, api.serial, gpu.handle, kSerialBytes);
  device.vbios = device_text(call, api.vbios, gpu.handle, kVbiosBytes);
  device.minor = device_number(call, api.minor, gpu.handle);
  if (!device.index) device.index = device_number(call, api.index, gpu.handle);
  gpu.architecture = device_number(call, api.architecture, gpu.handle);
  device.facts = facts;
  read_device_facts(call, api, gpu);
  // A device without MIG, or whose MIG devices cannot be listed, is a device all the same.
  const Return listed = list_instances(call, api, gpu);
  return listed == Return::kGpuIsLost ? listed : Return::kSuccess;
}

bool is_listed(const Enumeration& found, const std::string& uuid) {
  return std::ranges::any_of(found.gpus, [&](const Gpu& g) { return g.device.uuid == uuid; });
}

enum class Answer : uint8_t { kFiled, kSilent };

// Files a device under what its handle's code and its description say.
Answer add(CallMeter& call, const NvmlApi& api, Return code, Gpu gpu, const Machine& machine,
           Enumeration& found) {
  if (code == Return::kSuccess) code = describe(call, api, machine, gpu);
  if (code == Return::kNoPermission || is_empty(code)) {
    ++found.refused;
    return Answer::kFiled;
  }
  if (code != Return::kSuccess) {
    if (code == Return::kGpuIsLost) return Answer::kSilent;
    ++found.failed;
    found.failure = code;
    return Answer::kSilent;
  }
  // Two devices that claim one identity are still two: the second goes by its address.
  if (is_listed(found, gpu.device.uuid)) gpu.device.uuid = "PCI-" + gpu.device.pci;
  if (!is_listed(found, gpu.device.uuid)) found.gpus.push_back(std::move(gpu));
  return Answer::kFiled;
}

// Addresses of devices that are the driver's and that no opened device has.
std::vector<std::string> unclaimed(const std::vector<platform::PciDevice>& bus,
                                   const Enumeration& found) {
  std::vector<std::string> addresses;
  for (const platform::PciDevice& device : bus) {
    const bool claimed = std::ranges::any_of(
        found.gpus, [&](const Gpu& gpu) { return gpu.device.pci == device.address; });
    if (!claimed && (device.driver.empty() || device.driver == "nvidia")) {
      addresses.push_back(device.address);
    }
  }
  return addresses;
}

// Who the lost indexes were: the driver lists devices in bus order, so when as many addresses are
// without an owner as indexes are lost, they belong together; else what the index was before.
void name_the_lost(const std::vector<unsigned>& indexes,
                   const std::vector<platform::PciDevice>& bus, const KnownDevices& known,
                   Enumeration& found) {
  const std::vector<std::string> addresses = unclaimed(bus, found);
  for (size_t i = 0; i < indexes.size(); ++i) {
    std::optional<model::Device> device;
    if (addresses.size() == indexes.size()) {
      device = known.by_pci(addresses[i]).value_or(device_at(addresses[i]));
    } else {
      device = known.by_index(indexes[i]);
    }
    if (!device || is_listed(found, device->uuid)) {
      device = model::Device{.uuid = fmt::format("NVML-INDEX-{}", indexes[i]), .vendor = "nvidia"};
    }
    device->index = indexes[i];
    found.lost.push_back(std::move(*device));
  }
}

}  // namespace

std::string driver_version(CallMeter& call, const NvmlApi& api) {
  Text text(kVersionBytes);
  const Return code = call(api.driver_version, text.data(), text.size());
  return code == Return::kSuccess ? text.clean() : "";
}

Enumeration enumerate_all(CallMeter& call, const NvmlApi& api,
                          const std::vector<platform::PciDevice>& bus, const KnownDevices& known) {
  Enumeration found;
  unsigned count = 0;
  found.failure = call(api.count, &count);
  if (found.failure != Return::kSuccess) return found;
  const Machine machine = describe_machine(call, api);
  std::vector<unsigned> lost;
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    Gpu gpu;
    gpu.device.index = i;
    const Return code = call(api.handle_by_index, i, &gpu.handle);
    const Answer answer = add(call, api, code, std::move(gpu), machine, found);
    if (answer == Answer::kSilent) lost.push_back(i);
  }
  name_the_lost(lost, bus, known, found);
  return found;
}

Enumeration enumerate_at(CallMeter& call, const NvmlApi& api,
                         const std::vector<std::string>& addresses, const KnownDevices& known) {
  Enumeration found;
  const Machine machine = describe_machine(call, api);
  for (const std::string& address : addresses) {
    Gpu gpu;
    const Return code = call(api.handle_by_pci, address.c_str(), &gpu.handle);
    if (add(call, api, code, std::move(gpu), machine, found) == Answer::kSilent) {
      found.lost.push_back(known.by_pci(address).value_or(device_at(address)));
    }
  }
  return found;
}

}  // namespace gpusight::collect::nvml
