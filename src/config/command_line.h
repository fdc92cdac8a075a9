// The words of a command line, sorted into command, options and arguments. Pure; any thread.
//
// `--flag value`, `--flag=value`, `-f value`, `-fvalue`; options may stand before or after the
// command; "--" ends them. Lists add up when their option is repeated, of everything else the last
// one counts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/command.h"
#include "config/option.h"

namespace gpusight::config {

struct GivenOption {
  OptionValue value;
  std::string flag;  // as it was written: "--interval", "-i"
};

struct CommandLine {
  CommandId command = kDefaultCommand;
  bool command_named = false;
  bool help = false;  // --help or -h: tell about the command instead of doing it
  std::vector<std::string> arguments;
  std::vector<std::string> rest;  // after "--" of a command that runs another program
  std::vector<std::optional<GivenOption>> options{kOptionCount};
};

// `words` is argv without the program's name. Errors are for the user, in `lang`.
Result<CommandLine> parse_command_line(std::span<const std::string> words, catalog::Lang lang);

}  // namespace gpusight::config
