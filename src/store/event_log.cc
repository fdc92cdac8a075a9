#include "store/event_log.h"

#include <algorithm>
#include <utility>

namespace gpusight::store {
namespace {

bool matches(const EventFilter& filter, const model::Event& event) {
  if (filter.from && event.wall < *filter.from) return false;
  if (filter.to && event.wall > *filter.to) return false;
  if (filter.kind && event.kind != *filter.kind) return false;
  return filter.uuid.empty() || event.uuid == filter.uuid;
}

}  // namespace

model::Event EventLog::append(model::Event event) {
  MutexLock calling(calling_);
  std::vector<Listener> listeners;
  {
    MutexLock lock(mutex_);
    event.id = next_event_id_++;
    events_.push_back(event);
    while (events_.size() > capacity_) {
      events_.pop_front();
      ++forgotten_;
    }
    listeners.reserve(listeners_.size());
    for (const auto& [id, listener] : listeners_) listeners.push_back(listener);
  }
  for (const Listener& listener : listeners) listener(event);
  return event;
}

void EventLog::restore(std::vector<model::Event> events) {
  MutexLock lock(mutex_);
  for (model::Event& event : events) {
    next_event_id_ = std::max(next_event_id_, event.id + 1);
    events_.push_back(std::move(event));
  }
  while (events_.size() > capacity_) events_.pop_front();
}

std::vector<model::Event> EventLog::find(const EventFilter& filter) const {
  std::vector<model::Event> found;
  {
    MutexLock lock(mutex_);
    // Ids ascend: what is not after after_id ends the walk back.
    for (auto at = events_.rbegin(); at != events_.rend() && at->id > filter.after_id; ++at) {
      if (found.size() >= filter.limit) break;
      if (matches(filter, *at)) found.push_back(*at);
    }
  }
  std::ranges::reverse(found);
  return found;
}

uint64_t EventLog::forgotten() const {
  MutexLock lock(mutex_);
  return forgotten_;
}

uint64_t EventLog::subscribe(Listener listener) {
  MutexLock lock(mutex_);
  listeners_.emplace(next_listener_id_, std::move(listener));
  return next_listener_id_++;
}

void EventLog::unsubscribe(uint64_t id) {
  MutexLock calling(calling_);
  MutexLock lock(mutex_);
  listeners_.erase(id);
}

}  // namespace gpusight::store
