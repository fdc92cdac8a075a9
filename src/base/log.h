// Log lines for the operator, on standard error. Thread-safe.
//
// A log line is for people who run the program; what a user of a view reads is a message of the
// catalogue. A fault is logged once per source and again when it changes: use FaultLog.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>

#include "base/annotations.h"

namespace gpusight::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

void set_level(Level level);
void write(Level level, std::string_view text);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}

// Remembers what was last said per key; says it again only when the text changes.
class FaultLog {
 public:
  void report(std::string_view key, std::string_view text) EXCLUDES(mutex_);
  // The fault is over: logs "KEY: well again" if one was reported.
  void clear(std::string_view key) EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::map<std::string, std::string, std::less<>> last_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::log
