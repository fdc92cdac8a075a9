#include "cli/cli.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/format.h"
#include "cli/generate.h"
#include "cli/history.h"
#include "cli/metrics.h"
#include "cli/query.h"
#include "cli/release.h"
#include "cli/selftest.h"
#include "cli/sim.h"
#include "cli/status.h"
#include "cli/who.h"
#include "config/command_line.h"
#include "config/documents.h"
#include "config/help.h"
#include "config/toml_file.h"
#include "config/value.h"
#include "model/snapshot_json.h"
#include "platform/dynamic_library.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::CommandId;
using config::Config;
using config::OptionId;

int fail(const std::string& text, int code, Io& io) {
  io.err("gpusight: " + text + "\n");
  return code;
}

config::HelpOptions help_options(const Config& config, const Machine& machine, const Io& io) {
  return {.lang = config.lang(), .width = io.width, .version = machine.version};
}

int run_help(const Config& config, const Machine& machine, Io& io) {
  const config::HelpOptions options = help_options(config, machine, io);
  if (config.help_wanted() || config.arguments().empty()) {
    const bool one = config.help_wanted() && config.command_named();
    io.write(one ? config::command_help(config.command(), options)
                 : config::overview_help(options));
    return kExitOk;
  }
  const std::string& name = config.arguments()[0];
  const config::CommandRow* row = config::find_command(name);
  if (row == nullptr) {
    const std::string shown = clean_text(name, 64);
    return fail(say(MessageId::kUsageUnknownCommand, config.lang(), shown) +
                    config::did_you_mean(shown, config::listed_command_names(), "", config.lang()),
                kExitUsage, io);
  }
  io.write(config::command_help(row->id, options));
  return kExitOk;
}

int run_metrics(const Config& config, const Machine& machine, Io& io) {
  if (config.get<OptionId::kJson>()) {
    io.write(model::catalog_json(machine.version) + "\n");
  } else if (config.get<OptionId::kMarkdown>()) {
    io.write(metrics_markdown());
  } else {
    const bool colour = io.colour && !config.get<OptionId::kNoColor>();
    io.write(metrics_text({.lang = config.lang(), .width = io.width, .colour = colour}));
  }
  return kExitOk;
}

int run_completions(const Config& config, Io& io) {
  const std::string& shell = config.arguments()[0];
  const std::optional<std::string> script = config::completions(shell);
  if (script) {
    io.write(*script);
    return kExitOk;
  }
  const std::vector<std::string_view> known =
      split_words(config::command(CommandId::kCompletions).words);
  const std::string shown = clean_text(shell, 64);
  return fail(say(MessageId::kUsageBadValue, config.lang(), std::string("SHELL"), shown,
                  say(MessageId::kWantChoice, config.lang(), std::string("bash, zsh, fish"))) +
                  config::did_you_mean(shown, known, "", config.lang()),
              kExitUsage, io);
}

int run_version(const Config& config, const Machine& machine, Io& io) {
  if (config.get<OptionId::kJson>()) {
    std::string out;
    JsonWriter(out).begin_object().key("version").string(machine.version).end_object();
    io.write(out + "\n");
  } else {
    io.write("gpusight " + machine.version + "\n");
  }
  return kExitOk;
}

int run_generate(const Config& config, const Machine& machine, Io& io) {
  const std::string& folder = config.arguments()[0];
  const Status status = write_documents(folder, machine.version);
  if (status.ok()) return kExitOk;
  return fail(say(MessageId::kCannotWrite, config.lang(), clean_text(folder), status.message()),
              kExitEnvironment, io);
}

int run_command(const Config& config, const Machine& machine, const Hooks& hooks,
                const platform::HttpClient& client, Io& io) {
  if (config.help_wanted()) return run_help(config, machine, io);
  switch (config.command()) {
    case CommandId::kStatus: return run_status(config, machine, hooks, client, io);
    case CommandId::kWho: return run_who(config, machine, hooks, client, io);
    case CommandId::kQuery: return run_query(config, machine, hooks, client, io);
    case CommandId::kHistory: return run_history(config, machine, io);
    case CommandId::kMetrics: return run_metrics(config, machine, io);
    case CommandId::kRelease: return run_release(config, machine, client, io);
    case CommandId::kSelftest:
      return run_selftest(
          {config, machine, hooks, client, platform::RootFs(config.get<OptionId::kRoot>())}, io);
    case CommandId::kSim: return run_sim(config, machine, io);
    case CommandId::kCompletions: return run_completions(config, io);
    case CommandId::kHelp: return run_help(config, machine, io);
    case CommandId::kVersion: return run_version(config, machine, io);
    case CommandId::kGenerate: return run_generate(config, machine, io);
    case CommandId::kServe:
    case CommandId::kCount: break;
  }
  bug(__FILE__, __LINE__, "command", "serve is wired by app, not by the one-shot commands");
}

}  // namespace

Machine this_machine(std::string version) {
  Machine machine;
  machine.environment = platform::process_environment();
  machine.uid = ::geteuid();
  machine.paths = platform::default_paths(machine.environment, machine.uid);
  machine.version = std::move(version);
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size > 0) machine.executable.assign(path, size);
  return machine;
}

config::LoadInput load_input(const Machine& machine, std::vector<std::string> words) {
  return {.words = std::move(words),
          .environment = machine.environment,
          .default_files = machine.paths.config_files,
          .read_file =
              [](const std::string& path) {
                // One byte more than is allowed, so that a longer file is refused, not cut.
                return platform::RootFs().read(path, config::kMaxConfigBytes + 1);
              },
          .trust = platform::runs_with_raised_rights() ? config::Trust::kNoEnvironment
                                                       : config::Trust::kFull};
}

int report_load_error(const config::LoadInput& input, const Status& status, Io& io) {
  const Lang lang = config::likely_language(input);
  for (const std::string_view line : split(status.message(), '\n')) {
    io.err("gpusight: " + std::string(line) + "\n");
  }
  // A wrong file is not mended by help on a command.
  if (config::parse_command_line(input.words, lang).ok()) return kExitUsage;
  const auto named = std::ranges::find_if(
      input.words, [](const std::string& word) { return config::find_command(word) != nullptr; });
  if (named != input.words.end()) {
    io.err(say(MessageId::kUsageSeeHelp, lang, *named) + "\n");
  }
  return kExitUsage;
}

int run(const Config& config, const Machine& machine, const Hooks& hooks,
        const platform::HttpClient& client, Io& io) {
  const int code = run_command(config, machine, hooks, client, io);
  // A reader that left has what it wanted; a full disk has not.
  if (io.failure == 0 || io.failure == EPIPE) return code;
  return fail(say(MessageId::kCannotWrite, config.lang(), std::string("stdout"),
                  std::generic_category().message(io.failure)),
              kExitEnvironment, io);
}

}  // namespace gpusight::cli
