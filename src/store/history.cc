#include "store/history.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <thread>
#include <utility>
#include <variant>

#include "base/annotations.h"
#include "base/bounded_queue.h"
#include "store/event_table.h"
#include "store/history_check.h"
#include "store/history_read.h"
#include "store/recorder.h"

namespace gpusight::store {
namespace {

using Item = std::variant<model::SnapshotPtr, model::Event>;

}  // namespace

// What the writer's thread shares with everyone. The thread holds it too, so that one that is stuck
// in the disk has what it uses for as long as it lives.
struct History::Shared {
  Shared(const Options& options, std::shared_ptr<ReadPool> pool, std::string path)
      : queue(options.queue),
        readers(std::move(pool)),
        reader(readers, options.head),
        recorder({.path = std::move(path),
                  .commit_interval = options.commit_interval,
                  .retention = options.retention,
                  .max_series = options.max_series,
                  .readers = readers}) {}

  void run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "history");
    while (std::optional<Item> item = queue.pop(stop)) {
      take(std::move(*item));
      // What can wait does as long as there is something to take.
      while (queue.size() == 0 && !stop.stop_requested() && recorder.tidy()) publish();
      ++finished;
    }
    while (std::optional<Item> item = queue.try_pop()) take(std::move(*item));
    if (!is_abandoned()) recorder.commit_all();
    publish();
    // Nobody uses the files any more once the owner is told. The one that writes goes last: it
    // alone puts the -wal into the database.
    readers->forget_file();
    recorder.close();
    {
      MutexLock lock(mutex);
      has_ended = true;
    }
    ended.notify_all();
  }

  // False when the queue is full.
  bool push(Item item) {
    ++accepted;
    if (queue.push(std::move(item))) return true;
    --accepted;
    return false;
  }

  void take(Item item) {
    if (auto* event = std::get_if<model::Event>(&item)) {
      recorder.take(std::move(*event));
    } else {
      recorder.take(*std::get<model::SnapshotPtr>(item));
    }
    publish();
  }

  void publish() EXCLUDES(mutex) {
    MutexLock lock(mutex);
    stats.recording = recorder.status();
    stats.committed_until_ms = recorder.committed_until_ms();
    stats.refused_series = recorder.refused_series();
    stats.dropped_samples = recorder.dropped_samples();
    stats.dropped_events = recorder.dropped_events();
  }

  bool is_abandoned() EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return abandoned;
  }

  BoundedQueue<Item> queue;
  std::shared_ptr<ReadPool> readers;
  HistoryReader reader;
  Recorder recorder;  // the thread's, once it runs

  Mutex mutex;
  std::condition_variable_any ended;
  HistoryStats stats GUARDED_BY(mutex);
  uint64_t dropped_ticks GUARDED_BY(mutex) = 0;
  uint64_t dropped_events GUARDED_BY(mutex) = 0;
  bool has_ended GUARDED_BY(mutex) = false;
  bool abandoned GUARDED_BY(mutex) = false;
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> finished{0};  // and tidied up after, where there was time
  uint64_t last_event_id = 0;
  std::stop_source stop;
};

History::History(Options options) : options_(std::move(options)) {
  const std::string path = options_.lock->directory() + "/" + options_.file;
  shared_ = std::make_shared<Shared>(options_, std::make_shared<ReadPool>(path), path);
}

std::unique_ptr<History> History::open(Options options) {
  std::unique_ptr<History> history(new History(std::move(options)));
  Shared& shared = *history->shared_;
  shared.recorder.open();
  shared.last_event_id = shared.recorder.last_event_id();
  shared.publish();
  std::thread([shared = history->shared_] { shared->run(shared->stop.get_token()); }).detach();
  return history;
}

History::~History() {
  if (is_closed_) return;
  {
    MutexLock lock(shared_->mutex);
    shared_->abandoned = true;
  }
  shared_->stop.request_stop();
  MutexLock lock(shared_->mutex);
  while (!shared_->has_ended) shared_->ended.wait(lock);
}

bool History::close(Duration patience) {
  if (is_closed_) return true;
  shared_->stop.request_stop();
  MutexLock lock(shared_->mutex);
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (!shared_->has_ended) {
    if (shared_->ended.wait_until(lock, give_up) == std::cv_status::timeout) break;
  }
  is_closed_ = true;
  return shared_->has_ended;
}

void History::append(model::SnapshotPtr snapshot) {
  if (shared_->push(std::move(snapshot))) return;
  MutexLock lock(shared_->mutex);
  ++shared_->dropped_ticks;
}

void History::append_event(model::Event event) {
  if (shared_->push(std::move(event))) return;
  MutexLock lock(shared_->mutex);
  ++shared_->dropped_events;
}

bool History::is_idle() const { return shared_->finished == shared_->accepted; }

std::optional<int64_t> History::committed_until_ms() const {
  MutexLock lock(shared_->mutex);
  return shared_->stats.committed_until_ms;
}

const model::Queryable& History::queryable() const { return shared_->reader; }

uint64_t History::last_event_id() const { return shared_->last_event_id; }

HistoryStats History::stats() const {
  HistoryStats stats = stats_of_file(options_.lock->directory() + "/" + options_.file);
  {
    MutexLock lock(shared_->mutex);
    const HistoryStats written = shared_->stats;
    stats.recording = written.recording;
    stats.committed_until_ms = written.committed_until_ms;
    stats.refused_series = written.refused_series;
    stats.dropped_samples = written.dropped_samples;
    stats.dropped_ticks = shared_->dropped_ticks;
    stats.dropped_events = written.dropped_events + shared_->dropped_events;
  }
  stats.damaged_reads = shared_->reader.damaged();
  if (const auto session = shared_->readers->take(); session.ok()) {
    // Where the file cannot be read the figures stay 0, and recording says more.
    const Status counted = count_tables((*session)->db(), stats);
    if (!counted.ok() && stats.recording.ok()) stats.recording = counted;
  }
  return stats;
}

Result<std::vector<model::Event>> History::events(const EventFilter& filter) const {
  const auto session = TRY(shared_->readers->take());
  return find_events(session->db(), filter);
}

Result<HistoryCheck> History::check() const {
  auto session = TRY(shared_->readers->take());
  return check_history(*session);
}

Status History::for_each_sample(std::span<const model::Matcher> matchers, int64_t start_ms,
                                int64_t end_ms, const Visit& visit) const {
  auto session = TRY(shared_->readers->take());
  return visit_samples(*session, matchers, {.start_ms = start_ms, .end_ms = end_ms}, visit);
}

}  // namespace gpusight::store
