// The simulated machine in place of the real one: a library that stands in for NVML, loaded by the
// same path as the real one and never without every view saying so.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/machine.h"
#include "base/result.h"
#include "cli/machine.h"
#include "config/config.h"

namespace gpusight::app {

// Decides by --simulate whether to serve the simulated machine and, if so, points `origin` at it
// and returns the scenario as it was named. With if-no-gpu the real machine is looked at first, and
// `say` is told why no GPU was seen. Changes this process's environment: call before threads are
// started.
Result<std::optional<std::string>> choose_simulation(const config::Config& config,
                                                     const cli::Machine& machine, Origin& origin,
                                                     const std::function<void(std::string)>& say);

}  // namespace gpusight::app
