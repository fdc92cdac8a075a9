// Recorded history: everything sampled and everything that happened, in one database of the state
// directory (FORMAT.md), read as a model::Queryable.
//
// Nothing here ever fails sampling: where history cannot be written, stats().recording says why, it
// is tried again, and queries answer from what there is (recorder.h says what happens when).
//
// Threads: append() and append_event() hand over to a thread of history's own and never wait; where
// that has fallen behind by as much as its queue holds, what comes is dropped and counted.
// Everything else may be called from any thread; reading opens connections of its own and disturbs
// nobody. A tick appended is on disk after at most the commit interval; what queries do not find on
// disk yet they find in the head.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/event.h"
#include "model/queryable.h"
#include "model/snapshot.h"
#include "store/event_log.h"
#include "store/head.h"
#include "store/retention.h"
#include "store/state_lock.h"
#include "store/tiers.h"

namespace gpusight::store {

struct HistoryStats {
  Status recording;  // why not, unless ok
  std::string path;
  uint64_t bytes = 0;  // of the database and its -wal on disk
  uint64_t series = 0;
  uint64_t events = 0;
  std::optional<int64_t> committed_until_ms;
  struct OfTier {
    std::string_view name;
    int64_t resolution_ms = 0;
    uint64_t chunks = 0;
    uint64_t packed_bytes = 0;
    int64_t first_ms = 0;  // meaningful with chunks
    int64_t last_ms = 0;
  };
  std::array<OfTier, kTierCount> tiers;
  uint64_t dropped_ticks = 0;    // the queue was full
  uint64_t dropped_events = 0;   // the same, or not recording for long
  uint64_t dropped_samples = 0;  // overruled by a clock set back, or not recording for long
  uint64_t refused_series = 0;   // readings of series beyond the limit
  uint64_t damaged_reads = 0;    // chunks that queries left out
};

// What check() found wrong; empty lists and an ok status are a sound database.
struct HistoryCheck {
  uint64_t chunks = 0;
  uint64_t columns = 0;
  uint64_t samples = 0;
  std::vector<std::string> faults;  // at most 100, each naming its place
};

// A sample with all that is known: a number, or the reason why there is none.
struct RecordedSample {
  int64_t time_ms = 0;
  std::optional<double> number;
  model::Reason reason = model::Reason::kUnknown;  // meaningful without a number
};

class History {
 public:
  struct Options {
    const StateLock* lock = nullptr;  // held for as long as history is open
    std::string file = "history.db";  // inside its directory
    Duration commit_interval = std::chrono::seconds(10);
    Retention retention;
    size_t max_series = 100000;
    size_t queue = 120;          // ticks and events
    const Head* head = nullptr;  // what queries see beside the disk; outlives history
  };

  // Always gives one; stats().recording tells whether it records. Opens the database and starts the
  // thread.
  static std::unique_ptr<History> open(Options options);
  // Without having been closed: as a crash.
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void append(model::SnapshotPtr snapshot);
  void append_event(model::Event event);

  // Whether everything appended so far has been taken and nothing is being tidied up.
  bool is_idle() const;
  // The newest tick that is on disk for good; nullopt while there is none.
  std::optional<int64_t> committed_until_ms() const;

  const model::Queryable& queryable() const;
  HistoryStats stats() const;
  // Recorded events, as EventLog::find(). Those of the last seconds may not be there yet.
  Result<std::vector<model::Event>> events(const EventFilter& filter) const;
  uint64_t last_event_id() const;  // on opening

  // Reads everything; takes seconds on a large database and disturbs nobody.
  Result<HistoryCheck> check() const;
  // Raw samples of the matching series with start < time <= end, series by series in label order
  // and in time order, with the reasons of absent ones. Ends early when `visit` returns false.
  // Damaged chunks are left out; kCorrupt says so once all others were visited.
  using Visit = std::function<bool(const model::Labels&, std::span<const RecordedSample>)>;
  Status for_each_sample(std::span<const model::Matcher> matchers, int64_t start_ms, int64_t end_ms,
                         const Visit& visit) const;

  // Commits what was appended and closes the database. False when that took longer than `patience`:
  // the disk is stuck, and with it a thread that still uses the lock and the head, so the process
  // must leave by _exit.
  bool close(Duration patience);

 private:
  struct Shared;
  explicit History(Options options);

  const Options options_;
  std::shared_ptr<Shared> shared_;
  bool is_closed_ = false;
};

}  // namespace gpusight::store
