// `gpusight query EXPRESSION`: asks the recorded history in PromQL, through the daemon or directly.
#pragma once

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"
#include "platform/http_client.h"

namespace gpusight::cli {

// Asks the daemon; reads the state directory itself if none listens, or if the user named one on
// the command line or in the environment: that is then what they want to see.
int run_query(const config::Config& config, const Machine& machine, const Hooks& hooks,
              const platform::HttpClient& client, Io& io);

// The line of the expression that an error of the parser or the engine is about, with a caret below
// its column; empty when `error` names no place ("LINE:COLUMN: …") of it. Ends with a line feed.
std::string place_in_query(std::string_view query, std::string_view error);

}  // namespace gpusight::cli
