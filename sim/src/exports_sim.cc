// The simulation's own exports, by which a program knows it for one and asks what was called.
#include <cstring>

#include "events.h"
#include "library.h"

using namespace gpusight::sim;

#define GPUSIGHT_SIM_EXPORT extern "C" __attribute__((visibility("default")))

// The scenario's name or path. Its presence is the mark of a simulated library.
GPUSIGHT_SIM_EXPORT const char* gpusight_sim_scenario() {
  static thread_local std::string name;
  name = library().scenario_name();
  return name.c_str();
}

// Calls of one function since the start or the last reset; -1 for a name that NVML does not have.
GPUSIGHT_SIM_EXPORT int gpusight_sim_call_count(const char* function) {
  if (function == nullptr) return -1;
  for (unsigned fn = 0; fn < static_cast<unsigned>(Fn::kCount); ++fn) {
    if (std::strcmp(kFunctionFacts[fn].name, function) == 0) {
      return static_cast<int>(library().calls(static_cast<Fn>(fn)));
    }
  }
  return -1;
}

GPUSIGHT_SIM_EXPORT unsigned long long gpusight_sim_total_calls() { return library().total_calls(); }
GPUSIGHT_SIM_EXPORT void gpusight_sim_reset_counts() { library().reset_counts(); }
GPUSIGHT_SIM_EXPORT void gpusight_sim_restart() { library().restart(); }
GPUSIGHT_SIM_EXPORT int gpusight_sim_open_event_sets() {
  return static_cast<int>(open_event_sets(library()));
}
