// A command line: its words stand one a line.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "config/config.h"
#include "config/help.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  config::LoadInput input;
  input.read_file = [](const std::string& path) -> Result<std::string> {
    return Status(Code::kNotFound, path + ": no such file");
  };
  for (const std::string_view word : split({reinterpret_cast<const char*>(data), size}, '\n')) {
    if (!word.empty()) input.words.emplace_back(word);
  }
  const auto config = config::Config::load(input);
  if (!config.ok()) {
    CHECK(!config.status().message().empty(), "refused without a word");
    CHECK(is_valid_utf8(config.status().message()), "an error is clean text");
    return 0;
  }
  for (const config::OptionRow& row : config::kOptions) {
    const config::Origin& origin = config->origin(row.id);
    CHECK((origin.kind == config::OriginKind::kDefault) == origin.where.empty(), row.flag);
  }
  CHECK(!config::command_help(config->command(), {.lang = config->lang()}).empty(), "no help");
  return 0;
}
