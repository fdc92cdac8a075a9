// Readings that share a lane's calls: each poll takes as many as its budget has room for, the one
// that has waited longest first; of the others the last values are kept, with their age. What one
// costs is known from the last time: what a device does not support costs nothing. The first time
// all are taken, whatever that costs: so it becomes known what the device supports. Belongs to one
// lane.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "collect/nvml/conversation.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

using Turn = std::function<void(Conversation&, Gathering&)>;

class Turns {
 public:
  explicit Turns(std::vector<Turn> turns);

  struct Budget {
    uint64_t most_calls = 0;  // of the report, calls made before included
    Duration pause{};         // a turn is not due again before
  };
  void take(Conversation& talk, Gathering& found, const Budget& budget);

 private:
  struct Entry {
    Turn read;
    uint64_t cost = 0;  // in calls, the last time
    std::optional<MonoTime> taken_at;
    model::Samples last;
  };

  std::vector<Entry> entries_;
  std::vector<Entry*> order_;  // longest wait first
};

}  // namespace gpusight::collect::nvml
