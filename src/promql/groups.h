// How an aggregation tells its groups apart.
//
// Internal to promql.
#pragma once

#include "promql/ast.h"
#include "promql/label_set.h"

namespace gpusight::promql {

LabelSubset grouping_of(const Aggregate& aggregate);

}  // namespace gpusight::promql
