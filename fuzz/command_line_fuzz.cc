// A command line: its words stand one a line.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "config/command_line.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> words;
  for (const std::string_view word : split({reinterpret_cast<const char*>(data), size}, '\n')) {
    words.emplace_back(word);
  }
  const auto line = config::parse_command_line(words, catalog::Lang::kEnglish);
  if (!line.ok()) CHECK(!line.status().message().empty(), "refused without a word");
  return 0;
}
