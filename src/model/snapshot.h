// Everything known at one tick. It is built once, published as shared_ptr<const Snapshot> — the one
// object threads share — and never changes afterwards. Views, exporters and history read it and
// nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "catalog/message.h"
#include "catalog/metric.h"
#include "model/device.h"
#include "model/process.h"
#include "model/session.h"
#include "model/topology.h"
#include "model/user_totals.h"
#include "model/value.h"

namespace gpusight::model {

// One series at one tick. `label` is the value of the row's label ("0" of fan="0"), empty for rows
// that have none.
struct Sample {
  catalog::MetricId metric{};
  std::string label;
  Value value;
};

// Samples in the order (metric, label); a metric that the subject could have and has not stands
// once, without label, with its reason.
using Samples = std::vector<Sample>;

const Value* find_sample(std::span<const Sample> samples, catalog::MetricId metric,
                         std::string_view label = {});

struct DeviceSnapshot {
  std::shared_ptr<const Device> device;
  DeviceState state = DeviceState::kActive;
  WallTime state_since{};
  Samples samples;
  // Absent list: `processes_known` false and the reason why; sorted by memory, most first.
  std::vector<Process> processes;
  bool processes_known = false;
  Reason processes_reason = Reason::kUnknown;
  // What `processes` leaves out, per user: only in a Snapshot that a daemon sent to a caller who
  // may not see every process. Empty in what sampling publishes.
  std::vector<UserTotal> hidden_users;
  std::vector<Session> sessions;   // of video, in the driver's order
  std::optional<Holders> holders;  // absent: nobody has looked
};

enum class SourcePhase : uint8_t {
  kStarting,
  kRunning,
  kDegraded,
  kAbsent,    // nothing for it on this machine
  kAsleep,    // its devices sleep
  kStuck,     // a call has not come back and opening again waits for it
  kReleased,  // let go of on purpose
};
std::string_view source_phase_key(SourcePhase phase);
std::optional<SourcePhase> find_source_phase(std::string_view key);

// How a source of readings is. The message says it to a user, with its arguments.
struct SourceStatus {
  std::string name;  // "nvml", "host"
  SourcePhase phase = SourcePhase::kStarting;
  catalog::MessageId message = catalog::MessageId::kSourceStarting;
  std::vector<std::string> arguments;
  bool simulated = false;  // its devices do not exist; every view must say so

  bool operator==(const SourceStatus&) const = default;
};

struct Snapshot {
  uint64_t sequence = 0;  // grows by one a tick
  WallTime wall{};
  MonoTime mono{};
  Duration interval{};
  std::string host_name;
  bool simulated = false;               // any source is
  std::vector<DeviceSnapshot> devices;  // sorted for views
  Samples host;
  Samples self;
  std::vector<SourceStatus> sources;
  std::shared_ptr<const Topology> topology;  // nullptr: no source has told of it
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace gpusight::model
