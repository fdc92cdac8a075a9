// What a process tells of itself from inside its machine-learning framework: the one thing that no
// driver knows. Said over the Unix socket by the Python module `gpusight` (python/). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpusight::model {

// Each number may be absent: frameworks differ in what they tell. Memory is that of one device.
struct FrameworkUse {
  std::string framework;                  // "pytorch", "tensorflow", "jax", or what it calls itself
  std::optional<double> allocated_bytes;  // in tensors that are alive
  std::optional<double>
      reserved_bytes;  // held from the driver: what of it is not allocated is cache
  std::optional<double> largest_free_bytes;   // the largest block of the cache in one piece
  std::optional<double> limit_bytes;          // that the framework allows itself
  std::optional<double> out_of_memory_total;  // allocations that failed since the process started
  std::optional<double> step_seconds;         // mean of the steps since the message before
  std::optional<double> tokens_per_second;    // or samples: what the program counts
  std::optional<double> data_wait_ratio;      // share of a step that waits for its data, 0 to 1

  bool operator==(const FrameworkUse&) const = default;
};

// Its numbers as they are told and shown, and the most that is believed of each (none is negative).
struct FrameworkNumber {
  std::string_view key;
  std::optional<double> FrameworkUse::*member;
  double most;
  bool is_memory;  // of a device; the others are of the process
};
std::span<const FrameworkNumber> framework_numbers();

}  // namespace gpusight::model
