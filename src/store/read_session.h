// Connections for readers: each query gets one of its own, with its own view of the database, so
// that no query waits for another or for the writer, and the writer for none.
//
// ReadPool is thread-safe; a ReadSession belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/annotations.h"
#include "base/result.h"
#include "store/chunk_table.h"
#include "store/schema.h"

namespace gpusight::store {

// A connection inside a read transaction: the database as it was when the session began.
class ReadSession {
 public:
  static Result<std::unique_ptr<ReadSession>> open(const std::string& path, Db::Mode mode);

  Status begin();
  void end();  // lets the writer reuse what this view held

  Db& db() { return *db_; }
  ChunkLoader& chunks() { return *chunks_; }
  // The newest tick on disk, in this view; nullopt when nothing was committed yet.
  std::optional<int64_t> committed_until_ms() const { return committed_until_ms_; }

 private:
  explicit ReadSession(std::unique_ptr<Db> db) : db_(std::move(db)) {}

  std::unique_ptr<Db> db_;
  std::optional<ChunkLoader> chunks_;
  std::optional<Transaction> transaction_;
  std::optional<int64_t> committed_until_ms_;
};

class ReadPool : public std::enable_shared_from_this<ReadPool> {
 public:
  explicit ReadPool(std::string path) : path_(std::move(path)) {}

  // Gives the session back when it is destroyed.
  class Lease {
   public:
    Lease(std::shared_ptr<ReadPool> pool, std::unique_ptr<ReadSession> session, uint64_t generation)
        : pool_(std::move(pool)), session_(std::move(session)), generation_(generation) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    ReadSession* operator->() const { return session_.get(); }
    ReadSession& operator*() const { return *session_; }

   private:
    std::shared_ptr<ReadPool> pool_;
    std::unique_ptr<ReadSession> session_;
    uint64_t generation_;
  };

  // A session that has begun. kNotFound while there is no database.
  Result<Lease> take() EXCLUDES(mutex_);
  // The file at the path is another one now: connections to the old one are not given out again.
  void forget_file() EXCLUDES(mutex_);
  // For a state directory that may not be written.
  void set_mode(Db::Mode mode) EXCLUDES(mutex_);

 private:
  void give_back(std::unique_ptr<ReadSession> session, uint64_t generation) EXCLUDES(mutex_);

  const std::string path_;
  Mutex mutex_;
  Db::Mode mode_ GUARDED_BY(mutex_) = Db::Mode::kRead;
  uint64_t generation_ GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<ReadSession>> idle_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::store
