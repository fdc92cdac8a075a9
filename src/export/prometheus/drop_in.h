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
  // The one series of a row with a label that it is; empty: the row, folded if it has a label.
  std::string_view label = {};
  catalog::Kind kind = catalog::Kind::kGauge;
  catalog::Resolution factor = {};
  std::string_view in_words = {};  // of a unit that is not ours
};

// How a row that has a label becomes a family under one name.
enum class Fold : uint8_t {
  kNone,   // one series a label, which keeps its label
  kFirst,  // the first of them stands for the device: fans
  kSum,    // the total, once every part is known: links
  kMask,   // NVML's mask of what holds the clocks back, once every reason is known
};
Fold fold_of(const catalog::MetricRow& row);

// Every family that the catalogue names by `theirs`, in its order; kind and unit as they are here.
std::vector<ForeignFamily> families_named(std::string_view catalog::Elsewhere::*theirs);

struct ForeignReading {
  std::string_view label;  // the value of the row's label, where the family keeps it
  double number = 0;
};
// Puts the family's fresh readings among `samples` into `readings`, scaled.
void find_readings(std::span<const model::Sample> samples, const ForeignFamily& family,
                   std::vector<ForeignReading>& readings);

// HELP of a family: the catalogue's, and the unit where it is another.
std::string help_of(const ForeignFamily& family);

// NVIDIA's GPUs, each once, with the MIG devices that are part of them.
struct Board {
  const model::DeviceSnapshot* gpu = nullptr;
  std::vector<const model::DeviceSnapshot*> mig;  // every MIG device
  // The first MIG device of each GPU instance: what it reads is the instance's, as memory is.
  std::vector<const model::DeviceSnapshot*> instances;
};
std::vector<Board> nvidia_boards(const model::Snapshot& snapshot);

// "1c.2g.20gb" is a part of the GPU instance "2g.20gb".
std::string_view gpu_instance_profile(std::string_view profile);
// As NVML writes it: "00000000:3B:00.0", eight digits of domain, upper case.
std::string nvml_bus_id(std::string_view address);
std::string text_of(const std::optional<uint32_t>& number);  // empty if there is none

}  // namespace gpusight::prometheus
