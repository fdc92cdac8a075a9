// `gpusight status`: where the snapshot comes from, in which form it goes out, once or again and
// again.
#pragma once

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// Asks the daemon; reads the devices itself if none listens. It also reads itself when the user
// named a library or a root on the command line or in the environment: that is then what they want
// to see, not what a daemon sees.
int run_status(const config::Config& config, const Machine& machine, const Hooks& hooks,
               const platform::HttpClient& client, Io& io);

}  // namespace gpusight::cli
