#include "serve/live_queue.h"

namespace gpusight::serve {

void LiveQueue::request_snapshot() {
  std::erase_if(items_, [](const Item& item) { return item.kind != Kind::kEvent; });
  items_.push_front({.kind = Kind::kSnapshot});
  snapshot_waits_ = true;
}

void LiveQueue::push(Item item, MonoTime now) {
  if (given_up_ || (item.kind == Kind::kDelta && snapshot_waits_)) return;
  if (items_.size() >= limits_.messages) return clear(now);
  items_.push_back(std::move(item));
}

std::optional<LiveQueue::Item> LiveQueue::pop() {
  if (items_.empty()) return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  if (item.kind == Kind::kSnapshot) snapshot_waits_ = false;
  return item;
}

void LiveQueue::clear(MonoTime now) {
  ++total_clearings_;
  items_.clear();
  snapshot_waits_ = false;
  recent_clearings_.push_back(now);
  while (now - recent_clearings_.front() > limits_.window) recent_clearings_.pop_front();
  if (recent_clearings_.size() >= limits_.clearings) {
    given_up_ = true;
  } else {
    request_snapshot();
  }
}

}  // namespace gpusight::serve
