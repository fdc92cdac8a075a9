// Asking the Queryable for the series of a selector.
//
// Internal to promql.
#pragma once

#include <cstdint>
#include <memory>

#include "promql/evaluation.h"
#include "promql/operators.h"
#include "promql/steps.h"

namespace gpusight::promql {

struct Selection {
  std::unique_ptr<model::SeriesSet> series;
  int64_t lookback_ms = 0;  // how far an instant selector looks back in it
};

// For an instant selector: asks again with an earlier start where the tier that answers is coarse
// and has to be looked back into further.
Result<Selection> select_instant(Evaluation& evaluation, const VectorSelector& selector,
                                 const Instants& instants, const Scope& scope);
Result<Selection> select_range(Evaluation& evaluation, const MatrixSelector& selector,
                               const Instants& instants, const Scope& scope);

// The next series of `set`, counted; nullptr at the end.
Result<std::unique_ptr<model::SeriesCursor>> next_series(Evaluation& evaluation,
                                                         model::SeriesSet& set);
// The next stretch of `cursor`, counted.
Result<model::Stretch> next_stretch(Evaluation& evaluation, model::SeriesCursor& cursor);

}  // namespace gpusight::promql
