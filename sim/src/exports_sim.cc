// The simulation's own exports, by which a program knows it for one and asks what was called.
#include <cstring>

#include "events.h"
#include "library.h"

using namespace gpusight::sim;

extern "C" {
#pragma GCC visibility push(default)

// The scenario's name or path. Its presence is the mark of a simulated library.
const char* gpusight_sim_scenario() {
  static thread_local std::string name;
  name = library().scenario_name();
  return name.c_str();
}

// Why a scenario cannot be played, as "file:line: key: what is wrong"; empty if it can. Starts
// nothing. Valid until the same thread asks again.
const char* gpusight_sim_check(const char* path_or_name) {
  static thread_local std::string problem;
  problem = path_or_name == nullptr ? "no scenario" : load_scenario(path_or_name).error;
  return problem.c_str();
}

// Calls of one function since the start or the last reset; -1 for a name that NVML does not have.
int gpusight_sim_call_count(const char* function) {
  if (function == nullptr) return -1;
  for (unsigned fn = 0; fn < static_cast<unsigned>(Fn::kCount); ++fn) {
    if (std::strcmp(kFunctionFacts[fn].name, function) == 0) {
      return static_cast<int>(library().calls(static_cast<Fn>(fn)));
    }
  }
  return -1;
}

// Calls about one GPU or its instances.
unsigned long long gpusight_sim_gpu_calls(unsigned gpu) { return library().calls_about(gpu); }

unsigned long long gpusight_sim_total_calls() { return library().total_calls(); }
void gpusight_sim_reset_counts() { library().reset_counts(); }
void gpusight_sim_restart() { library().restart(); }
int gpusight_sim_open_gpm_samples() { return static_cast<int>(open_gpm_samples(library())); }
int gpusight_sim_open_event_sets() { return static_cast<int>(open_event_sets(library())); }

#pragma GCC visibility pop
}  // extern "C"
