#include "platform/pci.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpusight::platform {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices/";
constexpr uint32_t kDisplayClass = 0x03;

std::string folder_of(const std::string& address) { return std::string(kDevices) + address; }

std::string file_of(const std::string& address, std::string_view file) {
  std::string path = folder_of(address);
  path += '/';
  path += file;
  return path;
}

// Domain, bus, device and function as numbers, for sorting; text that is no address sorts last.
std::array<uint64_t, 4> place(const std::string& address) {
  std::array<uint64_t, 4> numbers;
  numbers.fill(UINT64_MAX);
  std::string text = address;
  std::ranges::replace(text, '.', ':');
  const auto parts = split(text, ':');
  if (parts.size() != numbers.size()) return numbers;
  for (size_t i = 0; i < parts.size(); ++i) {
    numbers[i] = parse_uint(parts[i], 16).value_or(UINT64_MAX);
  }
  return numbers;
}

// What uevent says, for a bus of which only that file can be read.
void read_uevent(const RootFs& root, PciDevice& device) {
  const auto text = root.read(file_of(device.address, "uevent"), 4096);
  if (!text.ok()) return;
  for (const std::string_view line : split(*text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (name == "PCI_CLASS" && device.class_code == 0) {
      device.class_code = static_cast<uint32_t>(parse_uint(value, 16).value_or(0));
    } else if (name == "PCI_ID" && device.vendor == 0) {
      const auto ids = split(value, ':');
      if (ids.size() != 2) continue;
      device.vendor = static_cast<uint32_t>(parse_uint(ids[0], 16).value_or(0));
      device.device = static_cast<uint32_t>(parse_uint(ids[1], 16).value_or(0));
    } else if (name == "DRIVER" && device.driver.empty()) {
      device.driver = clean_text(value, 64);
    }
  }
}

PciDevice read_device(const RootFs& root, const std::string& address) {
  const auto number = [&](std::string_view file) {
    return static_cast<uint32_t>(root.read_hex(file_of(address, file)).value_or(0));
  };
  PciDevice device{.address = address, .class_code = number("class")};
  if (device.class_code != 0 && device.class_code >> 16 != kDisplayClass) return device;
  device.vendor = number("vendor");
  device.device = number("device");
  device.driver = pci_driver(root, address);
  if (device.class_code == 0 || device.vendor == 0 || device.driver.empty()) {
    read_uevent(root, device);
  }
  return device;
}

}  // namespace

std::vector<PciDevice> display_devices(const RootFs& root, std::optional<uint32_t> vendor) {
  std::vector<PciDevice> found;
  for (const std::string& name : root.list("/sys/bus/pci/devices")) {
    PciDevice device = read_device(root, name);
    if (device.class_code >> 16 != kDisplayClass) continue;
    if (vendor && device.vendor != *vendor) continue;
    found.push_back(std::move(device));
  }
  std::ranges::stable_sort(found, {}, [](const PciDevice& d) { return place(d.address); });
  return found;
}

std::string pci_driver(const RootFs& root, const std::string& address) {
  return clean_text(root.link_name(file_of(address, "driver")).value_or(""), 64);
}

bool is_on_bus(const RootFs& root, const std::string& address) {
  return root.exists(file_of(address, "vendor"));
}

RuntimeStatus runtime_status_in(const RootFs& root, const std::string& folder) {
  const auto text = root.read_trimmed(folder + "/power/runtime_status");
  if (text == "active") return RuntimeStatus::kActive;
  if (text == "suspended") return RuntimeStatus::kSuspended;
  if (text == "suspending") return RuntimeStatus::kSuspending;
  if (text == "resuming") return RuntimeStatus::kResuming;
  return RuntimeStatus::kUnmanaged;  // "unsupported", "error", or no such file
}

PciPower pci_power_in(const RootFs& root, const std::string& folder) {
  return {.status = runtime_status_in(root, folder),
          .may_sleep = root.read_trimmed(folder + "/power/control") == "auto",
          .autosuspend_delay_ms = root.read_int(folder + "/power/autosuspend_delay_ms")};
}

