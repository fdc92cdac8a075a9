// The configuration file, in both languages.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "config/toml_file.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto english = config::parse_toml_file(text, "f", catalog::Lang::kEnglish);
  const auto chinese = config::parse_toml_file(text, "f", catalog::Lang::kChinese);
  CHECK(english.ok() == chinese.ok(), "one language takes what the other refuses");
  if (!english.ok()) CHECK(!english.status().message().empty(), "refused without a word");
  return 0;
}
