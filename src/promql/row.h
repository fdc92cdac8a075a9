// What operators hand to each other: a series with one value for every step.
//
// Internal to promql. A row belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"

namespace gpusight::promql {

// The instants at which an expression is evaluated: start + i * step, i in [0, count). An instant
// query has one step.
struct Steps {
  int64_t start_ms = 0;
  int64_t step_ms = 0;
  size_t count = 0;
  int64_t at(size_t i) const { return start_ms + static_cast<int64_t>(i) * step_ms; }
};

// A step at which a series has no value holds the stale marker: no arithmetic makes it, since it is
// a signalling NaN, and no operator takes it for a number.
inline double no_value() { return model::stale_marker(); }
inline bool has_value(double v) { return !model::is_stale_marker(v); }

struct Row {
  model::Labels labels;
  bool drop_name = false;      // __name__ is to go at the end of the query (NameRemoval::kDelayed)
  std::vector<double> values;  // one for each step
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Fills `row` with the next series; false at the end, and then again. The contents of `row` from
  // before are the source's to reuse. A row without any value may be given.
  virtual Result<bool> next(Row& row) = 0;
};

}  // namespace gpusight::promql
