// gpusight.1, in the man(7) macros.
#include "config/documents.h"
#include "config/help.h"
#include "config/option.h"

namespace gpusight::config {
namespace {

using catalog::Lang;

// Text for roff: what it would read as an escape, a request or a hyphen is made plain.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (text.substr(i).starts_with("…")) {
      out += "...";
      i += 2;
    } else if (text.substr(i).starts_with("–")) {
      out += "\\(en";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string tagged(const std::string& term, std::string_view text) {
  return ".TP\n.B " + roff(term) + "\n" + roff(text) + "\n";
}

std::string option_text(const OptionRow& row) {
  std::string text(row.help.en);
  const std::string notes = value_notes(row, Lang::kEnglish);
  if (!notes.empty()) text += " (" + notes + ")";
  std::string out = tagged(flag_text(row), text);
  if (!row.environment.empty()) out += "Environment: " + roff(row.environment) + ".\n";
  if (!row.key.empty()) out += "Configuration file: " + roff(row.key) + ".\n";
  return out;
}

std::string command_text(const CommandRow& row) {
  std::string out = ".SS gpusight " + std::string(row.name);
  if (!row.synopsis.empty()) out += " " + roff(row.synopsis);
  out += "\n" + roff(row.help.en) + "\n";
  for (const OptionRow& o : kOptions) {
    if (o.commands != kEveryCommand && takes(row.id, o)) out += option_text(o);
  }
  if (row.examples.empty()) return out;
  out += ".PP\nExamples:\n.RS\n.nf\n";
  for (const Example& example : row.examples) out += roff(example.command_line) + "\n";
  return out + ".fi\n.RE\n";
}

}  // namespace

std::string manual_page(std::string_view version) {
  std::string out =
      ".\\\" Made by `gpusight generate`; do not edit.\n.TH GPUSIGHT 1 \"\" \"gpusight " +
      std::string(version) +
      "\" \"User Commands\"\n.SH NAME\ngpusight \\- flight recorder for GPUs\n"
      ".SH SYNOPSIS\n.B gpusight\n[COMMAND] [OPTION]...\n"
      ".SH DESCRIPTION\n"
      "gpusight samples every GPU of a machine, remembers what it saw, says who used it and "
      "whether "
      "it is healthy, shows it in a terminal and a browser, and serves it to monitoring systems.\n"
      ".SH COMMANDS\n";
  for (const CommandRow& row : commands()) {
    if (row.listed == Listed::kYes) out += command_text(row);
  }
  out += ".SH OPTIONS OF EVERY COMMAND\n";
  for (const OptionRow& row : kOptions) {
    if (row.commands == kEveryCommand) out += option_text(row);
  }
  out += tagged("-h, --help", "Tell what the command does and takes.");
  out += tagged("-V, --version", "Print the version.");
  out +=
      ".PP\nFlags win over the environment, that over the configuration file, that over the "
      "default.\n"
      ".SH FILES\n" +
      tagged("/etc/gpusight/gpusight.toml, $XDG_CONFIG_HOME/gpusight/gpusight.toml",
             "The configuration; see docs/reference/config.md for its keys.") +
      tagged("/run/gpusight/gpusight.sock, $XDG_RUNTIME_DIR/gpusight/gpusight.sock",
             "The daemon's local socket.") +
      tagged("/var/lib/gpusight, $XDG_STATE_HOME/gpusight",
             "What the daemon remembers across restarts.") +
      ".SH EXIT STATUS\n" + tagged("0", "Done.") +
      tagged("1", "The environment does not allow it: no GPU, no driver, a check failed.") +
      tagged("2", "The command line or the configuration is wrong.") +
      "gpusight sim exits as the command it runs; 126 and 127 mean that it could not be run.\n"
      ".SH SEE ALSO\n.BR nvidia\\-smi (1)\n";
  return out;
}

}  // namespace gpusight::config
