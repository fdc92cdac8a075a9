#include "collect/nvml/device_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "collect/nvml/fabric_reading.h"

namespace gpusight::collect::nvml {
namespace {

constexpr unsigned kTextBytes = 96;
constexpr unsigned kInforomBytes = 16;

struct TextRow {
  std::string_view key;
  Return (*NvmlApi::*call)(Handle, char*, unsigned);
  unsigned bytes;
};
constexpr TextRow kTexts[] = {
    {"board_part", &NvmlApi::board_part, 80},
    {"inforom_image", &NvmlApi::inforom_image, kInforomBytes},
};

struct NumberRow {
  std::string_view key;
  Return (*NvmlApi::*call)(Handle, unsigned*);
};
constexpr NumberRow kNumbers[] = {
    {"cores", &NvmlApi::core_count},  {"memory_bus_bits", &NvmlApi::memory_bus_width},
    {"board_id", &NvmlApi::board_id}, {"numa_node", &NvmlApi::numa_node},
    {"module", &NvmlApi::module_id},
};

// The driver's numbers of things in words.
struct Word {
  uint32_t number;
  std::string_view text;
};
constexpr Word kArchitectures[] = {{2, "kepler"},     {3, "maxwell"}, {4, "pascal"}, {5, "volta"},
                                   {6, "turing"},     {7, "ampere"},  {8, "ada"},    {9, "hopper"},
                                   {10, "blackwell"}, {13, "rubin"}};
constexpr Word kBrands[] = {{1, "quadro"},      {2, "tesla"},       {3, "nvs"},
                            {4, "grid"},        {5, "geforce"},     {6, "titan"},
                            {12, "quadro_rtx"}, {13, "nvidia_rtx"}, {14, "nvidia"}};
constexpr Word kInforomObjects[] = {{0, "inforom_oem"}, {1, "inforom_ecc"}, {2, "inforom_power"}};
constexpr Word kPeers[] = {{0, "direct"}, {1, "switch"}};
constexpr Word kAddressing[] = {{0, "none"}, {1, "hmm"}, {2, "ats"}};

// A number that is newer than the table stays a number.
std::string word_for(std::span<const Word> words, uint32_t number) {
  const auto at = std::ranges::find(words, number, &Word::number);
  return at == words.end() ? std::to_string(number) : std::string(at->text);
}

class Collector {
 public:
  Collector(CallMeter& call, Handle handle, Facts& facts)
      : call_(call), handle_(handle), facts_(facts) {}

  void add(std::string_view key, std::string text) {
    if (!text.empty()) facts_.emplace_back(key, std::move(text));
  }

  // The text of a call whose last arguments are a buffer and its length.
  template <typename Function, typename... Arguments>
  void text(std::string_view key, unsigned bytes, Function function, Arguments... arguments) {
    std::string buffer(bytes + 1, '\0');
    if (call_(function, handle_, arguments..., buffer.data(), bytes) != Return::kSuccess) return;
    add(key, clean_text(buffer.substr(0, buffer.find('\0'))));
  }
  std::optional<uint32_t> number(Return (*function)(Handle, unsigned*)) {
    unsigned found = 0;
    if (call_(function, handle_, &found) != Return::kSuccess) return std::nullopt;
    return found;
  }

