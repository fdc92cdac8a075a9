// What is read of a GPU, and of its MIG devices, every tick. At most kMostCalls calls of the
// library, whatever the GPU has, from the first tick on, and fewer where ticks are shorter than a
// second: what changes most is then read every tick (the batch of fields, one of the driver's
// rings, utilisation, memory) and the rest in turns, each at most once a second.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "collect/nvml/field_reader.h"
#include "collect/nvml/gpm_reader.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/power_meter.h"
#include "collect/nvml/process_shares.h"
#include "collect/nvml/reading_watch.h"
#include "collect/nvml/readings.h"
#include "collect/nvml/throttle.h"
#include "collect/nvml/turns.h"

namespace gpusight::collect::nvml {

class FastLane final : public Lane {
 public:
  static constexpr uint64_t kMostCalls = 25;
  static constexpr uint64_t kMostCallsShort = 8;  // at ticks of a tenth of a second
  static uint64_t most_calls(Duration interval);

  // `opening`: calls made before any poll, reported with this lane's first one.
  FastLane(const LaneContext& context, SharedGpu& shared, const CallMeter* opening);

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  struct Instance {
    const MigDevice* mig = nullptr;
    HandleMemory memory;
    ProcessReader processes;
    model::Samples last_memory = {};
    std::optional<model::Value> count = {};  // of processes, when it was this one's turn
  };

  std::vector<Turn> turns();
  std::vector<catalog::MetricId> process_metrics() const;
  bool wants_memory() const;
  void report_opening(Report& report);
  void read_gpu(Conversation& talk);
  void drain_rings(Conversation& talk);
  void read_fields(Conversation& talk, Gathering& found);
  void read_power(Conversation& talk, Gathering& found, Reading average, Reading instant,
                  Reading energy);
  void put_power(Gathering& found, const Reading& average, const Reading& instant,
                 const Reading& energy);
  void read_throttle(Conversation& talk, Gathering& found);
  void read_processes(Conversation& talk, Gathering& found);
  void read_processes_in_turns(Conversation& parent, PollFate& fate);
  void put_unified_memory(Gathering& found, const ProcessList& list);
  void put_unattributed(Gathering& found, const ProcessList& list);
  void put_processes(Report& report, ProcessList list);
  void put_instance_memory(Instance& instance, bool has_room, PollFate& fate, Report& report);
  void read_instance_processes(Instance& instance, PollFate& fate, Report& report);
  void read_instances(Conversation& parent, PollFate& fate);
  bool share_out_processes(Report& report);
  void forget_names(const Report& report);

  LaneContext context_;
  SharedGpu& shared_;
  const CallMeter* opening_;
  LaneInfo info_;
  HandleMemory memory_;
  FieldReader fields_;
  RingReader ring_reader_;
  std::array<std::optional<MonoTime>, kRingCount> drained_at_{};
  RingSummaries rings_;
  PowerMeter meter_;
  ThrottleWatch throttle_;
  ReadingWatch watch_;
  FanReader fans_;
  ProcessReader processes_;
  ProcessShareReader shares_;
  std::optional<double> host_memory_bytes_;  // of a device that has none of its own
  GpmReader activity_;
  Turns turns_;
  bool has_polled_ = false;
  bool has_read_processes_ = false;  // in this poll
  bool has_listed_processes_ = false;
  std::vector<Instance> instances_;
  std::set<uint32_t> listed_pids_;
  MonoTime forgot_at_{};
  size_t next_memory_ = 0;    // whose memory comes first in the next tick
  size_t next_instance_ = 0;  // whose processes
};

}  // namespace gpusight::collect::nvml
