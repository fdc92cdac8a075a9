// `gpusight who`: whose processes hold the GPUs.
#pragma once

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// Returns the exit code: 2 for a GPU that is not there, 3 where there is none or the daemon fails.
int run_who(const config::Config& config, const Machine& machine, const Hooks& hooks,
            const platform::HttpClient& client, Io& io);

}  // namespace gpusight::cli
