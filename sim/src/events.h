// Event sets: which events of which GPUs a caller waits for, and which have been handed out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "library.h"

namespace gpusight::sim {

struct Registration {
  std::size_t gpu = 0;
  std::uint64_t types = 0;
  double since = 0;  // events from before are not delivered
};

struct EventSet {
  unsigned generation = 0;
  std::vector<Registration> registrations;
  std::vector<std::string> delivered;  // fault identity and GPU
};

std::size_t open_event_sets(Library& library);

}  // namespace gpusight::sim
