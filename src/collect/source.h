// The contract of a source of readings: one folder under collect/, one row in registry.cc.
//
// A source opens what it reads from (a library, kernel files) as a Generation. A generation has
// devices and lanes. A lane is a unit of reading that src/sample runs on a thread of its own: it
// may block in a driver for ever without holding up anything but itself. A generation is destroyed
// only when no lane of it is inside poll(); whatever was opened is closed in its destructor.
//
//   Source ── open() ──▶ Generation ── lanes() ──▶ Lane ── poll(Report&) ──▶ readings, events
//      └── watch(): cheap, touches no driver: should we open, close, stay?
//
// Threads: open() and watch() of a source are called from one control thread, never at the same
// time. poll() of one lane is called from one thread at a time; different lanes run at once. A lane
// keeps what it needs between polls itself and shares nothing mutable with other lanes but through
// the generation's own locks.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "catalog/metric.h"
#include "catalog/metric_set.h"
#include "model/device.h"
#include "model/event.h"
#include "model/process.h"
#include "model/snapshot.h"
#include "model/topology.h"
#include "model/value.h"
#include "platform/root_fs.h"

namespace gpusight::collect {

// The subject of host readings in a Report.
inline constexpr std::string_view kHost = "";

// What one poll found, grouped by subject. Filled through set(), absent() and processes(), which
// are where readings enter gpusight: numbers are checked against the catalogue's bounds, rounded to
// its resolution, or dropped as implausible and counted. Nothing is clamped.
class Report {
 public:
  struct Subject {
    std::string uuid;  // a device of the generation, or kHost
    model::DeviceState state = model::DeviceState::kActive;
    model::Samples samples;  // in the order they were set; a later one of the same series wins
    std::optional<std::vector<model::Process>> processes;
    std::optional<model::Reason> processes_absent;
    std::optional<std::vector<model::Session>> sessions;
    std::optional<model::Holders> holders;
  };

  Report(const Clock& clock, model::SourceNumber source) : clock_(clock), source_(source) {}

  // Readings set from now on are about this device (or kHost).
  void about(std::string_view uuid);
  void state(model::DeviceState state);

  // `number` in the catalogue's unit, read just now. `window` is the time it describes: zero for a
  // level. A number that cannot be becomes absent with reason implausible.
  void set(catalog::MetricId metric, double number, Duration window = {},
           std::string_view label = {});
  // Companions of a metric for this tick; ignored unless lowest <= highest and both are plausible.
  void set_range(catalog::MetricId metric, double lowest, double highest, Duration window,
                 std::string_view label = {});
  void absent(catalog::MetricId metric, model::Reason reason, std::string_view label = {});
  // What set() or absent() just put about this subject.
  const model::Value& newest() const { return subjects_[current_].samples.back().value; }
  // All that was put about this subject.
  std::span<const model::Sample> samples() const { return subjects_[current_].samples; }
  // A reading of an earlier poll that still counts, for what is read in turns. It keeps its age.
  void keep(catalog::MetricId metric, const model::Value& value, std::string_view label = {});
  void processes(std::vector<model::Process> processes);
  void processes_absent(model::Reason reason);
  void sessions(std::vector<model::Session> sessions);
  void holders(model::Holders holders);

  // How this lane's devices hang together with others, as far as it knows by now. It stands until
  // the lane says otherwise or its generation ends.
  void topology(model::Topology part) { topology_ = std::move(part); }
  void event(model::Event event);  // times are filled in here when they are not set
  // One call into a vendor library: counted and timed for gpusight_driver_*.
  void count_call(Duration took);
  void count_implausible() { ++implausible_; }

  MonoTime now() const { return clock_.mono(); }
  WallTime wall() const { return clock_.wall(); }
  // A number wrapped as a fresh Value without a catalogue row (process memory).
  model::Value fresh(double number, Duration window = {}) const;

  std::span<const Subject> subjects() const { return subjects_; }
  std::vector<Subject>& mutable_subjects() { return subjects_; }
  std::vector<model::Event>& events() { return events_; }
  std::optional<model::Topology>& topology() { return topology_; }
  uint64_t calls() const { return calls_; }
  Duration call_time() const { return call_time_; }
  uint64_t implausible() const { return implausible_; }

