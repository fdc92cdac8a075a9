// Readings under the names, labels, units and types of other exporters, for dashboards and rules
// that were made for them. docs/how-to/other-exporters.md says what is left out and why.
//
// Nothing is derived or made up: a family is there where the driver gave what it means. `outdated`
// (see render.h) leaves no reading. Only NVIDIA's devices have such names.
#pragma once

#include "export/prometheus/exposition.h"
#include "export/prometheus/name_set.h"
#include "model/caller.h"
#include "model/snapshot.h"

namespace gpusight::prometheus {

// dcgm-exporter's, old names, new ones or both; a name that is the same in both stands once, as the
// old ones have it.
void append_dcgm(Exposition& out, const model::Snapshot& snapshot, NameSets sets, bool outdated);

// nvidia_gpu_exporter's. Of processes the caller is shown those that they may see; how many there
// are, everyone.
void append_nvidia_smi(Exposition& out, const model::Snapshot& snapshot,
                       const model::Caller& caller, bool outdated);

}  // namespace gpusight::prometheus
