// What is read of a GPU, and of its MIG devices, every tick. At most kMostCalls calls of the
// library, whatever the GPU has.
#pragma once

#include <optional>
#include <vector>

#include "collect/nvml/lane_parts.h"
#include "collect/nvml/power_meter.h"
#include "collect/nvml/readings.h"
#include "collect/nvml/throttle.h"

namespace gpusight::collect::nvml {

class FastLane final : public Lane {
 public:
  static constexpr uint64_t kMostCalls = 25;

  // `opening`: calls made before any poll, reported with this lane's first one.
  FastLane(const LaneContext& context, SharedGpu& shared, const CallMeter* opening);

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  struct Instance {
    const MigDevice* mig = nullptr;
    HandleMemory memory;
    ProcessReader processes;
    std::optional<model::Value> count = {};  // of processes, when it was this one's turn
  };

  void report_opening(Report& report);
  void read_gpu(Conversation& talk);
  RingSummaries rings(Conversation& talk);
  void read_power(Conversation& talk, const Fields& fields, const RingSummaries& rings);
  void read_throttle(Conversation& talk);
  void put_processes(Report& report, ProcessList list);
  void read_instance_processes(Instance& instance, PollFate& fate, Report& report);
  void read_instances(Conversation& parent, PollFate& fate, uint64_t calls_before);
  bool share_out_processes(Report& report);
  void forget_names(const Report& report);

  LaneContext context_;
  SharedGpu& shared_;
  const CallMeter* opening_;
  LaneInfo info_;
  HandleMemory memory_;
  RingReader ring_reader_;
  std::optional<MonoTime> drained_at_;
  PowerMeter meter_;
  ThrottleWatch throttle_;
  FanReader fans_;
  ProcessReader processes_;
  std::vector<Instance> instances_;
  std::set<uint32_t> listed_pids_;
  MonoTime forgot_at_{};
  size_t next_instance_ = 0;  // whose processes come first in the next tick
};

}  // namespace gpusight::collect::nvml
