// What the kernel says of one process: /proc/PID/stat (its name, comm, is in there, of the same
// instant as the start time that identifies it) and /proc/PID/status, and the two numbers that turn
// a start time into a date. All of it below a RootFs.
//
// Threads: free functions without state, safe from any thread. None of these files makes the reader
// wait for the process it is about (cmdline, environ and maps do, which is why they are not read
// here). Texts are cleaned where they enter; a process chooses its own name and may put anything in
// it. A file that is gone (the process exited), refused or not what it should be is an error value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/root_fs.h"

namespace gpusight::platform {

// Of /proc/PID/stat.
struct ProcStat {
  std::string comm;  // cleaned
  char state = '?';  // R, S, D, Z, …
  uint32_t flags = 0;
  uint64_t cpu_ticks = 0;  // spent by all its threads, in ticks of kClockTicksPerSecond
  uint32_t threads = 0;
  uint64_t start_ticks = 0;  // since boot, in the same ticks
  uint64_t resident_bytes = 0;

  // Set by the kernel for its own threads; no program can give it to itself.
  bool is_kernel_thread() const { return (flags & 0x00200000U) != 0; }
};

// Of /proc/PID/status.
struct ProcStatus {
  uint32_t real_uid = 0;
  uint32_t effective_uid = 0;
  // Its pid in each PID namespace from that of this /proc inwards; empty before Linux 4.1.
  std::vector<int64_t> namespace_pids;
};

// USER_HZ, the unit of every time in ticks under /proc: part of the kernel's ABI, 100 on each
// architecture that has a GPU driver, whatever the machine's own timer runs at.
inline constexpr int64_t kClockTicksPerSecond = 100;

// kCorrupt when the text is not what the kernel writes. The name stands between the first '(' and
// the last ')': it may hold both itself.
Result<ProcStat> parse_proc_stat(std::string_view text);
Result<ProcStatus> parse_proc_status(std::string_view text);

// `pid` is a number of this /proc or "self".
Result<ProcStat> read_proc_stat(const RootFs& root, std::string_view pid);
Result<ProcStatus> read_proc_status(const RootFs& root, std::string_view pid);
// The text of /proc/PID/cgroup: a line for each hierarchy.
Result<std::string> read_proc_cgroup(const RootFs& root, std::string_view pid);

// Seconds since 1970 at which the machine started, from /proc/stat. The kernel derives it from the
// wall clock, so that it moves when that is set: read it once per process to be dated.
std::optional<int64_t> read_boot_time_unix_s(const RootFs& root);

// Bytes of memory that the machine has, from /proc/meminfo.
Result<uint64_t> read_memory_total(const RootFs& root);

// Whether the pids of this /proc are those of the machine: what drivers speak of. A container's own
// /proc counts from 1 again, and a driver's pid looked up there names another program.
//
// Three signs, since each is hidden somewhere. The number of our own PID namespace
// (/proc/self/ns/pid) is a constant of the kernel for the first one. NSpid of /proc/self/status has
// more than one entry when this /proc is of a namespace outside ours, but only one for a container
// that mounted its own. And whoever we are, a /proc whose pid 2 is a thread of the kernel is the
// machine's: that is how a container that was given the host's /proc is told from one that was not.
// With no sign at all (no /proc/self) it is taken to be the machine's.
bool is_machine_pid_namespace(const RootFs& root);

}  // namespace gpusight::platform
