// The commands of gpusight: one row each. Command line, --help, manual page and completions are
// made from the rows. Constant data, any thread.
//
// To add a command: an enumerator here, a row in commands.cc at the same place, the options it
// takes in option.h, and a file under src/cli that does it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/metric.h"

namespace gpusight::config {

enum class CommandId : uint8_t {
  kStatus,
  kServe,
  kWho,
  kQuery,
  kHistory,
  kMetrics,
  kRelease,
  kSelftest,
  kSim,
  kCompletions,
  kHelp,
  kVersion,
  kGenerate,
  kCount,
};

// What a command line that names no command means.
inline constexpr CommandId kDefaultCommand = CommandId::kStatus;

// The scenarios that the simulated machine has built in, by spaces.
inline constexpr std::string_view kBuiltinScenarios = "h100-training rtx4090-desktop a100-mig";

// A set of commands, for the options that several take.
using CommandSet = uint32_t;
constexpr CommandSet set_of(CommandId id) { return CommandSet{1} << static_cast<uint8_t>(id); }
inline constexpr CommandSet kEveryCommand = ~CommandSet{0};

// Whether the words after "--" are another program's command line, passed on untouched.
enum class Rest : uint8_t { kNone, kCommand };
enum class Listed : uint8_t { kYes, kNo };

struct Example {
  std::string_view command_line;
  catalog::Text what;
};

struct CommandRow {
  CommandId id;
  std::string_view name;
  std::string_view synopsis;  // its arguments as usage shows them: "SCENARIO -- COMMAND"
  size_t min_arguments = 0;
  size_t max_arguments = 0;
  std::string_view words = {};  // what its argument may be, by spaces; for completion and checking
  Rest rest = Rest::kNone;
  Listed listed = Listed::kYes;
  catalog::Text brief;  // a line of the list of commands
  catalog::Text help;   // a paragraph
  std::span<const Example> examples = {};
};

std::span<const CommandRow> commands();
const CommandRow& command(CommandId id);
const CommandRow* find_command(std::string_view name);  // nullptr if there is none
std::vector<std::string_view> listed_command_names();

}  // namespace gpusight::config
