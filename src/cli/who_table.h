// `gpusight who` for people: a row a process, and what no process explains. Pure; any thread.
#pragma once

#include <string>

#include "cli/status_table.h"
#include "model/snapshot.h"

namespace gpusight::cli {

// Of all devices of the snapshot. A narrow terminal loses the host's share, the start and the
// place, in this order; no line is wider than the options say.
std::string who_text(const model::Snapshot& snapshot, const ViewOptions& options);

// The most telling place that is known: "job 12.0", "pod ml/train-0", "docker web",
// "jupyter.service"; empty if there is none.
std::string place_text(const model::Owner& owner);

}  // namespace gpusight::cli
