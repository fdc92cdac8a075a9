// docs/reference/config.md.
#include "base/text.h"
#include "config/documents.h"
#include "config/help.h"
#include "config/option.h"

namespace gpusight::config {
namespace {

using catalog::Lang;

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// A cell of a Markdown table: the one character that ends it is escaped.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string_view type_text(OptionType type) {
  switch (type) {
    case OptionType::kText: return "text";
    case OptionType::kPath: return "path";
    case OptionType::kChoice: return "choice";
    case OptionType::kBool: return "true or false";
    case OptionType::kDuration: return "duration";
    case OptionType::kInteger: return "whole number";
    case OptionType::kAddresses: return "addresses";
    case OptionType::kWords: return "list of words";
    case OptionType::kMetrics: return "list of metrics";
  }
  return "";
}

std::string command_list(const OptionRow& row) {
  if (row.commands == kEveryCommand) return "every command";
  std::string list;
  for (const CommandRow& c : commands()) {
    if (c.listed == Listed::kYes && takes(c.id, row)) {
      list += (list.empty() ? "" : ", ") + code(c.name);
    }
  }
  return list;
}

std::string toml_value(const OptionRow& row) {
  const bool bare = row.type == OptionType::kBool || row.type == OptionType::kInteger;
  const std::string_view example = !row.initial.empty()   ? row.initial
                                   : !row.choices.empty() ? split_words(row.choices).front()
                                   : row.id == OptionId::kNvml
                                       ? "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
                                   : row.id == OptionId::kSocket   ? "/run/gpusight/gpusight.sock"
                                   : row.id == OptionId::kStateDir ? "/var/lib/gpusight"
                                                                   : "";
  if (row.type == OptionType::kAddresses) return "[\"" + std::string(example) + "\"]";
  return bare ? std::string(example) : "\"" + std::string(example) + "\"";
}

// Every key of the file, sections after the keys that stand in none.
std::string example_file() {
  std::string out;
  for (const OptionRow& row : kOptions) {
    if (row.key.empty() || row.key.find('.') != std::string_view::npos) continue;
    out += std::string(row.key) + " = " + toml_value(row) + "\n";
  }
  std::string section;
  for (const OptionRow& row : kOptions) {
    const size_t dot = row.key.find('.');
    if (dot == std::string_view::npos) continue;
    if (row.key.substr(0, dot) != section) {
      section = row.key.substr(0, dot);
      out += "\n[" + section + "]\n";
    }
    out += std::string(row.key.substr(dot + 1)) + " = " + toml_value(row) + "\n";
  }
  return out;
}

std::string option_section(const OptionRow& row) {
  std::string out = "### --" + std::string(row.flag) + "\n\n" + std::string(row.help.en) + "\n\n";
  const auto item = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += "- " + std::string(name) + ": " + text + "\n";
  };
  item("command line", code(flag_text(row)));
  item("environment", row.environment.empty() ? "" : code(row.environment));
  item("configuration file", row.key.empty() ? "" : code(row.key));
  const std::string notes = value_notes(row, Lang::kEnglish);
  item("value", std::string(type_text(row.type)) + (notes.empty() ? "" : "; " + notes));
  if (!row.implied.empty()) item("given alone", code(row.implied));
  item("taken by", command_list(row));
  item("since", std::string(row.since));
  return out + "\n";
}

}  // namespace

std::string reference_markdown() {
  std::string out =
      "# Configuration\n\n"
      "<!-- Made by `gpusight generate` from the table in src/config/option.h; do not edit. -->\n\n"
      "An option is set by a flag, an environment variable, the configuration file, or its "
      "default; the first of these that has it counts. The file is `/etc/gpusight/gpusight.toml`, "
      "for a user `$XDG_CONFIG_HOME/gpusight/gpusight.toml` (`~/.config` when that is not set) "
      "where it exists, or the one that `--config` names. It is taken as a whole or not at all: an "
      "unknown key or a bad value refuses it, and the message names the line. The daemon reads it "
      "again on SIGHUP; a file that is refused then changes nothing.\n\n"
      "Durations carry their unit: `500ms`, `1s`, `2m`, `1h30m`.\n\n"
      "## All options\n\n"
      "| flag | environment | file | default |\n|---|---|---|---|\n";
  for (const OptionRow& row : kOptions) {
    const auto maybe = [](std::string_view text) { return text.empty() ? "" : code(text); };
    out += "| " + cell(code("--" + std::string(row.flag))) + " | " + maybe(row.environment) +
           " | " + maybe(row.key) + " | ";
    out += row.initial_help.en.empty() ? maybe(row.initial) : cell(row.initial_help.en);
    out += " |\n";
  }
  out += "\n## The file\n\nEvery key there is, with its default or an example:\n\n```toml\n" +
         example_file() + "```\n\n## Each option\n\n";
  for (const OptionRow& row : kOptions) out += option_section(row);
  out.pop_back();
  return out;
}

}  // namespace gpusight::config
