#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace gpusight::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
    case Level::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("gpusight", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    made.flush_on(spdlog::level::info);
    return made;
  }();
  return instance;
}

}  // namespace

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

void write(Level level, std::string_view text) {
  logger().log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

void FaultLog::report(std::string_view key, std::string_view text) {
  MutexLock lock(mutex_);
  const auto it = last_.find(key);
  if (it != last_.end() && it->second == text) return;
  last_.insert_or_assign(std::string(key), std::string(text));
  warning("{}: {}", key, text);
}

void FaultLog::clear(std::string_view key) {
  MutexLock lock(mutex_);
  const auto it = last_.find(key);
  if (it == last_.end()) return;
  last_.erase(it);
  info("{}: well again", key);
}

}  // namespace gpusight::log
