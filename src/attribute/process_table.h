// Who the pids are that a driver lists, from /proc: name, user and start time of a process, the
// container, pod, job or unit that its cgroup says, and what it takes of the host.
//
// A process is a pid and the time it started. A row that comes with its start, as a source has just
// read it, is known again by it for a few calls; without one the start is read in every call, so
// that a pid used again is a new process and never inherits a name. What may change (the name, by
// exec) is read again every kCallsBetweenLooks calls, what does not is read once. The cgroup, from
// which a process is moved seldom, is read with a new name and every kLooksBetweenPlaces looks.
//
// Where the driver speaks of other pids than our /proc (inside a container with a PID namespace of
// its own), nothing is looked up: each row is kForeign, without any name, since a name found there
// would be another program's. The driver's own name is not used either: the library takes it from
// the same /proc.
//
// What may take long is looked up elsewhere (attribute/look_ups.h): the arguments, whose file makes
// the reader wait for the process, on one thread, what the runtime of a container calls it on
// another. Until they are known there are no arguments, and a container and a pod are their ids. A
// row keeps what it has when a runtime goes away, and is asked about again every minute.
//
// A call reads three or four small files for a process not seen before, at most kNewPerCall of
// those a call (the rest stay kPending until the next), and at most two for each other. None of
// them waits for the process (platform/proc.h). Cost: 5 µs a known process, 20 µs a new one (-O2,
// 2-core virtual machine).
//
// States of a row that is not kKnown: kExited, the driver lists a process that /proc has not: it
// keeps what was known of it, else the driver's name, and has no user; kPending, not looked up yet,
// or /proc will not tell us (hidepid=1, or text that makes no sense). Under hidepid=2 other users'
// processes cannot be told from ones that have gone.
//
// Not thread-safe: one owner, one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "attribute/container_names.h"
#include "attribute/look_ups.h"
#include "base/clock.h"
#include "model/process.h"
#include "platform/proc.h"
#include "platform/root_fs.h"
#include "platform/users.h"

namespace gpusight::attribute {

class ProcessTable {
 public:
  static constexpr size_t kMaxEntries = 4096;
  static constexpr size_t kNewPerCall = 64;
  static constexpr uint64_t kCallsBetweenLooks = 3;
  static constexpr uint64_t kLooksBetweenPlaces = 20;

  // The clock outlives the table.
  ProcessTable(platform::RootFs root, const Clock* clock);

  // Fills in start_ticks, which may be known (else 0), owner and host. One call is one tick: a
  // process that stands in it several times (it uses several devices) is looked at once.
  void resolve(std::span<model::Process> processes);
  // The same for the lists of all devices.
  void resolve_lists(std::span<const std::span<model::Process>> lists);

  bool is_foreign() const { return foreign_; }
  size_t size() const { return entries_.size(); }
  // Look-ups not made because the table was full of processes in use; they stay kPending.
  uint64_t refused() const { return refused_; }

 private:
  using ProcessKey = std::pair<int64_t, uint64_t>;           // pid, start_ticks
  using ContainerKey = std::pair<std::string, std::string>;  // id, runtime

  struct Entry {
    uint64_t start_ticks = 0;
    uint64_t looked_at_in = 0;  // the number of a call: when /proc was read
    uint64_t used_in = 0;
    uint64_t looks = 0;
    model::Owner owner;
    model::HostUse host;
    uint64_t cpu_ticks = 0;  // as of cpu_at
    std::optional<MonoTime> cpu_at;
  };

  void begin_call();
  void resolve_one(model::Process& process);
  Entry* entry_of(int64_t pid, uint64_t told_start);
  void look_again(std::string_view pid, Entry& entry);
  void look_up(std::string_view pid, const platform::ProcStat& stat, Entry& entry);
  void look_at_host(const platform::ProcStat& stat, Entry& entry);
  void look_at_place(std::string_view pid, Entry& entry);
  void look_elsewhere(int64_t pid, Entry& entry);
  bool make_room();
  std::optional<int64_t> start_unix_ms(uint64_t start_ticks);

  platform::RootFs root_;
  const Clock* clock_;
  bool foreign_;
  platform::UserNames users_;
  LookUps<ProcessKey, std::string> arguments_;
  LookUps<ContainerKey, ContainerName> containers_;
  std::unordered_map<int64_t, Entry> entries_;
  uint64_t call_ = 0;
  size_t new_in_call_ = 0;
  std::optional<int64_t> boot_unix_s_;  // as of this call
  bool boot_read_ = false;
  uint64_t refused_ = 0;
};

}  // namespace gpusight::attribute
