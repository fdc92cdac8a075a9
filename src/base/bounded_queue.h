// A queue between threads with a bound: a full queue refuses and counts, so that nobody waits for a
// slow reader and nothing grows without limit. Thread-safe.
#pragma once

#include <deque>
#include <optional>
#include <stop_token>

#include "base/annotations.h"

namespace gpusight {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  // False, and counted as dropped, when the queue is full.
  bool push(T item) {
    {
      MutexLock lock(mutex_);
      if (items_.size() >= capacity_) {
        ++dropped_;
        return false;
      }
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
    return true;
  }

  std::optional<T> try_pop() {
    MutexLock lock(mutex_);
    return take();
  }

  // Waits for an item; nullopt when `stop` is requested first.
  std::optional<T> pop(std::stop_token stop) NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex_);
    ready_.wait(lock, stop, [this]() NO_THREAD_SAFETY_ANALYSIS { return !items_.empty(); });
    return take();
  }

  uint64_t dropped() const {
    MutexLock lock(mutex_);
    return dropped_;
  }
  size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }

 private:
  std::optional<T> take() REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<T> items_ GUARDED_BY(mutex_);
  uint64_t dropped_ GUARDED_BY(mutex_) = 0;
};

}  // namespace gpusight
