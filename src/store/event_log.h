// The events of the last days, in memory, bounded: the oldest go first and are counted.
//
// Thread-safe. Listeners are called on the appending thread, one event at a time and in the order
// of ids; they must only hand the event on: append(), subscribe() and unsubscribe() may not be
// called from inside one, find() may.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/annotations.h"
#include "model/event.h"

namespace gpusight::store {

// An event is found when all that is given here holds for it.
struct EventFilter {
  std::optional<WallTime> from;  // inclusive
  std::optional<WallTime> to;    // inclusive
  std::optional<catalog::EventKind> kind;
  std::string uuid;       // empty: any
  uint64_t after_id = 0;  // ids greater than this
  size_t limit = 1000;    // the newest that match
};

class EventLog {
 public:
  using Listener = std::function<void(const model::Event&)>;

  explicit EventLog(size_t capacity = 10000) : capacity_(capacity) {}

  // Gives the event its id, keeps it, tells the listeners, and returns it.
  model::Event append(model::Event event) EXCLUDES(calling_, mutex_);
  // Events of earlier runs, oldest first, with the ids they have; before the first append(). No
  // listener hears of them, and new ids go on after theirs.
  void restore(std::vector<model::Event> events) EXCLUDES(mutex_);
  // Oldest first.
  std::vector<model::Event> find(const EventFilter& filter) const EXCLUDES(mutex_);
  // How many events went because the log was full.
  uint64_t forgotten() const EXCLUDES(mutex_);

  // The listener hears of events appended from now on, and never again once unsubscribe()
  // returned.
  uint64_t subscribe(Listener listener) EXCLUDES(mutex_);
  void unsubscribe(uint64_t id) EXCLUDES(calling_, mutex_);

 private:
  const size_t capacity_;
  mutable Mutex mutex_;
  Mutex calling_;  // held while listeners run
  std::deque<model::Event> events_ GUARDED_BY(mutex_);
  uint64_t next_event_id_ GUARDED_BY(mutex_) = 1;
  uint64_t forgotten_ GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Listener> listeners_ GUARDED_BY(mutex_);
  uint64_t next_listener_id_ GUARDED_BY(mutex_) = 1;
};

}  // namespace gpusight::store
