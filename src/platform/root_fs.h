// Everything of the kernel is read below a root path: "/" on a real machine, a folder of files in a
// test. Paths given are absolute ("/sys/class/hwmon") and stay below the root. Cheap to copy; every
// call is thread-safe.
//
// Files of /proc and /sys lie about their size and may be gone, unreadable (EACCES), broken (EIO),
// a directory or empty: all of it is an error value here, never a crash.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpusight::platform {

class RootFs {
 public:
  explicit RootFs(std::string root = "/") : root_(std::move(root)) {}

  // A test's hand between us and the kernel: what it returns for a path is what read() gives,
  // nullopt lets the file itself answer. Shared by copies of this RootFs.
  using Intercept = std::function<std::optional<Result<std::string>>(std::string_view path)>;
  void intercept_for_testing(Intercept intercept) {
    intercept_ = std::make_shared<const Intercept>(std::move(intercept));
  }

  const std::string& root() const { return root_; }
  bool is_real() const { return root_ == "/"; }
  // The path as the operating system knows it.
  std::string real_path(std::string_view path) const;

  // At most `limit` bytes; longer files are cut there.
  Result<std::string> read(std::string_view path, size_t limit = 1 << 20) const;
  // Reads into `buffer`, reusing its memory: for what is read every second.
  Status read_into(std::string_view path, std::string& buffer, size_t limit = 1 << 20) const;
  // The file's text without surrounding white space, up to its first NUL (copies of kernel files
  // may be padded); nullopt if it cannot be read.
  std::optional<std::string> read_trimmed(std::string_view path, size_t limit = 4096) const;
  std::optional<int64_t> read_int(std::string_view path) const;
  std::optional<uint64_t> read_hex(std::string_view path) const;

  // Names in a directory, sorted as people count: card2 before card10. Empty if there is none.
  std::vector<std::string> list(std::string_view path) const;
  bool exists(std::string_view path) const;
  // The last part of where a symbolic link points ("nvidia" of …/driver); nullopt if it is none.
  std::optional<std::string> link_name(std::string_view path) const;
  // The path without any link in it, below the root as all paths are; nullopt if it is not there or
  // leads out of the root.
  std::optional<std::string> resolve(std::string_view path) const;
  // The whole text of the link.
  std::optional<std::string> link_target(std::string_view path) const;

 private:
  std::string root_;
  std::shared_ptr<const Intercept> intercept_;
};

// True if a comes before b when runs of digits are compared as numbers.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace gpusight::platform
