// The state behind the exported functions of one loaded library: session, handles, clock, faults,
// counts.
//
// The driver's interface is a set of free functions without a context argument, so its state must
// be one object per loaded library; it is reached through library() only and is safe from any
// thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device_files.h"
#include "machine.h"
#include "nvml_abi.h"
#include "nvml_fields.h"
#include "nvml_functions.h"
#include "scenario.h"

namespace gpusight::sim {

// In front of the identity of a fault that was taken out of its file and yet lasts.
inline constexpr std::string_view kEnded = "ended|";

// A fault with what it has done so far.
struct LiveFault {
  Fault fault;
  std::shared_ptr<std::atomic<std::uint64_t>> hits;
  std::string identity;  // equal for the same fault in two versions of a control file
  // The session of the moment, for a fault that began with the reading of its file.
  unsigned sessions_before = 0;

  bool active(double t) const { return t >= fault.at && t < fault.until; }
  bool hits_gpu(std::size_t gpu) const;
  bool hits_function(const char* name) const;
  // Counts a matching call; true for each `every`-th one.
  bool strikes() const { return hits->fetch_add(1) % fault.every == fault.every - 1; }
};

// Everything a call needs to see, unchanging for as long as it holds it.
struct Plan {
  std::shared_ptr<const Scenario> scenario;
  std::uint64_t driver_key = 0;
  std::vector<LiveFault> faults;
  std::vector<FieldName> fields;  // by number, as this driver numbers them; kCount = none
  std::vector<Fault> conditions;  // those of the faults that the model makes figures of
  std::optional<double> frozen_at;
  double offset_seconds = 0;
  double latency_seconds = 0;  // of every call, beside what faults add
};

// Where a handle leads.
struct Target {
  unsigned generation = 0;
  std::size_t gpu = 0;
  std::optional<unsigned> slot;  // a MIG instance's
};

// Field names by number, as a driver (version_key()) numbered them.
std::vector<FieldName> field_numbers(std::uint64_t driver);

struct EventSet;
struct GpmSample;

class Library {
 public:
  // Session life. init() answers what nvmlInit does.
  nvmlReturn_t init();
  nvmlReturn_t shutdown();
  bool initialised() const { return sessions_.load() > 0; }
  unsigned generation() const { return generation_.load(); }
  double session_begin() const { return session_begin_.load(); }

  // The plan of now; re-reads the control file when it has changed. Null before the first init.
  std::shared_ptr<const Plan> plan();

  // Rests for so long, or until another plan than this one holds or the session changes. What waits
  // for an event rests here: faults of a control file wake it as soon as any call has found them.
  void rest(const Plan& seen, double seconds);

  // Seconds since the start, and the driver's time stamp (microseconds of the Unix epoch) of an
  // instant.
  double now(const Plan& plan) const;
  std::uint64_t stamp_us(double t) const;
  double from_stamp(std::uint64_t stamp_us) const;

  void count(Fn fn, int gpu);
  std::uint64_t calls(Fn fn) const;
  std::uint64_t calls_about(unsigned gpu) const;
  std::uint64_t total_calls() const;
  void reset_counts();
  void dump_counts();

  // Forgets everything, as if the library had just been loaded.
  void restart();

  std::mutex& serial() { return serial_; }

  // Event sets; ids are the opaque handles.
  std::mutex& events_mutex() { return events_mutex_; }
  std::vector<std::shared_ptr<EventSet>>& event_sets() { return event_sets_; }
  std::vector<std::shared_ptr<GpmSample>>& gpm_samples() { return gpm_samples_; }

  std::string scenario_name();

 private:
  static constexpr std::size_t kFunctions = static_cast<std::size_t>(Fn::kCount);
  static constexpr std::size_t kCounted = 65;  // no GPU, then 64 GPUs

  bool load(std::string* error);
  void start_clock();
  void check_control(double t);
  void apply_control(const Control& control, double t);
  void rebuild(std::vector<LiveFault> control_faults);

  std::mutex session_mutex_;  // one init or shutdown at a time; taken before mutex_
  DeviceFiles device_files_;  // guarded by it
  std::mutex mutex_;          // guards what follows up to the atomics
  std::condition_variable changed_;
  std::shared_ptr<const Scenario> scenario_;
  std::shared_ptr<const Plan> plan_;
  std::vector<LiveFault> scenario_faults_;
  std::vector<LiveFault> control_faults_;
  Control control_;
  double latency_seconds_ = 0;
  std::string scenario_source_;
  std::string control_state_;  // path, inode, size and time of the version read last

  std::atomic<std::int64_t> start_monotonic_us_{0};
  std::atomic<std::int64_t> start_wall_us_{0};
  std::atomic<std::int64_t> next_control_check_us_{0};
  std::atomic<int> sessions_{0};
  std::atomic<unsigned> generation_{0};
  std::atomic<double> session_begin_{0};
  std::atomic<std::uint64_t> counts_[kFunctions][kCounted] = {};
  std::mutex serial_;
  std::mutex events_mutex_;
  std::vector<std::shared_ptr<EventSet>> event_sets_;
  std::vector<std::shared_ptr<GpmSample>> gpm_samples_;
};

Library& library();

// Handles carry their meaning in the pointer's bits, so that a foreign or stale one is told apart
// without being followed.
nvmlDevice_t make_handle(const Target& target);
std::optional<Target> read_handle(nvmlDevice_t handle);

// The driver this library file is; set per variant. Empty = whatever the scenario says.
const char* variant_driver();

}  // namespace gpusight::sim
