#include "platform/pci_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "platform/drm.h"

namespace gpusight::platform {
namespace {

constexpr size_t kNameBytes = 128;
constexpr size_t kListBytes = size_t{8} << 20;  // pci.ids has 1.5 MB
constexpr std::string_view kAmdgpuIds = "/usr/share/libdrm/amdgpu.ids";
constexpr std::string_view kPciIds[] = {"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids",
                                        "/var/lib/pciutils/pci.ids"};

struct Vendor {
  uint32_t id;
  std::string_view name;
};
constexpr Vendor kVendors[] = {{0x1002, "AMD"}, {0x10de, "NVIDIA"}, {0x8086, "Intel"}};

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// "1002  Advanced Micro Devices" of a line without its tabs: the rest behind `ids`, else empty.
std::string_view rest_behind(std::string_view line, std::string_view ids) {
  if (!line.starts_with(ids) || !line.substr(ids.size()).starts_with("  ")) return {};
  return trim(line.substr(ids.size()));
}

std::string_view in_brackets(std::string_view name) {
  const size_t open = name.rfind('[');
  const size_t close = name.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return name;
  }
  return name.substr(open + 1, close - open - 1);
}

std::string vendor_name(uint32_t vendor) {
  const auto* const at = std::ranges::find(kVendors, vendor, &Vendor::id);
  return at == std::end(kVendors) ? "GPU" : std::string(at->name);
}

}  // namespace

std::string amdgpu_ids_name(std::string_view text, const PciIds& ids) {
  std::string_view shared;
  bool differ = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const size_t first = line.find(',');
    const size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
    if (second == std::string_view::npos) continue;
    if (parse_uint(line.substr(0, first), 16) != ids.device) continue;
    const std::string_view name = trim(line.substr(second + 1));
    const auto revision = parse_uint(line.substr(first + 1, second - first - 1), 16);
    if (revision && ids.revision == revision) return clean_text(name, kNameBytes);
    differ = differ || (!shared.empty() && shared != name);
    shared = name;
  }
  // A revision that is not listed is a board that is not.
  return ids.revision || differ ? std::string() : clean_text(shared, kNameBytes);
}

std::string pci_ids_name(std::string_view text, const PciIds& ids) {
  const std::string vendor = fmt::format("{:04x}", ids.vendor);
  const std::string device = fmt::format("{:04x}", ids.device);
  const std::string board =
      fmt::format("{:04x} {:04x}", ids.subsystem_vendor, ids.subsystem_device);
  bool in_vendor = false;
  std::string_view chip;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.empty() || line.front() == '#') continue;
    const size_t depth = std::min(line.find_first_not_of('\t'), size_t{3});
    line.remove_prefix(std::min(depth, line.size()));
    if (depth == 0) {
      if (in_vendor) break;
      in_vendor = !rest_behind(line, vendor).empty();
    } else if (in_vendor && depth == 1) {
      if (!chip.empty()) break;
      chip = rest_behind(line, device);
    } else if (in_vendor && depth == 2 && !chip.empty()) {
      const std::string_view name = rest_behind(line, board);
      if (!name.empty()) return clean_text(name, kNameBytes);
    }
  }
  return clean_text(in_brackets(chip), kNameBytes);
}

std::string gpu_name(const RootFs& root, const PciIds& ids) {
  if (ids.vendor == kVendorAmd) {
    const auto list = root.read(kAmdgpuIds, kListBytes);
    std::string name = list.ok() ? amdgpu_ids_name(*list, ids) : std::string();
    if (!name.empty()) return name;
  }
  const std::string vendor = vendor_name(ids.vendor);
  for (const std::string_view path : kPciIds) {
    const auto list = root.read(path, kListBytes);
    if (!list.ok()) continue;
    const std::string name = pci_ids_name(*list, ids);
    if (name.empty()) continue;
    return name.starts_with(vendor) ? name : fmt::format("{} {}", vendor, name);
  }
  return fmt::format("{} {:04x}:{:04x}", vendor, ids.vendor, ids.device);
}

}  // namespace gpusight::platform
