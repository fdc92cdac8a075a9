// Single readings of a device: each asks the driver for one thing and sets the metrics that come of
// it, or the reason why there is none. One that fails touches no other.
#pragma once

#include <optional>
#include <span>

#include "collect/nvml/conversation.h"
#include "collect/nvml/enumerate.h"
#include "collect/nvml/sample_rings.h"

namespace gpusight::collect::nvml {

// A number that the driver gave, or the code that came instead.
struct Reading {
  Return code = Return::kNotSupported;
  double number = 0;
  bool ok() const { return code == Return::kSuccess; }
};

// Sets the metric, or its reason.
void put(Report& report, catalog::MetricId metric, const Reading& reading, Duration window = {},
         std::string_view label = {});

// One number of 32 bits.
Reading ask_number(Conversation& talk, Query query, Return (*function)(Handle, unsigned*));

void read_memory(Conversation& talk);
void read_temperature(Conversation& talk);
void read_pcie_link(Conversation& talk);
void read_performance_state(Conversation& talk);

// The mean over the driver's samples with its companions; without samples the current value.
void read_utilization(Conversation& talk, const RingSummaries& rings);
void read_clocks(Conversation& talk, const RingSummaries& rings);
// Both absent: the driver knows no utilisation of a GPU that is divided, nor of its parts.
void no_utilization(Report& report, model::Reason reason);

// What comes in one batch of field values.
struct Fields {
  Reading memory_celsius;
  Reading energy_joules;
  Reading average_watts;
  Reading instant_watts;
};
Fields read_fields(Conversation& talk);
// `fields` says what the memory temperature is; the die's decides whether a zero is one.
void put_memory_temperature(Report& report, const Reading& celsius);

// Whether nvmlDeviceGetPowerUsage is the average over a second (Ampere except GA100, and newer)
// or the power at the moment (GA100 and older).
bool power_usage_is_average(const Gpu& gpu);

// The fans of a device; how many there are is asked once.
class FanReader {
 public:
  void read(Conversation& talk);

 private:
  std::optional<unsigned> count_;
  unsigned next_ = 0;
  std::vector<std::optional<model::Value>> last_;  // by fan
};

// Limits and states that rarely change.
void read_limits(Conversation& talk);

}  // namespace gpusight::collect::nvml
