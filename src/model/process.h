// A process that holds a context on a device. Identity is (pid, start time): a pid alone is reused.
//
// Owner is what attribution knows of it; everything in it may be absent, and more is added there
// (container, pod, job) without changing those who only read what they know. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/framework.h"
#include "model/value.h"

namespace gpusight::model {

enum class ProcessType : uint8_t { kCompute, kGraphics, kBoth };
std::string_view process_type_key(ProcessType type);  // "compute", "graphics", "compute+graphics"
std::optional<ProcessType> find_process_type(std::string_view key);

// Why the name of a process may be missing.
enum class OwnerState : uint8_t {
  kKnown,
  kExited,   // gone between the driver's list and our look
  kForeign,  // the driver speaks of another PID namespace: no name from here can be trusted
  kPending,  // not looked up yet
};
std::string_view owner_state_key(OwnerState state);
std::optional<OwnerState> find_owner_state(std::string_view key);

struct Owner {
  OwnerState state = OwnerState::kPending;
  std::string command;  // short name, cleaned
  std::optional<uint32_t> uid;
  std::string user;                      // name of the uid; empty if there is none
  std::optional<int64_t> start_unix_ms;  // wall time of its start
  // Where its cgroup says that it belongs; empty: nowhere, or not known.
  std::string container;      // its name, else what is usually shown of its id
  std::string container_id;   // as its runtime writes it, whole
  std::string runtime;        // "docker", "podman", "containerd", "cri-o", "lxc"
  std::string image;          // of the container
  std::string pod;            // its name, else its uid
  std::string pod_namespace;  // empty while the pod's name is not known
  std::string job;            // of a batch system: "1234", "1234.0" with its step
  std::string unit;           // systemd: "jupyter.service", "session-3.scope"

  bool operator==(const Owner&) const = default;
};

// What the kernel says of the process itself, besides its name; each may be unknown.
struct HostUse {
  std::string arguments;  // the command line, secrets masked; for its owner and administrators
  std::string cgroup;     // its path
  std::optional<double> cpu_ratio;     // of one core, since the look before: 2.5 is two and a half
  std::optional<double> memory_bytes;  // resident
  std::optional<uint32_t> threads;
  bool is_zombie = false;  // has ended; its parent has not asked for its status yet

  bool operator==(const HostUse&) const = default;
};

// What the driver's accounting mode has counted of a process since it started; each may be unknown.
struct Accounting {
  std::optional<double> utilization_ratio;  // share of the time in which a kernel ran
  std::optional<double> memory_utilization_ratio;
  std::optional<double> most_memory_bytes;
  std::optional<double> seconds;  // that it has held a context

  bool operator==(const Accounting&) const = default;
};

struct Process {
  int64_t pid = 0;
  uint64_t start_ticks = 0;  // /proc/PID/stat field 22; 0 if not known: the second half of identity
  ProcessType type = ProcessType::kCompute;
  Value memory_bytes;  // device memory it holds; absent where the driver does not tell
  // How much of that is protected: there only while the device computes confidentially.
  std::optional<double> protected_memory_bytes;
  // Its shares of the time of the device's multiprocessors, memory interface and video engines;
  // absent where the driver does not tell.
  Value utilization_ratio;
  Value memory_utilization_ratio;
  Value encoder_utilization_ratio;
  Value decoder_utilization_ratio;
  std::optional<Accounting> accounting;  // only where that mode is on
  std::optional<uint32_t> gpu_instance;  // on a MIG device
  std::optional<uint32_t> compute_instance;
  std::string driver_name;  // what the driver calls it: used when /proc cannot say
  Owner owner;
  HostUse host;
  std::optional<FrameworkUse> framework;  // only of processes that tell
};

// A process that has a device file of a GPU open, whether or not the driver lists it: it keeps the
// GPU awake.
struct Holder {
  int64_t pid = 0;
  Owner owner;

  bool operator==(const Holder&) const = default;
};

// Those that could be seen, gpusight itself left out.
struct Holders {
  std::vector<Holder> processes;  // by pid
  bool is_partial = false;  // some processes could not be looked at: no permission, or too many

  bool operator==(const Holders&) const = default;
};

}  // namespace gpusight::model
