// Help for people, from the tables of commands and options. Pure; any thread.
#pragma once

#include <string>

#include "config/option.h"

namespace gpusight::config {

struct HelpOptions {
  catalog::Lang lang = catalog::Lang::kEnglish;
  size_t width = 80;  // columns; kept between 40 and 100 for the eye
  std::string_view version;
};

// All commands in a line each.
std::string overview_help(const HelpOptions& options);
std::string command_help(CommandId id, const HelpOptions& options);

// "-i, --interval DURATION"; without the letter's place when it has none.
std::string flag_text(const OptionRow& row);
// "default 1s, 100ms to 1m"; empty if there is nothing to tell.
std::string value_notes(const OptionRow& row, catalog::Lang lang);

}  // namespace gpusight::config
