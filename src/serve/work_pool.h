// A few threads for what would hold up the server's own: they run at low priority, so that sampling
// is never disturbed, and only so many jobs may wait for them.
//
// Thread-safe. The destructor stops and joins; where stop() returned false a job is stuck, and the
// process must leave by _exit instead.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/annotations.h"
#include "base/clock.h"

namespace gpusight::serve {

class WorkPool {
 public:
  struct Options {
    size_t threads = 2;
    size_t waiting = 16;  // jobs beside those that run
    int niceness = 10;    // of 19
  };
  // Throws nothing.
  using Job = std::function<void(std::stop_token)>;

  explicit WorkPool(Options options);
  ~WorkPool();

  // Whoever holds the answer may ask the job to stop; one that waits is then never run. nullopt,
  // and the job is not taken, when too many wait already or the pool has stopped.
  std::optional<std::stop_source> submit(Job job) EXCLUDES(mutex_);

  // Drops what waits, asks what runs to stop, and takes nothing more.
  void stop() EXCLUDES(mutex_);
  // Whether nothing runs any more, after at most `patience`.
  bool wait_until_idle(Duration patience) EXCLUDES(mutex_);

 private:
  struct Entry {
    Job job;
    std::stop_source source;
  };

  void work(size_t thread) EXCLUDES(mutex_);
  // Waits for it; false when the pool has stopped.
  bool next(size_t thread, Entry& entry) EXCLUDES(mutex_);

  const Options options_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Entry> waiting_ GUARDED_BY(mutex_);
  std::vector<std::optional<std::stop_source>> running_ GUARDED_BY(mutex_);  // one a thread
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpusight::serve