 private:
  void put(catalog::MetricId metric, std::string_view label, model::Value value);

  const Clock& clock_;
  model::SourceNumber source_;
  std::vector<Subject> subjects_;
  size_t current_ = 0;
  std::vector<model::Event> events_;
  std::optional<model::Topology> topology_;
  uint64_t calls_ = 0;
  Duration call_time_{};
  uint64_t implausible_ = 0;
};

// What a poll means for its generation.
enum class Verdict : uint8_t {
  kGood,
  kDeviceLost,      // a device of this lane does not answer: open again after a pause
  kGenerationLost,  // every handle is dead (driver reloaded or unloaded): open again as soon as
                    // possible
};

enum class LaneCadence : uint8_t {
  kFast,    // every tick; what it keeps from one poll to the next is at most a second old
  kSlow,    // every 10 s
  kEvents,  // poll() waits for something to happen, at most a second, and is called again at once
};

struct LaneInfo {
  std::string name;  // "nvml/GPU-1f…/fast": unique, for the self view
  LaneCadence cadence = LaneCadence::kFast;
  std::vector<std::string> uuids;  // whose readings come from here; kHost for the machine
};

class Lane {
 public:
  virtual ~Lane() = default;
  virtual const LaneInfo& info() const = 0;
  virtual Verdict poll(Report& report) = 0;
};

class Generation {
 public:
  virtual ~Generation() = default;  // closes everything; may block in the driver
  virtual std::span<const model::Device> devices() const = 0;
  virtual std::span<const std::unique_ptr<Lane>> lanes() const = 0;
};

// What open() or watch() found out.
struct Opened {
  model::SourceStatus status;
  std::unique_ptr<Generation> generation;  // nullptr when there is nothing to read now
  // Devices known without opening them, each asleep or lost; they are listed with that state.
  std::vector<std::pair<model::Device, model::DeviceState>> untouched;
};

enum class Wish : uint8_t {
  kStay,
  kOpen,
  kClose,  // idle devices could sleep
  kLetGo,  // a device is being taken from its driver, which waits for us
};

// What the sampler knows that a source needs to decide about sleep.
struct Activity {
  bool is_open = false;
  Duration idle_for{};  // since any of its devices showed work or a process
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view name() const = 0;
  // What the source can ever set: the contract test holds it to that.
  virtual std::span<const catalog::MetricId> declares() const = 0;
  // May take seconds. Never fails as a call: what is wrong is in the status.
  virtual Opened open() = 0;
  // Whether it keeps devices from being reset or unbound while it is open: `gpusight release`
  // closes it then.
  virtual bool holds_devices() const { return true; }
  // Once a second, from kernel files that wake nothing. kOpen: devices woke up, a library appeared.
  // `untouched` of the last open may change here.
  virtual Wish watch(const Activity& activity) = 0;
  // The state of untouched devices as of the last watch() or open().
  virtual std::vector<std::pair<model::Device, model::DeviceState>> untouched() const { return {}; }
};

// How soon a source finds out what its devices can tell.
enum class Pace : uint8_t {
  kSpread,  // over several polls: the first of them cost no more than any other
  kAtOnce,  // in the first poll, whatever that costs: for who reads but once
};

// What every source is made from.
struct SourceOptions {
  const Clock* clock = nullptr;
  platform::RootFs root;  // "/" or a fixture tree
  std::string nvml_path;  // a library named by hand; empty: the usual places
  Duration interval = std::chrono::seconds(1);
  catalog::MetricSet disabled = {};  // not to be read; what a source sets of them is dropped
  Pace pace = Pace::kSpread;
  model::SourceNumber number = 0;  // given by the registry
};

struct SourceRow {
  std::string_view name;
  std::unique_ptr<Source> (*create)(const SourceOptions&);
};

// Every source there is, in the order they are shown. A source's number is its place plus one.
std::span<const SourceRow> source_rows();

}  // namespace gpusight::collect
