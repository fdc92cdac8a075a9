// The one-shot commands: the door that app goes through.
//
//   const auto input = cli::load_input(machine);                     // argv, environment, files
//   auto config = config::Config::load(input);
//   if (!config.ok()) return cli::report_load_error(input, config.status(), io);
//   if (config->command() == CommandId::kServe && !config->help_wanted()) … serve …
//   return cli::run(*config, machine, hooks, *client, io);
#pragma once

#include <string>
#include <vector>

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// This process: environment, user, paths, own executable.
Machine this_machine(std::string version);
// Reads files of the real file system; the environment counts unless the program has more rights
// than its caller.
config::LoadInput load_input(const Machine& machine, std::vector<std::string> words);

// Tells what is wrong with the command line or the configuration; returns the exit code.
int report_load_error(const config::LoadInput& input, const Status& status, Io& io);

// Does what the command line asks for, with --help also for serve, which is otherwise app's own.
// Returns the exit code.
int run(const config::Config& config, const Machine& machine, const Hooks& hooks,
        const platform::HttpClient& client, Io& io);

}  // namespace gpusight::cli
