// What is read of a GPU every ten seconds: what slow_readings.h lists, names of foreign processes,
// whether its MIG devices are still the same, and their activity; and once, its place among the
// others. At most kMostCalls calls of the library: what has no room in one poll has its turn in a
// later one.
#pragma once

#include "collect/nvml/gpm_reader.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/mig_watch.h"
#include "collect/nvml/slow_readings.h"
#include "collect/nvml/topology_reader.h"

namespace gpusight::collect::nvml {

class SlowLane final : public Lane {
 public:
  static constexpr uint64_t kMostCalls = 60;

  // Of the GPU at `place`.
  SlowLane(const LaneContext& context, std::span<const std::unique_ptr<SharedGpu>> gpus,
           size_t place);

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  struct Instance {
    std::string uuid;
    std::unique_ptr<GpmReader> activity;  // nullptr: it shares its GPU instance with others
    model::Samples last = {};
  };

  // How long it slept and was awake, and who keeps it so.
  void read_sleep(Gathering& found) const;
  void read_all(Conversation& talk, Gathering& found, uint64_t most_calls);
  // Activity of the GPU's instances, each a mean over the time since its last turn.
  void read_instances(Conversation& gpu);
  void read_instance(Conversation& gpu, Instance& instance);
  // Names of processes.
  void look_up(const std::vector<uint32_t>& pids, Conversation& talk);

  LaneContext context_;
  SharedGpu& shared_;
  LaneInfo info_;
  HandleMemory memory_;
  MigWatch mig_;
  TopologyReader topology_;
  SlowReadings readings_;
  std::vector<Instance> instances_;
  size_t next_instance_ = 0;  // whose activity comes first
  bool has_polled_ = false;
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
