// What the names of other exporters have in common: which family of theirs a reading of ours goes
// to, and how it is folded and scaled for them. The names themselves are the catalogue's
// (`elsewhere`, `by_label`); units, types and labels are the business of names_*.cc.
//
// Values are the driver's own readings, fresh ones only. Pure functions over constant data, any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/metric.h"
#include "model/snapshot.h"

namespace gpusight::prometheus {

// What they count in, for a unit of ours: their number is ours times `factor`.
struct ForeignUnit {
  catalog::Unit ours;
  catalog::Resolution factor;
  std::string_view in_words;  // "MiB"
};

// One of their families, and the readings of ours that fill it.
struct ForeignFamily {
  std::string_view name;
  catalog::MetricId metric{};
  // The one series of a row with a label that it is. Empty: the row; where it has a label, several
  // fans are the first, links their total, reasons NVML's mask, and others keep their label.
  std::string_view label = {};
  catalog::Kind kind = catalog::Kind::kGauge;
  catalog::Resolution factor = {};
  std::string_view in_words = {};  // of a unit that is not ours
  // Where the device never has the one, the driver's other reading of what the name means.
  std::optional<catalog::MetricId> otherwise = {};
};

// Every family that the catalogue names by `theirs`, in its order; kind and unit as they are here.
std::vector<ForeignFamily> families_named(std::string_view catalog::Elsewhere::*theirs);

// Those that tell of one thing: a GPU, or the MIG devices of one GPU instance. What an instance
// reads (its memory, its activity) may stand on any of them.
using Parts = std::vector<const model::DeviceSnapshot*>;

struct ForeignReading {
  std::string_view label;  // the value of the row's label, where the family keeps it
  double number = 0;
};
// Puts the family's fresh readings, scaled, into `readings`: those of the first part that has any.
void find_readings(const Parts& parts, const ForeignFamily& family,
                   std::vector<ForeignReading>& readings);

// HELP of a family: the catalogue's, and the unit where it is another.
std::string help_of(const ForeignFamily& family);

// One of NVIDIA's GPUs with the MIG devices that are part of it.
struct Board {
  const model::DeviceSnapshot* gpu = nullptr;
  Parts mig;                     // every MIG device
  std::vector<Parts> instances;  // the same by GPU instance; none is empty
};
std::vector<Board> nvidia_boards(const model::Snapshot& snapshot);  // each once

// "1c.2g.20gb" is a part of the GPU instance "2g.20gb".
std::string_view gpu_instance_profile(std::string_view profile);
// As NVML writes it: "00000000:3B:00.0", eight digits of domain, upper case.
std::string nvml_bus_id(std::string_view address);
std::string text_of(const std::optional<uint32_t>& number);  // empty if there is none

}  // namespace gpusight::prometheus
