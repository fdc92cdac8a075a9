// A file of /proc or /sys that is read again and again: kept open, because the kernel makes its
// text at each reading, and finding and opening it costs as much as the text.
//
// Below a fixture's root, whose files are replaced by others, it is opened anew each time. One
// thread at a time.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "platform/root_fs.h"

namespace gpusight::platform {

class KeptFile {
 public:
  // `root` outlives it.
  KeptFile(const RootFs& root, std::string path) : root_(root), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // As RootFs::read_into. After a failure (a device that went away) the next call opens it again.
  Status read_into(std::string& buffer);

 private:
  const RootFs& root_;
  std::string path_;
  UniqueFd fd_;
};

}  // namespace gpusight::platform
