// What is read of the links of a GPU every ten seconds: NVLinks, by fields and where those are
// missing by calls, and the links between the chips of one package.
//
// Belongs to one lane.
#pragma once

#include <optional>
#include <vector>

#include "collect/nvml/field_reader.h"
#include "collect/nvml/gpm_reader.h"
#include "collect/nvml/lane_parts.h"

namespace gpusight::collect::nvml {

// Errors that are asked for link by link where no field tells them.
std::vector<catalog::MetricId> link_error_metrics();

class LinkReadings {
 public:
  LinkReadings(const NvmlApi& api, const std::optional<DriverVersion>& driver,
               const catalog::MetricSet& disabled);

  // Fields: a few calls, none where there are no links.
  void read_fields(Conversation& talk, Gathering& found);
  // What no field told, a call each.
  void read_states(Conversation& talk, Gathering& found);
  void read_errors(Conversation& talk, Gathering& found);
  // Fields number those of the first twelve links only.
  void read_ecc_errors(Conversation& talk, Gathering& found);
  // Mean rates of each link since the last time.
  void read_activity(Conversation& talk, Gathering& found);

 private:
  void find_links(Conversation& talk, Gathering& found);
  void read_sums(Conversation& talk, Gathering& found);
  void read_c2c(Conversation& talk, Gathering& found);
  unsigned links() const { return static_cast<unsigned>(versions_.size()); }

  std::optional<DriverVersion> driver_;
  catalog::MetricSet disabled_;
  FieldReader count_;
  std::optional<FieldReader> fields_;  // made when the number of links is known
  std::optional<FieldReader> sums_;
  std::vector<Reading> versions_;  // by link
  FieldReader c2c_count_;
  std::optional<FieldReader> c2c_;
  bool is_nvlink_wanted_ = true;
  bool is_c2c_wanted_ = true;
  GpmReader activity_;
};

}  // namespace gpusight::collect::nvml
