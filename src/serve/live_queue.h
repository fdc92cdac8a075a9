// What one client of the live stream is still to be sent, with a bound: a client that falls behind
// has its queue cleared and starts again from a fresh snapshot; one that does so over and over is
// given up. Plain value, one thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"

namespace gpusight::serve {

struct LiveLimits {
  size_t messages = 32;                        // waiting for one client
  size_t clearings = 3;                        // the client is given up at the third …
  Duration window = std::chrono::seconds(60);  // … within this time
};

class LiveQueue {
 public:
  enum class Kind : uint8_t { kSnapshot, kDelta, kEvent };
  struct Item {
    Kind kind = Kind::kSnapshot;
    std::shared_ptr<const std::string> tail;  // nullptr for a snapshot: made when it is sent
  };

  explicit LiveQueue(const LiveLimits& limits) : limits_(limits) {}

  // The client is to begin anew: deltas that wait are of no more use.
  void request_snapshot();
  // Deltas are dropped while a snapshot waits: it will hold what they say.
  void push(Item item, MonoTime now);
  std::optional<Item> pop();

  bool given_up() const { return given_up_; }
  size_t size() const { return items_.size(); }
  uint64_t clearings() const { return total_clearings_; }

 private:
  void clear(MonoTime now);

  const LiveLimits limits_;
  std::deque<Item> items_;
  bool snapshot_waits_ = false;
  std::deque<MonoTime> recent_clearings_;
  uint64_t total_clearings_ = 0;
  bool given_up_ = false;
};

}  // namespace gpusight::serve
