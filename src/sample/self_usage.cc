#include "sample/self_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "platform/root_fs.h"

namespace gpusight::sample {

Board::SelfReadings read_self_usage() {
  Board::SelfReadings self;
  rusage usage{};
  const auto statm = platform::RootFs().read_trimmed("/proc/self/statm");
  if (::getrusage(RUSAGE_SELF, &usage) != 0 || !statm) return self;
  const auto words = split_words(*statm);
  const auto pages = words.size() > 1 ? parse_uint(words[1]) : std::nullopt;
  if (!pages) return self;
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  self.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  self.resident_bytes = static_cast<double>(*pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  self.known = true;
  return self;
}

}  // namespace gpusight::sample
