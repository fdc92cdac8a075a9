#include <algorithm>
#include <utility>

#include "promql/operators.h"
#include "promql/steps.h"

namespace gpusight::promql {
namespace {

// Repeats the one value that its source computed at every step.
class Repeated final : public RowSource {
 public:
  Repeated(Rows rows, size_t count) : rows_(std::move(rows)), count_(count) {}

  Result<bool> next(Row& row) override {
    if (!TRY(rows_->next(row))) return false;
    row.values.assign(count_, double{row.values.front()});
    return true;
  }

 private:
  Rows rows_;
  size_t count_;
};

Result<Column> filled(Evaluation& evaluation, size_t count, double value) {
  Column column{.charge = Charge(evaluation)};
  TRY(column.charge.add(count * sizeof(double)));
  column.values.assign(count, value);
  return column;
}

Scope at_first_step(const Scope& scope) {
  Scope first = scope;
  first.steps = {.start_ms = scope.steps.start_ms, .step_ms = scope.steps.step_ms, .count = 1};
  return first;
}

Result<Rows> make_unary(Evaluation& evaluation, const Unary& unary, const Scope& scope) {
  if (!unary.negative) return make_rows(evaluation, *unary.expr, scope);
  return make_negated(evaluation, *unary.expr, scope);
}

Result<Column> make_negative(Evaluation& evaluation, const Unary& unary, const Scope& scope) {
  Column column = TRY(make_column(evaluation, *unary.expr, scope));
  if (unary.negative) {
    for (double& value : column.values) value = -value;
  }
  return column;
}

}  // namespace

Result<Rows> make_rows(Evaluation& evaluation, const Expr& outer, const Scope& scope) {
  const Expr& expr = without_parens(outer);
  TRY(evaluation.reserve_row(scope.steps.count));
  if (scope.steps.count > 1 && is_step_invariant(expr)) {
    Rows once = TRY(make_rows(evaluation, expr, at_first_step(scope)));
    return Rows(std::make_unique<Repeated>(std::move(once), scope.steps.count));
  }
  if (const auto* selector = expr.as<VectorSelector>()) {
    return make_selector(evaluation, *selector, scope, SampleField::kValue);
  }
  if (const auto* call = expr.as<Call>()) return make_call(evaluation, expr, *call, scope);
  if (const auto* unary = expr.as<Unary>()) return make_unary(evaluation, *unary, scope);
  if (const auto* binary = expr.as<Binary>()) return make_binary(evaluation, *binary, scope);
  const auto* aggregate = expr.as<Aggregate>();
  CHECK(aggregate != nullptr, "only instant vectors are evaluated to rows");
  return make_aggregate(evaluation, *aggregate, scope);
}

Result<Column> make_column(Evaluation& evaluation, const Expr& outer, const Scope& scope) {
  const Expr& expr = without_parens(outer);
  const size_t count = scope.steps.count;
  if (const auto* number = expr.as<NumberLiteral>()) {
    return filled(evaluation, count, number->value);
  }
  if (count > 1 && is_step_invariant(expr)) {
    const Column once = TRY(make_column(evaluation, expr, at_first_step(scope)));
    return filled(evaluation, count, once.values.front());
  }
  if (const auto* unary = expr.as<Unary>()) return make_negative(evaluation, *unary, scope);
  if (const auto* binary = expr.as<Binary>()) {
    return make_scalar_binary(evaluation, *binary, scope);
  }
  const auto* call = expr.as<Call>();
  CHECK(call != nullptr, "only scalars are evaluated to columns");
  return make_scalar_call(evaluation, *call, scope);
}

}  // namespace gpusight::promql
