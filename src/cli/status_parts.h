// Pieces of the status table: one reading, who holds a device, the notes below. Private to src/cli.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/metric.h"
#include "cli/table.h"
#include "model/snapshot.h"

namespace gpusight::cli {

// One number of a subject as the table sees it.
struct Reading {
  std::optional<double> number;
  bool stale = false;
  double age_seconds = 0;                          // of a stale one
  model::Reason reason = model::Reason::kUnknown;  // unless fresh
};
Reading reading(const model::Snapshot& snapshot, const model::Samples& samples,
                catalog::MetricId metric, std::string_view label = {});

// "0", else the PCI address, else the uuid's tail; a MIG device is "0/7": GPU and GPU instance.
std::string device_label(const model::Snapshot& snapshot, const model::DeviceSnapshot& device);

// What is absent or old in the table, gathered while it is drawn and told below it.
class Notes {
 public:
  void absent(std::string what, std::string device, model::Reason reason);
  void stale(double age_seconds, model::Reason reason);
  // At most four lines on what is absent, then one on how many more there are.
  std::vector<std::string> lines(catalog::Lang lang) const;

 private:
  // In the order of first mention.
  std::vector<std::pair<std::pair<std::string, model::Reason>, std::vector<std::string>>> absent_;
  std::map<model::Reason, double> stale_;
};

// "0–3, 7" for 0, 1, 2, 3, 7; labels that are no numbers stand alone.
std::string label_ranges(const std::vector<std::string>& labels);

// The processes of a device, most memory first; what is not known comes last and is never taken for
// a number.
std::vector<const model::Process*> by_memory(const model::DeviceSnapshot& device);

// How much is told of each owner, from much to little.
enum class OwnerDetail : uint8_t { kMemory, kCommand, kUser, kPid };

// The largest `shown` processes by memory, then how many more there are ("+2"), then what of other
// users is only known as a total ("bob ×3").
std::string owners_text(const model::DeviceSnapshot& device, OwnerDetail detail, size_t shown,
                        catalog::Lang lang);
// At most three processes, and as much of them as fits; at the least their number.
std::string fitted_owners_text(const model::DeviceSnapshot& device, catalog::Lang lang,
                               size_t width);

// "CPU 14 %  load 12.3  memory 412/1008 GiB  up 42 d 3 h", as much of it as there is.
std::string host_text(const model::Snapshot& snapshot, catalog::Lang lang);

// The gravest limit that holds the clocks down, and how many more do: "hw thermal +1"; empty if
// none.
std::string throttle_text(const model::Samples& samples, catalog::Lang lang);

}  // namespace gpusight::cli