 private:
  CallMeter& call_;
  Handle handle_;
  Facts& facts_;
};

void add_firmware(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  if (api.gsp_firmware == nullptr) return;
  char version[kTextBytes + 1] = {};
  if (call(api.gsp_firmware, handle, static_cast<char*>(version)) != Return::kSuccess) return;
  facts.add("gsp_firmware", clean_text(std::string_view(version), kTextBytes));
}

void add_capability(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  int major = 0;
  int minor = 0;
  if (call(api.compute_capability, handle, &major, &minor) != Return::kSuccess) return;
  facts.add("compute_capability", fmt::format("{}.{}", major, minor));
}

void add_addressing(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  AddressingMode mode{.version = struct_version<AddressingMode>(1)};
  if (call(api.addressing_mode, handle, &mode) != Return::kSuccess) return;
  facts.add("addressing_mode", word_for(kAddressing, mode.value));
}

std::string hex(std::span<const uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

template <size_t size>
std::string text_in(const char (&buffer)[size]) {
  return clean_text(std::string_view(buffer, ::strnlen(buffer, size)));
}

// The older form of the same bytes.
void add_platform_v1(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  PlatformInfoV1 info{.version = struct_version<PlatformInfoV1>(1)};
  if (call(api.platform, handle, static_cast<void*>(&info)) != Return::kSuccess) return;
  facts.add("rack_guid", hex(info.rack_guid));
  facts.add("chassis_slot", std::to_string(info.slot));
  facts.add("compute_slot", std::to_string(info.compute_slot));
  facts.add("node", std::to_string(info.node));
  facts.add("peer_type", word_for(kPeers, info.peer_type));
}

// Where the rack's boards say where they are.
void add_platform(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  PlatformInfo info{.version = struct_version<PlatformInfo>(2)};
  const Return code = call(api.platform, handle, static_cast<void*>(&info));
  if (code == Return::kArgumentVersionMismatch || code == Return::kInvalidArgument) {
    return add_platform_v1(call, api, handle, facts);
  }
  if (code != Return::kSuccess) return;
  facts.add("chassis_serial", text_in(info.chassis_serial));
  facts.add("chassis_slot", std::to_string(info.slot));
  facts.add("chassis_tray", std::to_string(info.tray));
  facts.add("chassis_host", std::to_string(info.host));
  facts.add("peer_type", word_for(kPeers, info.peer_type));
}

// Whom it can reach; known only where the GPU is registered by now.
void add_fabric(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  const Fabric fabric = ask_fabric([&](unsigned form, void* info) {
    if (form > 1) return call(api.fabric_v, handle, info);
    return call(api.fabric_v1, handle, static_cast<FabricInfoV1*>(info));
  });
  facts.add("fabric_cluster", fabric.cluster);
}

void add_c2c(CallMeter& call, const NvmlApi& api, Handle handle, Collector& facts) {
  C2cMode mode{};
  if (call(api.c2c_mode, handle, &mode) != Return::kSuccess) return;
  facts.add("c2c", mode.is_on != 0 ? "on" : "off");
}

// Parts that are known to have no memory of their own.
constexpr std::string_view kIntegrated[] = {"GB10", "Thor", "Orin", "Xavier", "Tegra"};

// A part that uses the host's memory: the driver knows no figures of it by either call, and the
// device is known for it or has no window to a memory of its own. A board whose driver merely does
// not tell has one.
bool has_unified_memory(CallMeter& call, const NvmlApi& api, const Gpu& gpu) {
  MemoryV2 v2{.version = struct_version<MemoryV2>(2)};
  const Return newer = call(api.memory_v2, gpu.handle, &v2);
  if (newer == Return::kSuccess || !is_unsupported(newer)) return false;
  MemoryV1 v1{};
  if (call(api.memory_v1, gpu.handle, &v1) != Return::kNotSupported) return false;
  const bool is_known = std::ranges::any_of(kIntegrated, [&](std::string_view name) {
    return gpu.device.name.find(name) != std::string::npos;
  });
  Bar1Memory window{};
  return is_known || call(api.bar1, gpu.handle, &window) == Return::kNotSupported ||
         window.total == 0;
}

}  // namespace

void read_device_facts(CallMeter& call, const NvmlApi& api, Gpu& gpu) {
  Collector facts(call, gpu.handle, gpu.device.facts);
  if (gpu.architecture) facts.add("architecture", word_for(kArchitectures, *gpu.architecture));
  if (const auto brand = facts.number(api.brand)) facts.add("brand", word_for(kBrands, *brand));
  add_capability(call, api, gpu.handle, facts);
  for (const TextRow& row : kTexts) facts.text(row.key, row.bytes, api.*row.call);
  for (const Word& object : kInforomObjects) {
    facts.text(object.text, kInforomBytes, api.inforom_version, object.number);
  }
  for (const NumberRow& row : kNumbers) {
    if (const auto found = facts.number(api.*row.call)) facts.add(row.key, std::to_string(*found));
  }
  add_firmware(call, api, gpu.handle, facts);
  add_addressing(call, api, gpu.handle, facts);
  add_platform(call, api, gpu.handle, facts);
  add_c2c(call, api, gpu.handle, facts);
  add_fabric(call, api, gpu.handle, facts);
  if (gpu.pci_subsystem_id != 0) {
    facts.add("pci_sub_device_id", fmt::format("0x{:08X}", gpu.pci_subsystem_id));
  }
  gpu.has_unified_memory = has_unified_memory(call, api, gpu);
  facts.add("memory_kind", gpu.has_unified_memory ? "unified" : "dedicated");
}

Facts system_facts(CallMeter& call, const NvmlApi& api) {
  Facts facts;
  Collector collector(call, nullptr, facts);
  int cuda = 0;
  // The newer call asks CUDA's own library, which need not be there.
  Return code = call(api.cuda_version_v2, &cuda);
  if (code != Return::kSuccess) code = call(api.cuda_version, &cuda);
  if (code == Return::kSuccess) {
    collector.add("cuda", fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10));
  }
  char nvml[kVersionBytes + 1] = {};
  if (call(api.nvml_version, static_cast<char*>(nvml), kVersionBytes) == Return::kSuccess) {
    collector.add("nvml", clean_text(std::string_view(nvml)));
  }
  return facts;
}

}  // namespace gpusight::collect::nvml
