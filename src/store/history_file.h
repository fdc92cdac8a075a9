// Recorded history of a file that this process does not write: what a command reads beside a
// running daemon, or where none runs. It needs no lock and never writes, so that a directory that
// may only be read will do.
//
// What the daemon has not committed yet (at most its commit interval) is not there. Where nobody
// has the database open and the directory cannot be written, the file is read as one that nobody
// changes: a daemon that starts meanwhile may make such a reading fail.
//
// Thread-safe: each call reads through a connection of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/history.h"
#include "store/history_read.h"

namespace gpusight::store {

class HistoryFile {
 public:
  // kNotFound: there is no such file. kPermissionDenied, kCorrupt, kUnsupported: as it says.
  static Result<std::unique_ptr<HistoryFile>> open(const std::string& path);

  const model::Queryable& queryable() const { return reader_; }
  // What the file tells: recording is ok, and nothing is dropped.
  Result<HistoryStats> stats() const;
  // As those of History.
  Result<HistoryCheck> check() const;
  Status for_each_sample(std::span<const model::Matcher> matchers, int64_t start_ms, int64_t end_ms,
                         const History::Visit& visit) const;

 private:
  explicit HistoryFile(std::string path)
      : path_(std::move(path)),
        readers_(std::make_shared<ReadPool>(path_)),
        reader_(readers_, nullptr) {}

  const std::string path_;
  std::shared_ptr<ReadPool> readers_;
  HistoryReader reader_;
};

// Who writes into a state directory, as far as this process may know.
enum class Writer : uint8_t { kNobody, kSomebody, kUnknown };
// Holds the lock for an instant, shared with others who only look.
Writer writer_of(const std::string& directory);

// The databases of history that lie in a directory: "history.db", …; sorted.
std::vector<std::string> history_files(const std::string& directory);

}  // namespace gpusight::store
