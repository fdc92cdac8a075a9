// Where the newest Snapshot stands for everyone to read.
//
// Thread-safe. Readers never wait for the writer beyond a pointer copy; listeners are called on the
// publishing thread and must only hand the snapshot on (post it to their own loop).
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/annotations.h"
#include "model/snapshot.h"

namespace gpusight::sample {

class SnapshotHub {
 public:
  using Listener = std::function<void(const model::SnapshotPtr&)>;

  // Never nullptr: before the first tick an empty snapshot with sequence 0.
  model::SnapshotPtr latest() const EXCLUDES(mutex_);
  void publish(model::SnapshotPtr snapshot) EXCLUDES(mutex_);

  // The listener may be called once more while unsubscribe() is on its way, never after it
  // returned.
  uint64_t subscribe(Listener listener) EXCLUDES(mutex_);
  void unsubscribe(uint64_t id) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  Mutex calling_;  // held while listeners run
  model::SnapshotPtr latest_ GUARDED_BY(mutex_) = std::make_shared<const model::Snapshot>();
  std::map<uint64_t, Listener> listeners_ GUARDED_BY(mutex_);
  uint64_t next_id_ GUARDED_BY(mutex_) = 1;
};

}  // namespace gpusight::sample
