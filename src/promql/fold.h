// Aggregations that need to see each value once: sum, avg, count, min, max, group, stddev, stdvar.
//
// Internal to promql. A fold belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "promql/ast.h"

namespace gpusight::promql {

// One group's value at every step, on its way. Rows are added in the order of their series, since
// rounding depends on it.
class Fold {
 public:
  virtual ~Fold() = default;
  // One value for each step; steps without one count for nothing.
  virtual void add(std::span<const double> values) = 0;
  // The result; no_value() at steps at which nothing was added. Nothing may be added afterwards.
  virtual std::vector<double> finish() = 0;
};
std::unique_ptr<Fold> make_fold(AggregateOp op, size_t steps);
// What a fold holds for each step.
size_t fold_bytes_per_step(AggregateOp op);

}  // namespace gpusight::promql
