#include "collect/amdgpu/amd_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "collect/amdgpu/gpu_metrics.h"
#include "platform/pci_names.h"

namespace gpusight::collect::amdgpu {
namespace {

using platform::DrmDevice;
using platform::RootFs;

std::string text_of(const RootFs& root, const std::string& path) {
  return clean_text(root.read_trimmed(path).value_or(""), 96);
}

// "d2da20c4c97c420d" as ROCm's tools write it; empty for what identifies nobody.
std::string uuid_of(const RootFs& root, const AmdDevice& gpu) {
  std::string id = text_of(root, gpu.path("unique_id"));
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto number = id.size() <= 16 ? parse_uint(id, 16) : std::nullopt;
  if (!number || *number == 0 || *number == UINT64_MAX) return {};
  return fmt::format("GPU-{:016x}", *number);
}

bool looks_like_apu(const RootFs& root, const AmdDevice& gpu) {
  if (!gpu.hwmon.empty()) {
    for (const auto& rail : platform::hwmon_sensors(root, gpu.hwmon, "in")) {
      if (rail.label == "vddnb") return true;
    }
  }
  if (!gpu.has("gpu_metrics")) return false;
  const auto bytes = root.read(gpu.path("gpu_metrics"), 16384);
  if (!bytes.ok()) return false;
  const auto table = parse_gpu_metrics(*bytes);
  return table.ok() && table->format > 1;
}

double host_memory(const RootFs& root) {
  const auto text = root.read("/proc/meminfo", 16384);
  if (!text.ok()) return 0;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split_words(line);
    if (words.size() >= 2 && words[0] == "MemTotal:") {
      return static_cast<double>(parse_uint(words[1]).value_or(0)) * 1024;
    }
  }
  return 0;
}

std::string driver_version(const RootFs& root) {
  const std::string own = text_of(root, "/sys/module/amdgpu/version");  // of AMD's own packages
  return own.empty() ? "amdgpu" : "amdgpu " + own;
}

void add_fact(model::Device& device, std::string_view key, std::string text) {
  if (!text.empty()) device.facts.emplace_back(key, std::move(text));
}

void read_facts(const RootFs& root, AmdDevice& gpu) {
  model::Device& device = gpu.device;
  const std::string product = text_of(root, gpu.path("product_name"));
  if (!product.empty()) device.name = product;
  device.serial = text_of(root, gpu.path("serial_number"));
  const std::string vbios = text_of(root, gpu.path("vbios_version"));
  if (vbios.find_first_not_of("x-") != std::string::npos) device.vbios = vbios;
  add_fact(device, "board_part", text_of(root, gpu.path("product_number")));
  add_fact(device, "memory_kind", gpu.is_apu ? "unified" : "dedicated");
  const std::string maker = text_of(root, gpu.path("mem_info_vram_vendor"));
  if (maker != "unknown") add_fact(device, "memory_vendor", maker);
  // What its power readings are of.
  add_fact(device, "power_scope", gpu.is_apu ? "package" : "board");
  const auto node = root.read_int(gpu.path("numa_node"));
  if (node && *node >= 0) add_fact(device, "numa_node", std::to_string(*node));
}

}  // namespace

bool AmdDevice::has(std::string_view file) const {
  return std::ranges::binary_search(files, file, std::less<>());
}

model::Device device_on_bus(const RootFs& root, const DrmDevice& drm) {
  model::Device device;
  device.uuid = "PCI-" + drm.address;
  device.vendor = "amd";
  device.name = platform::gpu_name(root, {.vendor = drm.vendor,
                                          .device = drm.device,
                                          .subsystem_vendor = drm.subsystem_vendor,
                                          .subsystem_device = drm.subsystem_device});
  device.driver = driver_version(root);
  device.pci = drm.address;
  add_fact(device, "pci_id", fmt::format("{:04x}:{:04x}", drm.vendor, drm.device));
  add_fact(device, "render_node", drm.render_node);
  return device;
}

AmdDevice read_amd_device(const RootFs& root, const DrmDevice& drm) {
  AmdDevice gpu{.drm = drm, .device = device_on_bus(root, drm)};
  gpu.files = root.list(drm.folder);
  std::ranges::sort(gpu.files);
  gpu.hwmon = platform::find_hwmon(root, drm.folder, "amdgpu").value_or("");
  gpu.is_apu = looks_like_apu(root, gpu);
  gpu.host_memory_bytes = host_memory(root);
  const auto revision = root.read_hex(gpu.path("revision"));
  gpu.device.name = platform::gpu_name(
      root,
      {.vendor = drm.vendor,
       .device = drm.device,
       .subsystem_vendor = drm.subsystem_vendor,
       .subsystem_device = drm.subsystem_device,
       .revision = revision ? std::optional(static_cast<uint32_t>(*revision)) : std::nullopt});
  const std::string uuid = uuid_of(root, gpu);
  if (!uuid.empty()) gpu.device.uuid = uuid;
  read_facts(root, gpu);
  return gpu;
}

}  // namespace gpusight::collect::amdgpu
