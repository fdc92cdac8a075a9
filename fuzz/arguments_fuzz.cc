// /proc/PID/cmdline: a program chooses what stands there.
#include <cstdint>
#include <string>
#include <string_view>

#include "attribute/masked_arguments.h"
#include "base/check.h"
#include "base/text.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string shown = attribute::masked_arguments(text);
  CHECK(shown.size() <= attribute::kMaxArgumentsBytes, "arguments without a bound");
  CHECK(clean_text(shown, shown.size()) == shown, "arguments that were not cleaned");
  return 0;
}
