// Answers that may take long to get, from a thread of their own: who asks gets what is known by now
// and never waits.
//
// ask() returns the last answer, or nullopt while there is none, and has it found again when it is
// older than `fresh_for`. The finder is called on the thread, one key after another; where it never
// returns, no new answers come and nobody else is held up. The thread starts with the first
// question, so that what nobody asks costs nothing, and is not joined: it and the finder are left
// behind when this goes, and end with the look-up they are in.
//
// Bounded: kMaxKeys; one that was not asked for during kKeptFor makes room. Without room there is
// no answer, which refused() counts.
//
// Any thread.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/annotations.h"
#include "base/clock.h"

namespace gpusight::attribute {

template <typename Key, typename Answer>
class LookUps {
 public:
  static constexpr size_t kMaxKeys = 4096;
  static constexpr Duration kFreshFor = std::chrono::seconds(60);
  static constexpr Duration kKeptFor = std::chrono::minutes(10);

  using Finder = std::function<Answer(const Key&)>;

  // The clock outlives this; the thread does not use it.
  LookUps(Finder finder, const Clock* clock, Duration fresh_for = kFreshFor)
      : clock_(clock),
        fresh_for_(fresh_for),
        shared_(std::make_shared<Shared>(std::move(finder))) {}
  ~LookUps() {
    const MutexLock lock(shared_->mutex);
    shared_->is_over = true;
    shared_->changed.notify_all();
  }
  LookUps(const LookUps&) = delete;
  LookUps& operator=(const LookUps&) = delete;

  std::optional<Answer> ask(const Key& key) {
    const MonoTime now = clock_->mono();
    Shared& shared = *shared_;
    const MutexLock lock(shared.mutex);
    auto it = shared.items.find(key);
    if (it == shared.items.end()) {
      if (!make_room(shared, now)) return std::nullopt;
      it = shared.items.emplace(key, Item{}).first;
    }
    Item& item = it->second;
    item.asked_at = now;
    const bool is_fresh = item.sought_at && now - *item.sought_at < fresh_for_;
    if (!is_fresh && !item.is_queued) {
      item.is_queued = true;
      item.sought_at = now;
      shared.queue.push_back(key);
      if (!std::exchange(shared.is_started, true)) start();
      shared.changed.notify_one();
    }
    return item.answer;
  }

  uint64_t refused() const {
    const MutexLock lock(shared_->mutex);
    return shared_->refused;
  }

 private:
  struct Item {
    std::optional<Answer> answer;
    std::optional<MonoTime> sought_at;
    MonoTime asked_at{};
    bool is_queued = false;
  };
  struct Shared {
    explicit Shared(Finder find) : finder(std::move(find)) {}

    const Finder finder;
    mutable Mutex mutex;
    std::condition_variable_any changed;
    std::map<Key, Item> items GUARDED_BY(mutex);
    std::deque<Key> queue GUARDED_BY(mutex);
    MonoTime cleared_at GUARDED_BY(mutex){};
    uint64_t refused GUARDED_BY(mutex) = 0;
    bool is_started GUARDED_BY(mutex) = false;
    bool is_over GUARDED_BY(mutex) = false;
  };

  static bool make_room(Shared& shared, MonoTime now) REQUIRES(shared.mutex) {
    if (shared.items.size() < kMaxKeys) return true;
    // Looking through all is dear: once in a while is enough.
    if (shared.refused == 0 || now - shared.cleared_at >= kFreshFor) {
      shared.cleared_at = now;
      std::erase_if(shared.items, [&](const auto& entry) {
        return !entry.second.is_queued && now - entry.second.asked_at >= kKeptFor;
      });
    }
    if (shared.items.size() < kMaxKeys) return true;
    ++shared.refused;
    return false;
  }

  void start() {
    std::thread([shared = shared_] { run(*shared); }).detach();
  }

  // Waiting lets go of the lock and takes it again, which the analysis cannot follow.
  static bool next(Shared& shared, Key& key) NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(shared.mutex);
    while (!shared.is_over && shared.queue.empty()) shared.changed.wait(lock);
    if (shared.is_over) return false;
    key = std::move(shared.queue.front());
    shared.queue.pop_front();
    return true;
  }

  static void run(Shared& shared) {
    Key key;
    while (next(shared, key)) {
      Answer answer = shared.finder(key);
      const MutexLock lock(shared.mutex);
      const auto it = shared.items.find(key);
      if (it == shared.items.end()) continue;
      it->second.answer = std::move(answer);
      it->second.is_queued = false;
    }
  }

  const Clock* const clock_;
  const Duration fresh_for_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace gpusight::attribute
