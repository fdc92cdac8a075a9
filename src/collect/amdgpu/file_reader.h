// Reads a device's files and knows why one gives nothing. One object belongs to one lane and is
// used from its thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "collect/source.h"
#include "model/value.h"
#include "platform/pci.h"
#include "platform/root_fs.h"

namespace gpusight::collect::amdgpu {

class FileReader {
 public:
  static constexpr size_t kMostBytes = 16384;  // longer files are cut there
  // `root` outlives it.
  explicit FileReader(const platform::RootFs& root) : root_(root) {}

  // A new poll begins.
  void start() {
    reads_ = 0;
    was_refused_ = false;
  }

  // nullopt: reason() says why. Text ends at its first NUL: files that were copied may be padded.
  std::optional<std::string_view> text(const std::string& path, size_t limit = kMostBytes);
  std::optional<double> number(const std::string& path);
  // Bytes as they are.
  std::optional<std::string_view> bytes(const std::string& path, size_t limit = kMostBytes);
  platform::RuntimeStatus runtime_status(const std::string& folder);

  // Of the last read that gave nothing.
  model::Reason reason() const { return reason_; }
  // What was read makes no sense: logged once for this file, and reason() is driver_error.
  void not_understood(const std::string& path, std::string_view what);
  void understood(const std::string& path) { faults_.clear(path); }

  // Since start(): files opened, and whether one of them refused. Every attribute that we read may
  // be read by anybody, so that a refusal means a device that fell asleep under our hands.
  unsigned reads() const { return reads_; }
  bool was_refused() const { return was_refused_; }

 private:
  const platform::RootFs& root_;
  log::FaultLog faults_;
  std::string buffer_;
  model::Reason reason_ = model::Reason::kUnknown;
  unsigned reads_ = 0;
  bool was_refused_ = false;
};

}  // namespace gpusight::collect::amdgpu
