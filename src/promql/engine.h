// Evaluates PromQL over a model::Queryable, as Prometheus 3 does for float samples.
//
// An expression is a tree of operators, each of which hands rows to the one above: one row is one
// series with a value for every step of the query (row.h). A selector passes over its samples once,
// whatever the number of steps; aggregations fold rows as they come.
//
// Tiers: with rolled-up samples (SeriesSet::resolution_ms > 0) the look-back is max(5 min, 2 ×
// resolution), the value at an instant is the row's last, and avg, sum, count, min, max, last,
// rate, increase and delta over time are computed exactly; every other range function refuses the
// tier by name. An info on the answer says which tiers served, unless all was raw.
//
// Threads: an Engine is immutable; any number of queries may run at once. A query runs on the
// caller's thread and stops soon after `stop` is asked for (kCancelled) or a limit is passed
// (kExhausted, naming the limit and its value).
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/queryable.h"
#include "promql/ast.h"
#include "promql/query_value.h"

namespace gpusight::promql {

struct QueryLimits {
  uint64_t max_samples = 50'000'000;          // read from the Queryable, plus those of subqueries
  uint64_t max_series = 100'000;              // of all selectors together
  uint64_t max_steps = 11'000;                // of a range query, as Prometheus's API has it
  uint64_t max_bytes = 512ULL * 1024 * 1024;  // held at once
  std::chrono::milliseconds timeout = std::chrono::minutes(2);
};

// When an operation drops the metric's name: at once (Prometheus 3's default), or at the end of the
// query, so that label_replace and "by (__name__)" still see it (its promql-delayed-name-removal).
enum class NameRemoval : uint8_t { kImmediate, kDelayed };

struct EngineOptions {
  std::chrono::milliseconds lookback = std::chrono::minutes(5);
  std::chrono::milliseconds default_subquery_step = std::chrono::minutes(1);
  NameRemoval name_removal = NameRemoval::kImmediate;
  QueryLimits limits;
};

// Steps at start, start + step, … not after end. Milliseconds since 1970.
struct QueryRange {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
};

class Engine {
 public:
  // `clock` times the query's own duration; it must outlive the engine.
  Engine(EngineOptions options, const Clock& clock);

  // Scalar, String, Vector or, of a range vector expression, Matrix. A Vector from sort, sort_desc,
  // topk and bottomk at the top has their order; any other is sorted by labels.
  Result<QueryResult> instant(const model::Queryable& data, const Expr& expr, int64_t time_ms,
                              std::stop_token stop) const;
  // Always a Matrix. A string or range vector expression, a step of zero, an end before the start
  // and too many steps are refused (kInvalidArgument).
  Result<QueryResult> range(const model::Queryable& data, const Expr& expr, QueryRange range,
                            std::stop_token stop) const;

 private:
  EngineOptions options_;
  const Clock& clock_;
};

}  // namespace gpusight::promql
