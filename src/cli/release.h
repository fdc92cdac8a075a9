// gpusight release: the daemon lets go of every device for a while, so that a GPU can be reset or
// unbound or its driver upgraded; --end takes them back.
#pragma once

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// Returns when the devices are let go of, or are read again; kExitEnvironment if the daemon is not
// there, refuses, or still holds them after half a minute.
int run_release(const config::Config& config, const Machine& machine,
                const platform::HttpClient& client, Io& io);

}  // namespace gpusight::cli
