// What is read of a GPU every ten seconds: limits, modes, memory errors, links, sessions. Fields
// come first, in few calls; the calls that older drivers have instead fill what is missing.
//
// Belongs to one lane. At most kMostCalls calls a poll, its caller's included.
#pragma once

#include <optional>

#include "collect/nvml/field_reader.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/turns.h"

namespace gpusight::collect::nvml {

class SlowReadings {
 public:
  static constexpr uint64_t kMostCalls = 60;

  explicit SlowReadings(SharedGpu& shared);

  // As much as `most_calls` of the report allows, and gives every slow metric a value or a reason.
  void read(Conversation& talk, Gathering& found, uint64_t most_calls);

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
