// Temperatures of the machine, from /sys/class/hwmon.
//
// A sensor's label is "CHIP/SENSOR": the driver's name of the chip ("coretemp", "nvme") and the
// sensor's own label, or "temp1" where it has none. Chips that share a name are told apart by what
// they hang on, "nvme@0000:01:00.0/Composite", never by hwmonN: that number changes between boots.
// Those that cannot be told apart even so are left out, and the log says it once.
//
// Left alone: chips of GPU drivers, because reading them can wake a sleeping card, and whatever the
// kernel has runtime-suspended (its sensors are absent: asleep). A reading that fails (EIO, a
// disabled or faulty sensor) is absent with its label; one that cannot be is implausible.
//
// The tree is walked anew at each poll, every 10 s: chips come and go with hot-plugging and
// drivers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "collect/source.h"
#include "platform/root_fs.h"

namespace gpusight::collect::host {

class HwmonReader {
 public:
  static constexpr size_t kMostSensors = 256;

  HwmonReader(const platform::RootFs& root, log::FaultLog& faults) : root_(root), faults_(faults) {}

  void poll(Report& report);

 private:
  struct Chip {
    std::string folder;
    std::string name;      // cleaned
    std::string hangs_on;  // its device's name on its bus; empty if not known
    std::string label;     // name, or name@hangs_on
    bool asleep = false;
  };

  std::vector<Chip> find_chips() const;
  void name_chips(std::vector<Chip>& chips) const;
  void poll_chip(const Chip& chip, Report& report, size_t& sensors);
  void poll_sensor(const Chip& chip, std::string_view sensor, bool has_fault, Report& report,
                   std::string_view label);
  std::string sensor_label(const Chip& chip, std::string_view sensor,
                           const std::vector<std::string>& taken) const;

  const platform::RootFs& root_;
  log::FaultLog& faults_;
};

}  // namespace gpusight::collect::host
