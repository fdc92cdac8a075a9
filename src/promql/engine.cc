#include "promql/engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "promql/evaluation.h"
#include "promql/label_set.h"
#include "promql/operators.h"
#include "promql/samples.h"

namespace gpusight::promql {
namespace {

std::vector<Point> points_of(const Row& row, const Steps& steps) {
  std::vector<Point> points;
  points.reserve(static_cast<size_t>(std::ranges::count_if(row.values, has_value)));
  for (size_t i = 0; i < row.values.size(); ++i) {
    if (has_value(row.values[i])) points.push_back({steps.at(i), row.values[i]});
  }
  return points;
}

class NamesDropped final : public RowSource {
 public:
  explicit NamesDropped(Rows rows) : rows_(std::move(rows)) {}
  Result<bool> next(Row& row) override {
    if (!TRY(rows_->next(row))) return false;
    if (row.drop_name) remove_label(row.labels, kMetricName);
    return true;
  }

 private:
  Rows rows_;
};

// The rows of a whole query: names that were to go at the end go now.
Result<Rows> make_final_rows(Evaluation& evaluation, const Expr& expr, const Steps& steps) {
  Rows rows = TRY(make_rows(evaluation, expr, {.steps = steps}));
  if (!evaluation.delays_name_removal()) return rows;
  return merge_equal(evaluation, std::make_unique<NamesDropped>(std::move(rows)));
}

Result<Matrix> matrix_of_rows(Evaluation& evaluation, RowSource& rows, const Steps& steps) {
  Charge charge(evaluation);
  Matrix matrix;
  Row row;
  while (TRY(rows.next(row))) {
    TRY(evaluation.check());
    Series series{.labels = std::move(row.labels), .points = points_of(row, steps)};
    if (series.points.empty()) continue;
    TRY(charge.add(bytes_of(series.labels) + series.points.size() * sizeof(Point)));
    matrix.push_back(std::move(series));
  }
  std::ranges::sort(matrix, {}, &Series::labels);
  return matrix;
}

// Whether the order of the expression's rows in an instant query is part of the answer.
bool is_ordered(const Expr& expr) {
  if (const auto* aggregate = expr.as<Aggregate>()) {
    return aggregate->op == AggregateOp::kTopk || aggregate->op == AggregateOp::kBottomk;
  }
  const auto* call = expr.as<Call>();
  return call != nullptr && (call->function->name == "sort" || call->function->name == "sort_desc");
}

Result<Vector> instant_vector(Evaluation& evaluation, const Expr& expr, const Steps& steps) {
  const Rows rows = TRY(make_final_rows(evaluation, expr, steps));
  Charge charge(evaluation);
  Vector vector;
  Row row;
  while (TRY(rows->next(row))) {
    TRY(evaluation.check());
    if (!has_value(row.values.front())) continue;
    TRY(charge.add(sizeof(Sample) + bytes_of(row.labels)));
    vector.push_back({std::move(row.labels), {steps.start_ms, row.values.front()}});
  }
  if (!is_ordered(expr)) std::ranges::sort(vector, {}, &Sample::labels);
  return vector;
}

// A subquery alone is a range query over its own steps.
Result<Matrix> matrix_of_subquery(Evaluation& evaluation, const Subquery& subquery,
                                  const Steps& steps) {
  const Steps grid = subquery_steps(evaluation, subquery, {.steps = steps});
  if (grid.count == 0) return Matrix{};
  const Rows rows = TRY(make_final_rows(evaluation, *subquery.expr, grid));
  Matrix matrix = TRY(matrix_of_rows(evaluation, *rows, grid));
  for (const Series& series : matrix) TRY(evaluation.count_samples(series.points.size()));
  return matrix;
}

// The samples of a range selector, as they are.
Result<Matrix> matrix_of_selector(Evaluation& evaluation, const Expr& expr, const Steps& steps) {
  const auto samples = TRY(make_samples(evaluation, expr, {.steps = steps}));
  if (samples->resolution_ms() != 0) {
    return Status(Code::kUnsupported,
                  fmt::format("samples rolled up to {} cannot be given one by one; ask for a "
                              "shorter range or a time that raw samples still cover",
                              samples->tier()));
  }
  Charge charge(evaluation);
  SlidingWindow<double> window(evaluation);
  Matrix matrix;
  Row row;
  const int64_t end_ms = samples->instants().first();
  while (TRY(samples->next_series(row))) {
    window.restart();
    TRY(window.move_to(*samples, end_ms - samples->range_ms(), end_ms));
    if (window.values().empty()) continue;
    Series series{.labels = std::move(row.labels)};
    TRY(charge.add(bytes_of(series.labels) + window.values().size() * sizeof(Point)));
    for (size_t i = 0; i < window.values().size(); ++i) {
      series.points.push_back({window.times_ms()[i], window.values()[i]});
    }
    matrix.push_back(std::move(series));
  }
  std::ranges::sort(matrix, {}, &Series::labels);
  return matrix;
}

Result<Steps> steps_of(const QueryRange& range, const QueryLimits& limits) {
  const auto refused = [](std::string message) {
    return Status(Code::kInvalidArgument, std::move(message));
  };
  int64_t span_ms = 0;
  if (range.step_ms <= 0)
    return refused("zero or negative query resolution step widths are not accepted");
  if (range.end_ms < range.start_ms) return refused("end timestamp must not be before start time");
  if (__builtin_sub_overflow(range.end_ms, range.start_ms, &span_ms)) {
    return refused("start and end of the query are too far apart");
  }
  const auto count = static_cast<uint64_t>(span_ms / range.step_ms) + 1;
  if (count > limits.max_steps) {
    return refused(
        fmt::format("exceeded maximum resolution of {} points per timeseries: the range "
                    "has {} steps; a longer step is wanted",
                    limits.max_steps, count));
  }
  return Steps{.start_ms = range.start_ms, .step_ms = range.step_ms, .count = count};
}

Matrix matrix_of_column(const Column& column, const Steps& steps) {
  return {{.labels = {}, .points = points_of({.labels = {}, .values = column.values}, steps)}};
}

}  // namespace

Engine::Engine(EngineOptions options, const Clock& clock) : options_(options), clock_(clock) {}

Result<QueryResult> Engine::instant(const model::Queryable& data, const Expr& outer,
                                    int64_t time_ms, std::stop_token stop) const {
  Evaluation evaluation(data, options_, clock_, {.start_ms = time_ms, .end_ms = time_ms},
                        std::move(stop));
  TRY(evaluation.check());
  const Steps steps{.start_ms = time_ms, .step_ms = 0, .count = 1};
  const Expr& expr = without_parens(outer);
  switch (expr.type()) {
    case ValueType::kString:
      return evaluation.answer(String{time_ms, expr.as<StringLiteral>()->value});
    case ValueType::kScalar: {
      const Column column = TRY(make_column(evaluation, expr, {.steps = steps}));
      return evaluation.answer(Scalar{{time_ms, column.values.front()}});
    }
    case ValueType::kMatrix: {
      const auto* subquery = expr.as<Subquery>();
      Matrix matrix = subquery != nullptr ? TRY(matrix_of_subquery(evaluation, *subquery, steps))
                                          : TRY(matrix_of_selector(evaluation, expr, steps));
      return evaluation.answer(std::move(matrix));
    }
    case ValueType::kVector: break;
  }
  Vector vector = TRY(instant_vector(evaluation, expr, steps));
  return evaluation.answer(std::move(vector));
}

Result<QueryResult> Engine::range(const model::Queryable& data, const Expr& outer, QueryRange range,
                                  std::stop_token stop) const {
  const Expr& expr = without_parens(outer);
  const ValueType type = expr.type();
  if (type == ValueType::kString || type == ValueType::kMatrix) {
    return Status(Code::kInvalidArgument,
                  fmt::format("invalid expression type \"{}\" for range query, must be Scalar or "
                              "instant Vector",
                              name_of(type)));
  }
  const Steps steps = TRY(steps_of(range, options_.limits));
  Evaluation evaluation(data, options_, clock_, range, std::move(stop));
  TRY(evaluation.check());
  if (type == ValueType::kScalar) {
    const Column column = TRY(make_column(evaluation, expr, {.steps = steps}));
    return evaluation.answer(matrix_of_column(column, steps));
  }
  Rows rows = TRY(make_final_rows(evaluation, expr, steps));
  Matrix matrix = TRY(matrix_of_rows(evaluation, *rows, steps));
  return evaluation.answer(std::move(matrix));
}

}  // namespace gpusight::promql
