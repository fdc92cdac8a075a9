#include "sample/hub.h"

#include <vector>

namespace gpusight::sample {

model::SnapshotPtr SnapshotHub::latest() const {
  MutexLock lock(mutex_);
  return latest_;
}

void SnapshotHub::publish(model::SnapshotPtr snapshot) {
  MutexLock calling(calling_);
  std::vector<Listener> listeners;
  {
    MutexLock lock(mutex_);
    latest_ = snapshot;
    for (const auto& [id, listener] : listeners_) listeners.push_back(listener);
  }
  for (const Listener& listener : listeners) listener(snapshot);
}

uint64_t SnapshotHub::subscribe(Listener listener) {
  MutexLock lock(mutex_);
  listeners_.emplace(next_id_, std::move(listener));
  return next_id_++;
}

void SnapshotHub::unsubscribe(uint64_t id) {
  MutexLock calling(calling_);
  MutexLock lock(mutex_);
  listeners_.erase(id);
}

}  // namespace gpusight::sample
