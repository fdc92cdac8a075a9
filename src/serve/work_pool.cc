#include "serve/work_pool.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace gpusight::serve {
namespace {

// A large answer would otherwise stay with a program that is to be small.
void give_back_memory() {
#ifdef __GLIBC__
  constexpr size_t kWorthIt = 8 << 20;
  if (::mallinfo2().fordblks > kWorthIt) ::malloc_trim(0);
#endif
}

}  // namespace

WorkPool::WorkPool(Options options) : options_(options), running_(options.threads) {
  for (size_t i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this, i] { work(i); });
  }
}

WorkPool::~WorkPool() {
  stop();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<std::stop_source> WorkPool::submit(Job job) {
  std::deque<Entry> given_up;  // destroyed outside of the lock
  std::stop_source source;
  {
    MutexLock lock(mutex_);
    if (stopped_) return std::nullopt;
    const auto kept =
        std::stable_partition(waiting_.begin(), waiting_.end(),
                              [](const Entry& entry) { return !entry.source.stop_requested(); });
    std::move(kept, waiting_.end(), std::back_inserter(given_up));
    waiting_.erase(kept, waiting_.end());
    const auto idle = static_cast<size_t>(
        std::ranges::count_if(running_, [](const auto& job) { return !job.has_value(); }));
    if (waiting_.size() >= options_.waiting + idle) return std::nullopt;
    waiting_.push_back({std::move(job), source});
  }
  changed_.notify_all();
  return source;
}

void WorkPool::stop() {
  std::deque<Entry> dropped;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
    for (auto& source : running_) {
      if (source) source->request_stop();
    }
  }
  changed_.notify_all();
}

bool WorkPool::wait_until_idle(Duration patience) NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mutex_);
  return changed_.wait_for(lock, patience, [this]() NO_THREAD_SAFETY_ANALYSIS {
    return std::ranges::none_of(running_, [](const auto& source) { return source.has_value(); });
  });
}

// Also says that what the thread ran before has ended.
bool WorkPool::next(size_t thread, Entry& entry) NO_THREAD_SAFETY_ANALYSIS {
  MutexLock lock(mutex_);
  running_[thread].reset();
  changed_.notify_all();
  changed_.wait(lock, [this]() NO_THREAD_SAFETY_ANALYSIS { return stopped_ || !waiting_.empty(); });
  if (stopped_) return false;
  entry = std::move(waiting_.front());
  waiting_.pop_front();
  running_[thread] = entry.source;
  return true;
}

void WorkPool::work(size_t thread) {
  ::pthread_setname_np(::pthread_self(), "query");
  // Of this thread alone, as Linux has it.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), options_.niceness);
  Entry entry;
  while (next(thread, entry)) {
    if (!entry.source.stop_requested()) entry.job(entry.source.get_token());
    entry.job = {};  // what it holds goes before the thread counts as idle
    give_back_memory();
  }
}

}  // namespace gpusight::serve
