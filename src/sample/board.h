// The newest of everything, and the Snapshot made from it.
//
// The sampler's thread alone calls it. Reports of lanes go in, transitions come out as events,
// build() grows values old by their age and fills in what must be there. Pure: time is passed in,
// nothing is read from anywhere.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collect/source.h"
#include "model/snapshot.h"
#include "sample/event_limit.h"
#include "sample/lane_runner.h"
#include "sample/source_runner.h"

namespace gpusight::sample {

// How often slow lanes are polled.
inline constexpr Duration kSlowPeriod = std::chrono::seconds(10);

class Board {
 public:
  struct Options {
    Duration interval = std::chrono::seconds(1);
    std::string host_name;
    catalog::MetricSet disabled;  // dropped where they come in
  };
  explicit Board(Options options) : options_(std::move(options)) {}

  // Devices that a persisted inventory expects: listed as lost until a source finds them.
  void expect(const std::vector<model::Device>& devices, const Now& now);
  void add_source(size_t place, std::string name, std::span<const catalog::MetricId> declares);
  void apply_news(size_t place, const SourceNews& news, const Now& now);
  void apply_result(LaneResult result, const Now& now);
  // The devices whose lanes have not answered this tick.
  void set_pending(size_t place, std::set<std::string> uuids);
  // Since any device of the source showed work (utilisation, or a compute process).
  Duration idle_for(size_t place, const Now& now) const;

  struct SelfReadings {
    double cpu_seconds = 0;
    double resident_bytes = 0;
    uint64_t dropped_samples = 0;
    bool known = false;
  };
  // `late`: this tick is published without the answer of at least one lane.
  model::Snapshot build(const Now& now, const SelfReadings& self, bool late);

  std::vector<model::Event> take_events();

 private:
  struct LaneBlock {
    model::Samples samples;  // in the order of snapshots, each series once
    collect::LaneCadence cadence = collect::LaneCadence::kFast;
  };
  struct Subject {
    std::map<std::string, LaneBlock> blocks;  // by lane
  };
  struct SeenXid {
    uint64_t count = 0;
    WallTime at{};
  };
  static constexpr size_t kMostXids = 256;  // codes of one device; there are fewer
  struct DeviceEntry {
    std::shared_ptr<const model::Device> device;
    size_t source = 0;
    model::DeviceState state = model::DeviceState::kActive;
    WallTime state_since{};
    MonoTime state_since_mono{};
    Subject readings;
    std::vector<model::Process> processes;
    std::optional<MonoTime> processes_at;
    std::optional<model::Reason> processes_absent;
    std::map<catalog::MetricId, uint64_t> event_counts;
    std::map<int64_t, SeenXid> xids;  // by code
    int64_t last_xid = 0;
    bool has_processes_before = false;
    std::vector<model::Session> sessions;
    std::optional<MonoTime> sessions_at;
    std::optional<model::Holders> holders;
    MonoTime holders_at{};
    bool is_looked_for = false;  // whether a source has said how it is
  };
  struct SourceEntry {
    std::string name;
    std::set<catalog::MetricId> declares;
    model::SourceStatus status;
    std::map<std::string, model::Topology> topology_parts;  // by lane
    std::shared_ptr<const model::Topology> topology;        // of all of them
    std::set<std::string> pending;
    std::map<std::string, Duration> lane_took;
    uint64_t generations = 0;
    uint64_t calls = 0;
    Duration call_time{};
    uint64_t implausible = 0;
    MonoTime last_work{};
    // Of the generation that is open.
    bool is_generation_lost = false;    // a lane said so
    std::set<std::string> mig_changed;  // GPUs of which it was said that they are divided anew
  };

  DeviceEntry& entry_for(const model::Device& device, size_t source, const Now& now);
  void set_state(DeviceEntry& entry, model::DeviceState state, const Now& now);
  bool is_taken_over(const DeviceEntry& entry, const std::set<std::string>& present) const;
  void lose_missing(size_t place, const std::set<std::string>& present, const Now& now);
  void miss_expected(const Now& now);
  void apply_untouched(size_t place, const SourceNews& news, std::set<std::string>& present,
                       const Now& now);
  void say_reload(SourceEntry& source, const SourceNews& news, const Now& now);
  void apply_topology(SourceEntry& source, LaneResult& result);
  void apply_event(SourceEntry& source, model::Event event, const Now& now);
  void apply_subject(LaneResult& result, collect::Report::Subject& subject, const Now& now);
  bool is_of_an_instance(const model::Device& gpu, int64_t pid,
                         const std::vector<model::Process>& now_there,
                         const std::vector<model::Process>& were_there) const;
  void apply_processes(DeviceEntry& entry, collect::Report::Subject& subject, const Now& now);
  void note_work(SourceEntry& source, const collect::Report::Subject& subject, const Now& now);
  void count_event(const model::Event& event);
  void emit(catalog::EventKind kind, const std::string& uuid, std::vector<std::string> arguments,
            const Now& now);
  void tell(model::Event event, const Now& now);

  model::DeviceState shown_state(const DeviceEntry& entry) const;
  model::DeviceSnapshot build_device(const DeviceEntry& entry, const Now& now) const;
  // The newest of one metric, of all lanes, under a cursor for each that only moves on.
  struct Cursor;
  std::vector<Cursor> cursors_of(const Subject& subject) const;
  void append_metric(model::Samples& samples, catalog::MetricId metric,
                     std::vector<Cursor>& cursors, const Now& now) const;
  model::Samples build_host(const Now& now) const;
  model::Samples build_readings(const DeviceEntry& entry, model::DeviceState state,
                                const Now& now) const;
  std::optional<double> own_number(catalog::MetricId metric, const DeviceEntry& entry,
                                   model::DeviceState state) const;
  void append_xids(model::Samples& samples, catalog::MetricId metric, const DeviceEntry& entry,
                   const Now& now) const;
  model::Reason reason_for_missing(const catalog::MetricRow& row, const model::Samples& samples,
                                   const DeviceEntry& entry, model::DeviceState state) const;
  model::Samples build_self(const Now& now, const SelfReadings& self) const;
  model::Value aged(const model::Value& value, collect::LaneCadence cadence, const Now& now) const;

  const Options options_;
  const std::vector<const DeviceEntry*>& order() const;

  std::map<std::string, DeviceEntry> devices_;
  mutable std::vector<const DeviceEntry*> order_;  // for views; empty when to be found anew
  std::map<size_t, SourceEntry> sources_;
  Subject host_;
  std::vector<model::Event> events_;
  EventLimit event_limit_;
  uint64_t sequence_ = 0;
  uint64_t late_ticks_ = 0;
};

}  // namespace gpusight::sample
