// Completion scripts. They list words only: nothing is run while the user types.
#include <algorithm>

#include "base/text.h"
#include "config/documents.h"
#include "config/option.h"

namespace gpusight::config {
namespace {

// How a shell should complete an option's value.
enum class Values : uint8_t { kNone, kFree, kFiles, kFolders, kWords };

Values values_of(const OptionRow& row) {
  if (row.type == OptionType::kBool) return Values::kNone;
  if (row.type == OptionType::kPath) {
    return row.value_name == "DIR" ? Values::kFolders : Values::kFiles;
  }
  return row.choices.empty() ? Values::kFree : Values::kWords;
}

std::string words_of(const CommandRow& row) {
  if (row.id != CommandId::kHelp) return std::string(row.words);
  std::string names;
  for (const std::string_view name : listed_command_names()) {
    names += (names.empty() ? "" : " ") + std::string(name);
  }
  return names;
}

std::string flags_of(const CommandRow& row) {
  std::string flags = "--help";
  for (const OptionRow& o : kOptions) {
    if (takes(row.id, o)) flags += " --" + std::string(o.flag);
  }
  return flags;
}

std::string flag_pattern(const OptionRow& row) {
  std::string pattern = "--" + std::string(row.flag);
  if (row.letter != 0) pattern += std::string("|-") + row.letter;
  return pattern;
}

// Text inside single quotes of zsh and fish.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? "’" : std::string(1, c);
  return out;
}

std::string bash() {
  std::string out =
      "# bash completion for gpusight\n"
      "_gpusight() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n"
      "      --) _command_offset $((i + 1)) 2>/dev/null; return ;;\n"
      "      -*) ;;\n"
      "      *) [[ -z $command ]] && command=${COMP_WORDS[i]} ;;\n"
      "    esac\n"
      "  done\n"
      "  case $prev in\n";
  for (const OptionRow& row : kOptions) {
    const std::string head = "    " + flag_pattern(row) + ") ";
    const std::string words(row.choices);
    switch (values_of(row)) {
      case Values::kNone: break;
      // An optional value: the flags of the command are offered as well.
      case Values::kFree: out += row.implied.empty() ? head + "return ;;\n" : ""; break;
      case Values::kFiles:
        out += head + "COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n";
        break;
      case Values::kFolders:
        out += head + "COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n";
        break;
      case Values::kWords:
        out.append(head).append("COMPREPLY=($(compgen -W '").append(words);
        out += "' -- \"$cur\")); return ;;\n";
        break;
    }
  }
  std::string names;
  for (const std::string_view name : listed_command_names()) names += std::string(name) + " ";
  out += "  esac\n  local words=''\n  case $command in\n    '') words='" + names +
         "--help --version' ;;\n";
  for (const CommandRow& row : commands()) {
    if (row.listed == Listed::kNo) continue;
    const std::string own = words_of(row);
    out += "    " + std::string(row.name) + ") words='" + (own.empty() ? "" : own + " ") +
           flags_of(row) + "' ;;\n";
  }
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -F _gpusight gpusight\n";
}

std::string zsh_argument(const OptionRow& row) {
  std::string spec = "--" + std::string(row.flag);
  std::string text;
  for (const char c : quoted(row.help.en)) {
    if (c == '[' || c == ']' || c == ':') text += '\\';
    text += c;
  }
  const Values values = values_of(row);
  if (values != Values::kNone) spec += "=";
  spec += "[" + text + "]";
  const std::string value = ":" + std::string(row.value_name);
  switch (values) {
    case Values::kNone: break;
    case Values::kFree: spec += (row.implied.empty() ? "" : ":") + value + ":"; break;
    case Values::kFiles: spec += value + ":_files"; break;
    case Values::kFolders: spec += value + ":_files -/"; break;
    case Values::kWords: spec += value + ":(" + std::string(row.choices) + ")"; break;
  }
  return "'" + spec + "'";
}

std::string zsh() {
  std::string out =
      "#compdef gpusight\n"
      "_gpusight() {\n"
      "  local curcontext=$curcontext state line\n"
      "  _arguments -C '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n      local -a names\n      names=(\n";
  for (const CommandRow& row : commands()) {
    if (row.listed == Listed::kNo) continue;
    out += "        '" + std::string(row.name) + ":" + quoted(row.brief.en) + "'\n";
  }
  out += "      )\n      _describe command names ;;\n    argument)\n      case $line[1] in\n";
  for (const CommandRow& row : commands()) {
    if (row.listed == Listed::kNo) continue;
    out += "        " + std::string(row.name) + ") _arguments";
    const std::string words = words_of(row);
    if (!words.empty()) out += " '1:argument:(" + words + ")'";
    if (row.rest == Rest::kCommand) out += " '*::command:_normal'";
    out += " '--help[Tell what the command does and takes.]'";
    for (const OptionRow& o : kOptions) {
      if (takes(row.id, o)) out += " " + zsh_argument(o);
    }
    out += " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\n_gpusight \"$@\"\n";
}

std::string fish() {
  std::string out = "# fish completion for gpusight\ncomplete -c gpusight -f\n";
  for (const CommandRow& row : commands()) {
    if (row.listed == Listed::kNo) continue;
    const std::string name(row.name);
    out += "complete -c gpusight -n __fish_use_subcommand -a " + name + " -d '" +
           quoted(row.brief.en) + "'\n";
    const std::string seen = "complete -c gpusight -n '__fish_seen_subcommand_from " + name + "'";
    const std::string words = words_of(row);
    if (!words.empty()) out.append(seen).append(" -a '").append(words).append("'\n");
    out += seen + " -l help -s h\n";
    for (const OptionRow& o : kOptions) {
      if (!takes(row.id, o)) continue;
      out += seen + " -l " + std::string(o.flag);
      if (o.letter != 0) out += std::string(" -s ") + o.letter;
      const Values values = values_of(o);
      if (values == Values::kFree && o.implied.empty()) out += " -x";
      if (values == Values::kFiles) out += " -r -F";
      if (values == Values::kFolders) out += " -x -a '(__fish_complete_directories)'";
      if (values == Values::kWords) out += " -x -a '" + std::string(o.choices) + "'";
      out += " -d '" + quoted(o.help.en) + "'\n";
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> completions(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  return std::nullopt;
}

}  // namespace gpusight::config
