// The command line: words separated by line breaks, after a first line of environment variables
// separated by tabs. Any of it is either a Config or an error for the user.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "config/config.h"
#include "config/help.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpusight;
  using namespace gpusight::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  LoadInput input;
  input.read_file = [](const std::string& path) -> Result<std::string> {
    return Status(Code::kNotFound, path + ": no such file");
  };
  bool is_environment = true;
  for (const std::string_view line : split(text, '\n')) {
    if (!std::exchange(is_environment, false)) {
      input.words.emplace_back(line);
      continue;
    }
    for (const std::string_view variable : split(line, '\t')) {
      const size_t equals = variable.find('=');
      if (equals == std::string_view::npos) continue;
      input.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
    }
  }
  const Result<Config> config = Config::load(input);
  if (!config.ok()) {
    CHECK(config.status().code() == Code::kInvalidArgument, config.status().message());
    CHECK(is_valid_utf8(config.status().message()), "an error is clean text");
    return 0;
  }
  for (const OptionRow& row : kOptions) {
    const Origin& origin = config->origin(row.id);
    CHECK((origin.kind == OriginKind::kDefault) == origin.where.empty(), row.flag);
  }
  CHECK(!command_help(config->command(), {.lang = config->lang()}).empty(), "help");
  return 0;
}
