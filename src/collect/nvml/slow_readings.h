// What is read of a GPU every ten seconds: limits, modes, memory errors, links, sessions. Fields
// come first, in few calls; the calls that older drivers have instead fill what is missing. They
// make no more calls than the poll may.
//
// Belongs to one lane.
#pragma once

#include <optional>

#include "collect/nvml/counter_rate.h"
#include "collect/nvml/field_reader.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/link_readings.h"
#include "collect/nvml/turns.h"

namespace gpusight::collect::nvml {

class SlowReadings {
 public:
  SlowReadings(const NvmlApi& api, SharedGpu& shared, const catalog::MetricSet& disabled);

  // Gives every slow metric a value or a reason.
  void read(Conversation& talk, Gathering& found);

 private:
  std::vector<Turn> turns();
  void read_pcie_rates(Conversation& talk, Gathering& found);
  void read_fan_rpm(Conversation& talk, Gathering& found);

  SharedGpu& shared_;
  std::optional<DriverVersion> driver_;
  FieldReader fields_;
  LinkReadings links_;
  FieldReader pcie_bytes_;
  CounterRate sent_;
  CounterRate received_;
  std::optional<unsigned> fans_;
  Turns turns_;
};

}  // namespace gpusight::collect::nvml
