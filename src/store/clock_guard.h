// Whether the wall clock may be believed: a recorder that files its samples under a wrong time, or
// forgets a week because a clock says 1970, is worse than one that waits a little.
//
//  - A clock before 2024 is one that was never set. Nothing is recorded under it.
//  - A clock set back by at most two hours is believed at once: its newest word holds.
//  - A clock set back by more overrules as much of history, so it has to stand for ten minutes.
//  - A clock set forward is believed at once for recording. What is old by it is let go only after
//    it has stood for an hour, so that a wrong date does not clear history.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace gpusight::store {

class ClockGuard {
 public:
  // Of each tick, in order. `newest_ms`: the newest time recorded so far, nullopt for none. Ok when
  // the tick is to be recorded, else why not.
  Status look(int64_t wall_ms, MonoTime mono, std::optional<int64_t> newest_ms);

  // Whether ages may be told by this clock.
  bool is_settled() const;

 private:
  std::optional<int64_t> wall_ms_;  // of the tick before
  MonoTime mono_{};
  MonoTime stands_since_{};
};

}  // namespace gpusight::store
