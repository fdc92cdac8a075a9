// Documents made from the tables of commands and options; the committed ones are compared with
// these by a test. English. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpusight::config {

std::string reference_markdown();                   // docs/reference/config.md
std::string manual_page(std::string_view version);  // gpusight.1, for man(7)

// The script that teaches a shell to complete our command lines: "bash", "zsh" or "fish"; nullopt
// for another name.
std::optional<std::string> completions(std::string_view shell);

}  // namespace gpusight::config
