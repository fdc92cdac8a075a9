#include "base/check.h"

#include <execinfo.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace gpusight {

void bug(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "BUG: %s:%d: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  std::abort();
}

}  // namespace gpusight
