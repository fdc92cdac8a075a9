#include "collect/host/hwmon_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "collect/host/kernel_file.h"

namespace gpusight::collect::host {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr std::string_view kFolder = "/sys/class/hwmon";
constexpr std::string_view kGpuDrivers[] = {"amdgpu", "radeon", "nouveau", "nvidia", "i915", "xe"};
constexpr size_t kNameBytes = 64;

// Chips of i915 have names such as i915_gt0.
bool is_gpu_name(std::string_view name) {
  return std::ranges::any_of(kGpuDrivers, [&](std::string_view driver) {
    return name == driver || (name.starts_with(driver) && name[driver.size()] == '_');
  });
}

// "temp12" of "temp12_input"; empty for other files.
std::string_view sensor_of(std::string_view file) {
  constexpr std::string_view kStart = "temp";
  constexpr std::string_view kEnd = "_input";
  if (!file.starts_with(kStart) || !file.ends_with(kEnd)) return {};
  const std::string_view sensor = file.substr(0, file.size() - kEnd.size());
  return parse_uint(sensor.substr(kStart.size())) ? sensor : std::string_view{};
}

}  // namespace

void HwmonReader::poll(Report& report) {
  std::vector<Chip> chips = find_chips();
  name_chips(chips);
  size_t sensors = 0;
  bool left_out = false;
  std::vector<std::string_view> labels;
  for (const Chip& chip : chips) {
    if (std::ranges::find(labels, chip.label) != labels.end()) {
      left_out = true;
      continue;
    }
    labels.push_back(chip.label);
    poll_chip(chip, report, sensors);
  }
  if (left_out) {
    faults_.report("host sensors", "chips that cannot be told apart are left out");
  }
  if (sensors == 0) report.absent(MetricId::kHostTemperature, Reason::kNotSupported);
}

std::vector<HwmonReader::Chip> HwmonReader::find_chips() const {
  std::vector<Chip> chips;
  for (const std::string& entry : root_.list(kFolder)) {
    std::string folder = std::string(kFolder) + "/" + entry;
    // Asked before anything else: a name too is read from the driver.
    const std::string driver = root_.link_name(folder + "/device/driver").value_or("");
    if (is_gpu_name(driver)) continue;
    const std::string name =
        clean_text(root_.read_trimmed(folder + "/name").value_or(""), kNameBytes);
    if (name.empty() || is_gpu_name(name)) continue;
    // An NVMe disk's chip hangs on the controller nvme0, a number again; that one's device is the
    // PCI function.
    auto hangs_on = root_.link_name(folder + "/device/device");
    if (!hangs_on) hangs_on = root_.link_name(folder + "/device");
    const auto power = root_.read_trimmed(folder + "/device/power/runtime_status");
    const auto outer_power = root_.read_trimmed(folder + "/device/device/power/runtime_status");
    chips.push_back({.folder = std::move(folder),
                     .name = name,
                     .hangs_on = clean_text(hangs_on.value_or(""), kNameBytes),
                     .label = name,
                     .asleep = power == "suspended" || outer_power == "suspended"});
  }
  return chips;
}

void HwmonReader::name_chips(std::vector<Chip>& chips) const {
  for (Chip& chip : chips) {
    const auto same = std::ranges::count(chips, chip.name, &Chip::name);
    if (same > 1 && !chip.hangs_on.empty()) chip.label = chip.name + "@" + chip.hangs_on;
  }
}

void HwmonReader::poll_chip(const Chip& chip, Report& report, size_t& sensors) {
  const std::vector<std::string> files = root_.list(chip.folder);
  std::vector<std::string> taken;
  for (const std::string& file : files) {
    const std::string_view sensor = sensor_of(file);
    if (sensor.empty()) continue;
    if (sensors == kMostSensors) {
      faults_.report("host sensors", "more sensors than are kept; the last are left out");
      return;
    }
    ++sensors;
    taken.push_back(sensor_label(chip, sensor, taken));
    if (chip.asleep) {
      report.absent(MetricId::kHostTemperature, Reason::kAsleep, taken.back());
      continue;
    }
    const bool has_fault = std::ranges::find(files, std::string(sensor) + "_fault") != files.end();
    poll_sensor(chip, sensor, has_fault, report, taken.back());
  }
}

std::string HwmonReader::sensor_label(const Chip& chip, std::string_view sensor,
                                      const std::vector<std::string>& taken) const {
  const std::string path = chip.folder + "/" + std::string(sensor) + "_label";
  std::string own = clean_text(root_.read_trimmed(path).value_or(""), kNameBytes);
  if (own.empty()) own = clean_text(sensor, kNameBytes);
  std::string label = chip.label + "/" + own;
  // A sensor's number within its chip is fixed by the driver, so that it may tell two apart.
  if (std::ranges::find(taken, label) != taken.end()) label += " " + std::string(sensor);
  return label;
}

void HwmonReader::poll_sensor(const Chip& chip, std::string_view sensor, bool has_fault,
                              Report& report, std::string_view label) {
  const std::string path = chip.folder + "/" + std::string(sensor);
  if (has_fault && root_.read_int(path + "_fault") == 1) {
    return report.absent(MetricId::kHostTemperature, Reason::kDriverError, label);
  }
  const Result<std::string> text = root_.read(path + "_input", 64);
  if (!text.ok()) {
    return report.absent(MetricId::kHostTemperature, reason_of(text.status()), label);
  }
  const auto millidegrees = parse_int(*text);
  if (!millidegrees) {
    return report.absent(MetricId::kHostTemperature, Reason::kDriverError, label);
  }
  report.set(MetricId::kHostTemperature, static_cast<double>(*millidegrees) * 1e-3, {}, label);
}

}  // namespace gpusight::collect::host
