// What the driver's accounting mode has counted of the processes on a GPU. The fast lane says whose
// figures it wants, the slow lane asks for some of them at each of its polls, those first that were
// asked about longest ago.
//
// Locked: both lanes use it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/annotations.h"
#include "base/clock.h"
#include "collect/nvml/conversation.h"
#include "collect/nvml/driver_clock.h"
#include "model/process.h"

namespace gpusight::collect::nvml {

class ProcessAccounts {
 public:
  static constexpr uint64_t kMostCalls = 6;  // of a poll

  // Whether the mode is on: while it is off nothing is wanted and nothing known.
  void set_on(bool is_on) EXCLUDES(mutex_);
  // What is known of it, if anything; from now on it is asked about.
  std::optional<model::Accounting> of(uint32_t pid) EXCLUDES(mutex_);
  // Forgets all but these.
  void keep(const std::set<uint32_t>& pids) EXCLUDES(mutex_);

  // How many calls the next read() has a use for.
  uint64_t wanted_calls() const EXCLUDES(mutex_);
  // Asks about as many as there is room for.
  void read(Conversation& talk, const DriverClock& driver, const Clock& clock) EXCLUDES(mutex_);

 private:
  static constexpr size_t kMost = 4096;

  struct Entry {
    std::optional<model::Accounting> told;
    std::optional<MonoTime> asked_at;
  };
  std::vector<uint32_t> longest_ago() const EXCLUDES(mutex_);

  mutable Mutex mutex_;
  bool is_on_ GUARDED_BY(mutex_) = false;
  std::map<uint32_t, Entry> entries_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::collect::nvml
