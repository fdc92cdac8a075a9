// Wiring only: which command, with what, and what its exit code is.
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "app/history_query.h"
#include "app/machine.h"
#include "app/serve.h"
#include "app/version.h"
#include "base/log.h"
#include "cli/cli.h"
#include "serve/assets.h"

namespace gpusight::app {
namespace {

// The machine for commands that read it themselves, opened when the first of them asks.
class OwnReadings {
 public:
  explicit OwnReadings(const config::Config& config) : config_(config) {}

  Result<model::SnapshotPtr> read_once(Duration settle) {
    Origin origin = origin_of(config_);
    origin.pace = collect::Pace::kAtOnce;
    if (!machine_) machine_ = std::make_unique<Machine>(origin, nullptr);
    return machine_->read_once(settle);
  }

  std::vector<model::SourceStatus> probe_sources() { return (*read_once({}))->sources; }

  // Ends the process without waiting for a driver that does not answer.
  int leave_with(int code) {
    if (!machine_ || machine_->stop(std::chrono::seconds(2))) return code;
    std::fflush(nullptr);
    ::_exit(code);
  }

 private:
  const config::Config& config_;
  std::unique_ptr<Machine> machine_;
};

int run(int argc, char** argv) {
  // Many threads that allocate little: an arena for each of them would be memory that nobody uses.
  ::mallopt(M_ARENA_MAX, 2);
  ::signal(SIGPIPE, SIG_IGN);
  const cli::Machine machine = cli::this_machine(std::string(kVersion));
  cli::Io io = cli::standard_io(machine.environment);
  const config::LoadInput input = cli::load_input(machine, {argv + 1, argv + argc});
  const Result<config::Config> config = config::Config::load(input);
  if (!config.ok()) return cli::report_load_error(input, config.status(), io);
  log::set_level(config->log_level());
  if (config->command() == config::CommandId::kServe && !config->help_wanted()) {
    return serve(*config, machine, [&] { return config::Config::load(input); });
  }
  OwnReadings own(*config);
  const cli::Hooks hooks{.read_once = [&](Duration settle) { return own.read_once(settle); },
                         .probe_sources = [&] { return own.probe_sources(); },
                         .answer_query = answer_query,
                         .has_page = !serve::web_assets().empty()};
  return own.leave_with(cli::run(*config, machine, hooks, *platform::make_http_client(), io));
}

}  // namespace
}  // namespace gpusight::app

int main(int argc, char** argv) { return gpusight::app::run(argc, argv); }
