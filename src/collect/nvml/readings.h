// Single readings of a device: each asks the driver for one thing and sets the metrics that come of
// it, or the reason why there is none. One that fails touches no other.
#pragma once

#include <optional>
#include <span>

#include "collect/nvml/conversation.h"
#include "collect/nvml/enumerate.h"
#include "collect/nvml/gathering.h"
#include "collect/nvml/sample_rings.h"

namespace gpusight::collect::nvml {

// One number of 32 bits.
Reading ask_number(Conversation& talk, Query query, Return (*function)(Handle, unsigned*));

// What the driver says of the memory as a whole; the code when it says nothing.
Return read_memory(Conversation& talk, Gathering& found);
void read_temperature(Conversation& talk, Gathering& found);
// Degrees that are left until the device slows down.
void read_margin(Conversation& talk, Gathering& found);
void read_performance_state(Conversation& talk, Gathering& found);
// Of one video engine: the metric says which.
void read_engine_utilization(Conversation& talk, Gathering& found, catalog::MetricId metric);

// The mean over the driver's samples with its companions; without samples the current value. Both
// take what they use out of `rings`.
void read_utilization(Conversation& talk, Gathering& found, RingSummaries& rings);
// The driver knows no utilisation of a GPU that is divided, nor of its parts.
void no_utilization(Report& report, model::Reason reason);
inline constexpr size_t kClockCount = 4;
void read_clock(Conversation& talk, Gathering& found, RingSummaries& rings, size_t clock);

// A temperature of 0 is none, whatever the sensor.
void put_temperature(Gathering& found, catalog::MetricId metric, const Reading& celsius);

// Whether nvmlDeviceGetPowerUsage is the average over a second (Ampere except GA100, and newer)
// or the power at the moment (GA100 and older).
bool power_usage_is_average(const Gpu& gpu);

// The fans of a device; how many there are is asked once. A board with more than are read at a time
// has them read in turns.
class FanReader {
 public:
  void read(Conversation& talk, Gathering& found, unsigned most_at_once);

 private:
  std::optional<unsigned> count_;
  unsigned next_ = 0;
  std::vector<std::optional<model::Value>> last_;  // by fan
};

}  // namespace gpusight::collect::nvml
