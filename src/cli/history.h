// `gpusight history info | check | export | import`: the recorded history itself.
#pragma once

#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"

namespace gpusight::cli {

int run_history(const config::Config& config, const Machine& machine, Io& io);

// Its parts, each in a file of its own. `now` is what times are told from.
int run_history_export(const config::Config& config, const Machine& machine, WallTime now, Io& io);
int run_history_import(const config::Config& config, const Machine& machine, WallTime now, Io& io);

}  // namespace gpusight::cli
