// Writes the machine around the GPUs of a scenario as files below a directory: /sys, /proc and /etc
// as far as a monitor reads them, so that a test or a demonstration can use the directory as its
// root.
//
// One call writes one instant; calling again with a later time moves the counters on and lets
// processes come and go. Files are replaced by renaming, so that a reader beside it never sees half
// of one. Not safe for two writers of one directory.
#pragma once

#include <filesystem>
#include <string>

#include "scenario.h"

namespace gpusight::sim {

// `at` is seconds since the start of the simulation. The directory must be new, empty, or written
// by an earlier call. Returns what went wrong, empty when nothing did.
std::string write_tree(const Scenario& scenario, const std::filesystem::path& root, double at);

}  // namespace gpusight::sim
