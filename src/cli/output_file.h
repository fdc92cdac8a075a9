// Where a long text goes: standard output, or a file that is replaced only when all is written.
// Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "cli/io.h"

namespace gpusight::cli {

class OutputFile {
 public:
  // An empty path is standard output. What is no regular file (a pipe, a device) is written to as
  // it is. `io` outlives it.
  static Result<OutputFile> open(const std::string& path, Io& io);
  OutputFile(OutputFile&&) = default;
  // Without finish(): the new file goes, what was there stays.
  ~OutputFile();

  // False when it could not be written: status() says why, unless it was standard output.
  bool write(std::string_view text);
  // Puts the new file in the place of the old one.
  Status finish();
  const Status& status() const { return status_; }

 private:
  OutputFile(Io& io, std::string path) : io_(&io), path_(std::move(path)) {}
  Status failure(int error) const;

  Io* io_;
  std::string path_;
  std::string unfinished_;  // empty: written to where it belongs
  UniqueFd fd_;
  Status status_;
};

}  // namespace gpusight::cli
