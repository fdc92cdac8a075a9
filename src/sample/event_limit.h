// How many events are told: of one kind and device at most kMost in a kPeriod. What is beyond is
// left out, and how many those were becomes an event of its own when the period is over. So a storm
// of one kind hides nothing else, and costs neither memory nor disk.
//
// Belongs to the board. Bounded by the number of kinds and devices.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/event.h"

namespace gpusight::sample {

// One moment on both clocks.
struct Now {
  MonoTime mono{};
  WallTime wall{};
};

model::Event event_at(const Now& now, catalog::EventKind kind, const std::string& uuid,
                      std::vector<std::string> arguments);

class EventLimit {
 public:
  static constexpr uint64_t kMost = 100;
  static constexpr Duration kPeriod = std::chrono::seconds(10);

  // Whether the event is to be told.
  bool admit(const model::Event& event, MonoTime now);
  // Of the periods that are over: what was left out in them.
  std::vector<model::Event> left_out(const Now& now);

 private:
  struct Period {
    MonoTime began{};
    uint64_t events = 0;
  };
  std::map<std::pair<catalog::EventKind, std::string>, Period> periods_;  // by kind and device
};

}  // namespace gpusight::sample
