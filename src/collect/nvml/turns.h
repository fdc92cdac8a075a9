// Readings that share a lane's calls: each poll takes as many as it has calls left for, the one
// that has waited longest first; of the others the last values are kept, with their age. What one
// costs is known from the last time: what a device does not support costs nothing. The first time
// that is not known, so one may be cut off where the calls end; it goes on in the next poll, by
// then knowing more. Belongs to one lane.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "collect/nvml/conversation.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

struct Turn {
  std::function<void(Conversation&, Gathering&)> read;
  std::vector<catalog::MetricId> metrics;  // that it serves
};

class Turns {
 public:
  // Those that serve nothing but what is disabled are never taken.
  Turns(std::vector<Turn> turns, const catalog::MetricSet& disabled);

  // A turn is not due again before `pause` has passed.
  void take(Conversation& talk, Gathering& found, Duration pause = {});
  // The reason for what was not asked: not supported, or while some turns are still to come, that.
  model::Reason unasked() const;

 private:
  struct Entry {
    std::function<void(Conversation&, Gathering&)> read;
    uint64_t cost = 1;                 // in calls, the last time
    std::optional<MonoTime> taken_at;  // as a whole
    model::Samples last;
  };

  static void take(Entry& entry, Conversation& talk, Gathering& found);

  std::vector<Entry> entries_;
  std::vector<Entry*> order_;  // longest wait first
};

}  // namespace gpusight::collect::nvml
