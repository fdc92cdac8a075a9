// What is read of a GPU every ten seconds: limits, modes, memory errors, links, sessions. Fields
// come first, in few calls; the calls that older drivers have instead fill what is missing. They
// make no more calls than the poll may.
//
// Belongs to one lane.
#pragma once

#include <optional>

#include "collect/nvml/field_reader.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/turns.h"

namespace gpusight::collect::nvml {

class SlowReadings {
 public:
  explicit SlowReadings(SharedGpu& shared);

  // Gives every slow metric a value or a reason.
  void read(Conversation& talk, Gathering& found);

 private:
  std::vector<Turn> turns();
  void read_links(Conversation& talk, Gathering& found);
  void read_links_by_calls(Conversation& talk, Gathering& found);
  void read_fan_rpm(Conversation& talk, Gathering& found);

  SharedGpu& shared_;
  std::optional<DriverVersion> driver_;
  FieldReader fields_;
  FieldReader link_count_;
  std::optional<FieldReader> links_;    // made when their number is known
  std::vector<Reading> link_versions_;  // by link
  std::optional<unsigned> fans_;
  Turns turns_;
};

}  // namespace gpusight::collect::nvml