PciTimes pci_times_in(const RootFs& root, const std::string& folder) {
  constexpr int64_t kLongestMs = int64_t{100'000} * 86'400 * 1000;  // no machine runs so many days
  const auto time_in = [&](std::string_view file) -> std::optional<Duration> {
    const auto milliseconds = root.read_int(folder + std::string(file));
    if (!milliseconds || *milliseconds < 0 || *milliseconds > kLongestMs) return std::nullopt;
    return std::chrono::milliseconds(*milliseconds);
  };
  return {.awake = time_in("/power/runtime_active_time"),
          .asleep = time_in("/power/runtime_suspended_time")};
}

RuntimeStatus runtime_status(const RootFs& root, const std::string& address) {
  return runtime_status_in(root, folder_of(address));
}

PciPower pci_power(const RootFs& root, const std::string& address) {
  return pci_power_in(root, folder_of(address));
}

PciTimes pci_times(const RootFs& root, const std::string& address) {
  return pci_times_in(root, folder_of(address));
}

std::string pci_address(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

PciPlace pci_place(const RootFs& root, const std::string& address) {
  PciPlace place;
  const std::string folder = folder_of(address);
  const auto node = root.read_int(folder + "/numa_node");
  if (node && *node >= 0 && *node <= UINT32_MAX) place.numa_node = static_cast<uint32_t>(*node);
  place.cpu_list = clean_text(root.read_trimmed(folder + "/local_cpulist").value_or(""));
  return place;
}

namespace {

// From the root complex down: "pci0000:15", "0000:15:01.0", "0000:16:00.0". Empty if not known.
std::vector<std::string> way_down(const RootFs& root, const std::string& address) {
  const auto target = root.link_target(std::string(kDevices) + address);
  if (!target) return {};
  std::vector<std::string> way;
  for (const std::string_view part : split(*target, '/')) {
    if (part.starts_with("pci") || !way.empty()) way.emplace_back(part);
  }
  return way;
}

}  // namespace

PciDistance pci_distance(const RootFs& root, const std::string& a, const std::string& b) {
  const auto way_a = way_down(root, a);
  const auto way_b = way_down(root, b);
  if (way_a.empty() || way_b.empty()) return PciDistance::kUnknown;
  const auto [end_a, end_b] = std::ranges::mismatch(way_a, way_b);
  const auto shared = end_a - way_a.begin();
  if (shared > 1) {
    // Below a switch stands one port of it, and the device.
    const auto apart = std::max(way_a.end() - end_a, way_b.end() - end_b);
    return apart <= 2 ? PciDistance::kOneSwitch : PciDistance::kSwitches;
  }
  if (shared == 1) return PciDistance::kHostBridge;
  const auto node_a = pci_place(root, a).numa_node;
  const auto node_b = pci_place(root, b).numa_node;
  if (!node_a || !node_b) return PciDistance::kUnknown;
  return node_a == node_b ? PciDistance::kSameNode : PciDistance::kAcrossNodes;
}

std::string slot_link_folder(const RootFs& root, const std::string& folder, uint32_t vendor) {
  std::string slot = folder;
  std::string above = root.resolve(folder).value_or("");
  while (true) {
    above.resize(std::min(above.rfind('/'), above.size()));
    // The root complex, or what is no address at all, ends the way.
    if (place(above.substr(above.rfind('/') + 1))[3] == UINT64_MAX) return slot;
    const auto class_code = root.read_hex(above + "/class");
    const bool is_bridge = class_code && *class_code >> 8 == 0x0604;
    if (!is_bridge || root.read_hex(above + "/vendor") != vendor) return slot;
    slot = above;
  }
}

std::optional<uint32_t> pcie_generation(std::string_view speed) {
  constexpr double kSpeeds[] = {2.5, 5, 8, 16, 32, 64, 128};
  const auto number = parse_double(speed.substr(0, speed.find(' ')));
  if (!number) return std::nullopt;
  const auto* const at = std::ranges::find(kSpeeds, *number);
  if (at == std::end(kSpeeds)) return std::nullopt;
  return static_cast<uint32_t>(at - std::begin(kSpeeds)) + 1;
}

std::vector<NetworkCard> network_cards(const RootFs& root) {
  std::vector<NetworkCard> cards;
  for (const std::string_view folder : {"/sys/class/infiniband", "/sys/class/net"}) {
    for (const std::string& name : root.list(folder)) {
      const auto address = root.link_name(std::string(folder) + "/" + name + "/device");
      const bool is_known =
          address && std::ranges::count(cards, *address, &NetworkCard::address) > 0;
      // Virtual interfaces have no device; others hang on a bus of another kind.
      if (!address || is_known || std::ranges::count(*address, ':') != 2) continue;
      if (cards.size() < kMostNetworkCards) cards.push_back({clean_text(name), *address});
    }
  }
  return cards;
}

}  // namespace gpusight::platform
