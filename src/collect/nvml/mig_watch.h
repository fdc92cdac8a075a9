// Whether a GPU is still divided as it was when it was opened: handles of MIG devices that are gone
// may by now be those of others. A GPU in many parts is looked through over several polls.
//
// Belongs to one lane.
#pragma once

#include <set>
#include <string>

#include "collect/nvml/conversation.h"
#include "collect/nvml/enumerate.h"
#include "collect/nvml/gathering.h"

namespace gpusight::collect::nvml {

class MigWatch {
 public:
  static constexpr uint64_t kMostCalls = 26;  // a poll

  explicit MigWatch(const Gpu& gpu);

  // Also sets the mode.
  bool has_changed(Conversation& talk, Gathering& found);

 private:
  static constexpr unsigned kSlotsAPoll = 12;  // two calls each

  bool look_on(Conversation& talk);
  // The uuid in a slot, "" in an empty one; nullopt: not known now.
  std::optional<std::string> uuid_in(Conversation& talk, unsigned slot);

  bool was_enabled_;
  std::set<std::string> listed_;  // when the GPU was opened
  std::set<std::string> seen_;    // in this round
  unsigned slots_ = 0;
  unsigned next_slot_ = 0;
};

}  // namespace gpusight::collect::nvml
