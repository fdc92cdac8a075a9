// Which instants a selector or subquery looks at, and what does not depend on the step.
//
// Internal to promql; pure. Milliseconds since 1970.
#pragma once

#include <cstddef>
#include <cstdint>

#include "promql/ast.h"
#include "promql/engine.h"
#include "promql/row.h"

namespace gpusight::promql {

// The steps of a query moved by "offset", or all of them at the one time of "@".
class Instants {
 public:
  // `query` is what start() and end() stand for.
  Instants(const Steps& steps, const TimeShift& shift, const QueryRange& query);
  int64_t at(size_t i) const { return start_ms_ + static_cast<int64_t>(i) * step_ms_; }
  size_t count() const { return count_; }
  int64_t first() const { return start_ms_; }
  int64_t last() const { return at(count_ == 0 ? 0 : count_ - 1); }

 private:
  int64_t start_ms_;
  int64_t step_ms_;
  size_t count_;
};

// The instants at which a subquery evaluates what is inside: all multiples of its step that lie in
// a window of one of `outer`. None (count 0) where the windows hold no multiple.
Steps subquery_grid(const Instants& outer, int64_t range_ms, int64_t step_ms);

// True where the value is the same at every step, so that one evaluation serves all.
bool is_step_invariant(const Expr& expr);

// True where all series of the result have the same metric name or none, so that dropping it cannot
// make two of them equal.
bool has_one_name(const Expr& expr);

}  // namespace gpusight::promql
