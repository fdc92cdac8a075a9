// The lock on a state directory: who holds it owns what is remembered there, and nobody else writes
// the database of history. The kernel lets go of it when the process ends, however it ends.
//
// flock on DIRECTORY/LOCK. Movable; not thread-safe.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace gpusight::store {

class StateLock {
 public:
  // Makes the directory where it is missing. kUnavailable when another process holds the lock,
  // which is told apart from every other failure: kPermissionDenied or kIo when the directory
  // cannot be had at all.
  static Result<StateLock> take(const std::string& directory);

  const std::string& directory() const { return directory_; }

 private:
  StateLock(std::string directory, UniqueFd file)
      : directory_(std::move(directory)), file_(std::move(file)) {}
  std::string directory_;
  UniqueFd file_;
};

}  // namespace gpusight::store
