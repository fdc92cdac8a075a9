// A process that holds a context on a device. Identity is (pid, start time): a pid alone is reused.
//
// Owner is what attribution knows of it; everything in it may be absent, and more is added there
// (container, pod, job) without changing those who only read what they know. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  std::string container;                 // empty: none, or not known
  std::string pod;
  std::string job;
  std::string unit;  // systemd unit

  bool operator==(const Owner&) const = default;
};

struct Process {
  int64_t pid = 0;
  uint64_t start_ticks = 0;  // /proc/PID/stat field 22; 0 if not known: the second half of identity
  ProcessType type = ProcessType::kCompute;
  Value memory_bytes;  // device memory it holds; absent where the driver does not tell
  // Its shares of the time of the device's multiprocessors, memory interface and video engines;
  // absent where the driver does not tell.
  Value utilization_ratio;
  Value memory_utilization_ratio;
  Value encoder_utilization_ratio;
  Value decoder_utilization_ratio;
  std::optional<uint32_t> gpu_instance;  // on a MIG device
  std::optional<uint32_t> compute_instance;
  std::string driver_name;  // what the driver calls it: used when /proc cannot say
  Owner owner;
};

}  // namespace gpusight::model
