// What is read of a GPU every ten seconds: what slow_readings.h lists, names of foreign processes,
// and whether its MIG devices are still the same; and their activity.
#pragma once

#include "collect/nvml/gpm_reader.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/slow_readings.h"

namespace gpusight::collect::nvml {

class SlowLane final : public Lane {
 public:
  SlowLane(const LaneContext& context, SharedGpu& shared);

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  void read_power_times(Gathering& found) const;
  // True when the GPU is divided otherwise than when it was opened.
  bool mig_has_changed(Conversation& talk, Gathering& found, PollFate& fate);
  std::optional<std::vector<std::string>> instances_now(Conversation& talk, PollFate& fate);
  // Activity of the GPU's instances, each a mean over the time since the last poll.
  void read_instances(Conversation& gpu);
  void look_up_names(Report& report, uint64_t most_calls);

  LaneContext context_;
  SharedGpu& shared_;
  LaneInfo info_;
  HandleMemory memory_;
  SlowReadings readings_;

  struct Instance {
    std::string uuid;
    std::unique_ptr<GpmReader> activity;  // nullptr: it shares its GPU instance with others
  };
  std::vector<Instance> instances_;
};

// Drains the driver's rings for a fast lane whose ticks are too far apart to do it itself.
class RingLane final : public Lane {
 public:
  RingLane(const LaneContext& context, SharedGpu& shared);

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  LaneContext context_;
  SharedGpu& shared_;
  LaneInfo info_;
  HandleMemory memory_;
  RingReader reader_;
  std::optional<MonoTime> drained_at_;
};

model::Event mig_event(const std::string& uuid);

}  // namespace gpusight::collect::nvml
