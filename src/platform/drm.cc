#include "platform/drm.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace gpusight::platform {
namespace {

constexpr std::string_view kDrm = "/sys/class/drm";
constexpr std::string_view kAccel = "/sys/class/accel";

// "card12" of class "card"; no connector ("card0-DP-1"), no other name.
bool is_node(std::string_view name, std::string_view kind) {
  return name.starts_with(kind) && parse_uint(name.substr(kind.size())).has_value() &&
         std::isdigit(static_cast<unsigned char>(name[kind.size()])) != 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Two numbers in hexadecimal with a colon between.
void read_ids(std::string_view text, uint32_t& vendor, uint32_t& device) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) return;
  vendor = static_cast<uint32_t>(parse_uint(parts[0], 16).value_or(0));
  device = static_cast<uint32_t>(parse_uint(parts[1], 16).value_or(0));
}

// A name that may be put into a path.
bool is_address(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isxdigit(c) != 0 || c == ':' || c == '.';
  }) && text.front() != '.';
}

void read_line(std::string_view line, DrmDevice& device) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view name = line.substr(0, equals);
  const std::string_view value = line.substr(equals + 1);
  if (name == "DRIVER") device.driver = clean_text(value, 64);
  if (name == "PCI_CLASS") {
    device.class_code = static_cast<uint32_t>(parse_uint(value, 16).value_or(0));
  }
  if (name == "PCI_ID") read_ids(value, device.vendor, device.device);
  if (name == "PCI_SUBSYS_ID") read_ids(value, device.subsystem_vendor, device.subsystem_device);
  if (name == "PCI_SLOT_NAME" && is_address(value)) device.address = lower(value);
  if (name == "OF_COMPATIBLE_0") device.compatible = clean_text(value, 128);
}

std::optional<DrmDevice> read_device(const RootFs& root, std::string_view drm_class,
                                     const std::string& node) {
  DrmDevice device{.node = node};
  device.folder = std::string(drm_class) + "/" + node + "/device";
  const auto text = root.read(device.folder + "/uevent", 4096);
  if (!text.ok()) return std::nullopt;
  const std::string_view known = std::string_view(*text).substr(0, text->find('\0'));
  for (const std::string_view line : split(known, '\n')) {
    read_line(line, device);
  }
  const std::string drm_folder = drm_class == kAccel ? "/accel" : "/drm";
  // A number may pass to another device while we run; an address does so with the board only.
  const std::string by_address = "/sys/bus/pci/devices/" + device.address;
  if (!device.address.empty() && root.exists(by_address + drm_folder + "/" + node)) {
    device.folder = by_address;
  }
  for (const std::string& name : root.list(device.folder + "/drm")) {
    if (is_node(name, "renderD") && device.render_node.empty()) device.render_node = name;
  }
  return device;
}

}  // namespace

std::vector<DrmDevice> drm_devices(const RootFs& root) {
  std::vector<DrmDevice> found;
  const auto add = [&](std::string_view drm_class, std::string_view kind) {
    for (const std::string& name : root.list(drm_class)) {
      if (!is_node(name, kind) || found.size() == kMostDrmDevices) continue;
      auto device = read_device(root, drm_class, name);
      if (!device) continue;
      const bool is_known =
          !device->address.empty() &&
          std::ranges::find(found, device->address, &DrmDevice::address) != found.end();
      // Of what is not on the bus, a render node cannot be told from its card's.
      const bool stands_alone = kind != "renderD" || !device->address.empty();
      if (!is_known && stands_alone) found.push_back(std::move(*device));
    }
  };
  add(kDrm, "card");
  add(kDrm, "renderD");
  add(kAccel, "accel");
  return found;
}

bool drives_a_screen(const RootFs& root, const DrmDevice& device) {
  const std::string start = device.node + "-";
  for (const std::string& name : root.list(kDrm)) {
    if (!name.starts_with(start)) continue;
    const std::string file = std::string(kDrm) + "/" + name + "/enabled";
    if (root.read_trimmed(file, 64) == "enabled") return true;
  }
  return false;
}

std::optional<std::string> find_hwmon(const RootFs& root, std::string_view device_folder,
                                      std::string_view driver) {
  const std::string folder = std::string(device_folder) + "/hwmon/";
  for (const std::string& chip : root.list(folder)) {
    std::string path = folder;
    path += chip;
    const auto name = root.read_trimmed(path + "/name", 64);
    if (name == driver) return path;
  }
  return std::nullopt;
}

std::vector<HwmonSensor> hwmon_sensors(const RootFs& root, std::string_view chip,
                                       std::string_view kind,
                                       const std::vector<std::string_view>& files) {
  std::vector<HwmonSensor> sensors;
  for (const std::string& file : root.list(chip)) {
    const size_t underscore = file.find('_');
    if (!file.starts_with(kind) || underscore == std::string::npos) continue;
    const std::string_view number =
        std::string_view(file).substr(kind.size(), underscore - kind.size());
    const std::string_view what = std::string_view(file).substr(underscore + 1);
    if (!parse_uint(number) || std::ranges::find(files, what) == files.end()) continue;
    HwmonSensor sensor{.path = std::string(chip) + "/" + file.substr(0, underscore)};
    if (std::ranges::find(sensors, sensor.path, &HwmonSensor::path) != sensors.end()) continue;
    sensor.label = clean_text(root.read_trimmed(sensor.path + "_label", 64).value_or(""), 64);
    sensors.push_back(std::move(sensor));
  }
  return sensors;
}

}  // namespace gpusight::platform
