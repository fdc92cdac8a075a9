// Files of /proc: a process chooses its own name, so anything may stand there.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "platform/proc.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto stat = platform::parse_proc_stat(text); stat.ok()) {
    CHECK(is_valid_utf8(stat->comm), "a name that was not cleaned");
  }
  (void)platform::parse_proc_status(text);
  return 0;
}
