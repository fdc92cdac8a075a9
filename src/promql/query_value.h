// What a query answers.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/queryable.h"
#include "promql/annotation.h"

namespace gpusight::promql {

struct Point {
  int64_t time_ms = 0;
  double value = 0;
};

struct Scalar {
  Point point;
};
struct String {
  int64_t time_ms = 0;
  std::string value;
};
// An instant vector's element. Its time is that of evaluation.
struct Sample {
  model::Labels labels;
  Point point;
};
using Vector = std::vector<Sample>;
struct Series {
  model::Labels labels;
  std::vector<Point> points;  // ascending, at least one
};
using Matrix = std::vector<Series>;  // sorted by labels

struct QueryStats {
  uint64_t samples_read = 0;
  uint64_t series_read = 0;
  uint64_t peak_bytes = 0;         // held at once by the evaluation
  std::vector<std::string> tiers;  // that served, each once: "raw", "1m"
};

struct QueryResult {
  std::variant<Scalar, String, Vector, Matrix> value;
  Annotations annotations;
  QueryStats stats;
};

}  // namespace gpusight::promql
