// What writes history, without its thread: takes ticks and events, commits them, keeps the database
// in shape, and says why when it cannot.
//
// Faults. Where something fails nothing is recorded, status() says why, it is logged once, and it
// is tried again after 5 s, then twice as long each time up to a minute. What was taken in the
// meantime is kept for some minutes and committed when it is well again; what does not fit is
// counted. A file that is damaged or no database of ours is set aside as FILE.damaged (an older one
// of that name is replaced) and a new one begun. A file of a newer gpusight stays as it is, and
// nothing is recorded until the next start. A file that was removed or replaced under us is let go
// of.
//
// Not thread-safe. Time is that of the ticks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "model/event.h"
#include "model/snapshot.h"
#include "store/chunk_table.h"
#include "store/clock_guard.h"
#include "store/read_session.h"
#include "store/retention.h"
#include "store/row_buffer.h"
#include "store/series_directory.h"

namespace gpusight::store {

class Recorder {
 public:
  struct Options {
    std::string path;  // of the database
    Duration commit_interval = std::chrono::seconds(10);
    Retention retention;
    size_t max_series = 100000;
    std::shared_ptr<ReadPool> readers;  // told when the file is another one
  };
  explicit Recorder(Options options);

  // Tries to open the database; status() tells.
  void open();
  void take(const model::Snapshot& snapshot);
  void take(model::Event event);
  // One step of what can wait: merging, rolling up, letting go of what is old. False when nothing
  // is left to do for now.
  bool tidy();
  // Commits what was taken, if it can be.
  void commit_all();
  void close() { session_.reset(); }

  // Ok while recording, else why not.
  const Status& status() const { return disk_.ok() ? believed_ : disk_; }
  uint64_t refused_series() const { return buffer_.refused_series(); }
  uint64_t dropped_samples() const { return buffer_.dropped_samples(); }
  uint64_t dropped_events() const { return dropped_events_; }
  uint64_t last_event_id() const { return last_event_id_; }
  std::optional<int64_t> committed_until_ms() const { return committed_until_ms_; }

 private:
  struct Session {
    std::unique_ptr<Db> db;
    std::optional<SeriesDirectory> directory;
    std::optional<ChunkLoader> loader;
    uint64_t device = 0;  // of the file
    uint64_t inode = 0;
    bool was_rolled_back = false;  // the directory may have numbers that were not written
  };

  Status try_open();
  Status open_session();
  bool ensure_open();
  Status reload_directory();
  bool is_commit_due(Duration interval) const;
  void commit();
  Status write(Session& session);
  Status write_group(Session& session, const GroupKey& key, const RowGroup& group);
  Status write_rows(Session& session, int64_t group, std::span<const int64_t> times_ms,
                    std::span<const ColumnToPack> columns);
  void fail(const Status& why);
  void well_again();
  // A damaged database is set aside; a new one is begun with the next try, which may be now.
  void set_aside(const Status& why);
  bool is_file_ours() const;

  const Options options_;
  RowBuffer buffer_;
  std::vector<model::Event> events_;
  ClockGuard clock_;
  log::FaultLog faults_;
  ChunkEncoder encoder_;
  PackedChunk packed_;
  ChunkBytes bytes_;

  std::unique_ptr<Session> session_;
  Status disk_;            // why nothing can be written
  Status believed_;        // why the clock is not
  bool given_up_ = false;  // until the next start
  Duration retry_after_{};
  MonoTime now_{};
  MonoTime retry_at_{};
  MonoTime committed_at_{};
  MonoTime tidied_at_{};
  std::optional<int64_t> committed_until_ms_;
  uint64_t last_event_id_ = 0;
  uint64_t dropped_events_ = 0;
};

}  // namespace gpusight::store
