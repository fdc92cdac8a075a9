// `gpusight serve`: the daemon, from the configuration to a clean end.
#pragma once

#include <functional>

#include "base/result.h"
#include "cli/machine.h"
#include "config/config.h"

namespace gpusight::app {

// Runs until SIGTERM or SIGINT; returns the exit code: 2 where the user asked for what cannot be.
// `reload` reads the configuration anew (SIGHUP).
int serve(const config::Config& config, const cli::Machine& machine,
          const std::function<Result<config::Config>()>& reload);

}  // namespace gpusight::app
