// What a session has open: event sets (which events of which GPUs a caller waits for, and which
// have been handed out) and GPM samples. Guarded by Library::events_mutex().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "library.h"

namespace gpusight::sim {

struct Registration {
  std::size_t gpu = 0;
  std::uint64_t types = 0;
  double since = 0;  // events from before are not delivered
  // What was last seen of the states whose changes are events, by type.
  std::map<std::uint64_t, std::uint64_t> last;
};

struct EventSet {
  unsigned generation = 0;
  bool of_system = false;  // driver events instead of GPU events
  std::vector<Registration> registrations;
  std::vector<std::string> delivered;  // identity of the event, instant and GPU
};

// An instant of a GPU or of an instance, for the metrics between two of them.
struct GpmSample {
  bool taken = false;
  std::size_t gpu = 0;
  std::optional<unsigned> gpu_instance;
  double t = 0;
};

// Longest rest of a call that waits for events, in seconds. The real one sleeps in the kernel until
// something happens. Here it is awake when a planned event is due and when a control file was found
// changed; how often it looks for the rest (states that changed, the file itself) is a bargain
// between promptness and what waiting costs.
inline constexpr double kLongestRest = 0.5;

std::size_t open_event_sets(Library& library);
std::size_t open_gpm_samples(Library& library);

}  // namespace gpusight::sim
