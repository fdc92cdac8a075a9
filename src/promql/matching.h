// How a binary operator between vectors finds what belongs together.
//
// Internal to promql.
#pragma once

#include "promql/ast.h"
#include "promql/label_set.h"

namespace gpusight::promql {

// The labels by which two series find each other.
LabelSubset matching_labels(const VectorMatching& matching);

}  // namespace gpusight::promql
