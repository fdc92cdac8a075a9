#include "collect/nvml/descriptor_limit.h"

#include <sys/resource.h>

namespace gpusight::collect::nvml {

std::optional<uint64_t> lower_descriptor_limit(uint64_t most) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= most) return std::nullopt;
  const uint64_t before = limit.rlim_cur;
  limit.rlim_cur = most;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return before;
}

}  // namespace gpusight::collect::nvml
