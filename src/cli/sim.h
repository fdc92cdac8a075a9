// `gpusight sim SCENARIO -- COMMAND`: becomes COMMAND in an environment in which the simulated NVML
// library is found before the real one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/io.h"
#include "cli/machine.h"
#include "config/config.h"

namespace gpusight::cli {

// The simulated library of this installation or build tree; kNotFound names the places looked at.
Result<std::string> find_simulator(const Machine& machine, catalog::Lang lang);

struct Scenario {
  std::string name;
  std::string path;   // empty: built into the library
  std::string title;  // of its file, if there is one
};
// Built in ones first, then files of the installation.
std::vector<Scenario> scenarios(const Machine& machine);
// What GPUSIGHT_SIM_SCENARIO has to be for the word a user gave: a built-in name, a file that can
// be read, or BOARD+SHAPE@AGE, which only the library can judge (check_scenario).
Result<std::string> resolve_scenario(const Machine& machine, const std::string& word,
                                     catalog::Lang lang);

// Asks the library itself whether it can play the scenario: only it knows how one is written. One
// that has no such question is taken as it is. kInvalidArgument: the scenario is at fault.
Status check_scenario(const std::string& library, const std::string& scenario, catalog::Lang lang);

// The environment with the simulated library in it: also what serve --simulate needs.
platform::Environment simulated_environment(const platform::Environment& environment,
                                            const std::string& library,
                                            const std::string& scenario);

// Returns only when the command cannot be run.
int run_sim(const config::Config& config, const Machine& machine, Io& io);

}  // namespace gpusight::cli
