#include "promql/steps.h"

#include <algorithm>

#include "promql/instant_functions.h"
#include "promql/label_set.h"
#include "promql/range_functions.h"

namespace gpusight::promql {
namespace {

// Times beyond this are as good as never; within it, adding and subtracting ranges is safe.
constexpr int64_t kFarMs = int64_t{1} << 60;

int64_t moved_back(int64_t time_ms, int64_t by_ms) {
  return std::clamp(time_ms, -kFarMs, kFarMs) - std::clamp(by_ms, -kFarMs, kFarMs);
}

int64_t base_of(const Steps& steps, const TimeShift& shift, const QueryRange& query) {
  switch (shift.at) {
    case TimeShift::At::kNone: return steps.start_ms;
    case TimeShift::At::kTime: return shift.at_ms;
    case TimeShift::At::kStart: return query.start_ms;
    case TimeShift::At::kEnd: return query.end_ms;
  }
  return steps.start_ms;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool fixed(const TimeShift& shift) { return shift.at != TimeShift::At::kNone; }

// Functions whose answer depends on the time of evaluation even where their arguments do not.
bool looks_at_time(const Call& call) {
  const std::string_view name = call.function->name;
  if (name == "time" || name == "timestamp" || name == "predict_linear") return true;
  const ValueFunction* function = find_value_function(name);
  return function != nullptr && function->defaults_to_time && call.args.empty();
}

bool has_one_name(const Call& call) {
  const std::string_view name = call.function->name;
  if (name == "sort" || name == "sort_desc") return has_one_name(*call.args[0]);
  if (name == "label_replace" || name == "label_join") {
    const StringLiteral* destination = without_parens(*call.args[1]).as<StringLiteral>();
    return destination->value != kMetricName && has_one_name(*call.args[0]);
  }
  const RangeFunction* range = find_range_function(name);
  if (range == nullptr || !range->keeps_name) return true;  // all others drop it
  for (const ExprPtr& arg : call.args) {
    if (arg->type() == ValueType::kMatrix) return has_one_name(*arg);
  }
  return false;
}

bool has_one_name(const Aggregate& aggregate) {
  if (aggregate.op == AggregateOp::kTopk || aggregate.op == AggregateOp::kBottomk) {
    return has_one_name(*aggregate.expr);
  }
  const bool by_name = !aggregate.without && std::ranges::find(aggregate.grouping, kMetricName) !=
                                                 aggregate.grouping.end();
  const bool makes_name = aggregate.op == AggregateOp::kCountValues;
  return !makes_name && (!by_name || has_one_name(*aggregate.expr));
}

bool has_one_name(const Binary& binary) {
  const bool includes = binary.matching && !binary.matching->include.empty();
  const bool arithmetic = !is_comparison(binary.op) && !is_set_operator(binary.op);
  if (!includes && (arithmetic || binary.return_bool)) return true;  // these drop it
  if (!binary.matching) {
    const bool vector_left = binary.lhs->type() == ValueType::kVector;
    return has_one_name(vector_left ? *binary.lhs : *binary.rhs);
  }
  if (binary.op == BinaryOp::kOr || includes) return false;
  const bool many_right = binary.matching->cardinality == VectorMatching::Cardinality::kOneToMany;
  return has_one_name(many_right ? *binary.rhs : *binary.lhs);
}

bool has_one_name(const VectorSelector& selector) {
  return std::ranges::any_of(selector.matchers, [](const model::Matcher& matcher) {
    return matcher.name == kMetricName && matcher.kind == model::Matcher::Kind::kEqual;
  });
}

}  // namespace

Instants::Instants(const Steps& steps, const TimeShift& shift, const QueryRange& query)
    : start_ms_(moved_back(base_of(steps, shift, query), shift.offset_ms)),
      step_ms_(fixed(shift) ? 0 : steps.step_ms),
      count_(steps.count) {}

Steps subquery_grid(const Instants& outer, int64_t range_ms, int64_t step_ms) {
  const int64_t before = outer.first() - std::min(range_ms, kFarMs);
  Steps grid{.start_ms = (floor_div(before, step_ms) + 1) * step_ms, .step_ms = step_ms};
  if (outer.count() > 0 && outer.last() >= grid.start_ms) {
    grid.count = static_cast<size_t>((outer.last() - grid.start_ms) / step_ms) + 1;
  }
  return grid;
}

bool is_step_invariant(const Expr& expr) {
  if (const auto* selector = expr.as<VectorSelector>()) return fixed(selector->shift);
  if (const auto* matrix = expr.as<MatrixSelector>()) return fixed(matrix->selector.shift);
  if (const auto* subquery = expr.as<Subquery>()) return fixed(subquery->shift);
  if (const auto* unary = expr.as<Unary>()) return is_step_invariant(*unary->expr);
  if (const auto* paren = expr.as<Paren>()) return is_step_invariant(*paren->expr);
  if (const auto* binary = expr.as<Binary>()) {
    return is_step_invariant(*binary->lhs) && is_step_invariant(*binary->rhs);
  }
  if (const auto* aggregate = expr.as<Aggregate>()) {
    return is_step_invariant(*aggregate->expr) &&
           (aggregate->param == nullptr || is_step_invariant(*aggregate->param));
  }
  if (const auto* call = expr.as<Call>()) {
    return !looks_at_time(*call) && std::ranges::all_of(call->args, [](const ExprPtr& arg) {
      return is_step_invariant(*arg);
    });
  }
  return true;  // numbers and texts
}

bool has_one_name(const Expr& expr) {
  if (const auto* selector = expr.as<VectorSelector>()) return has_one_name(*selector);
  if (const auto* matrix = expr.as<MatrixSelector>()) return has_one_name(matrix->selector);
  if (const auto* subquery = expr.as<Subquery>()) return has_one_name(*subquery->expr);
  if (const auto* unary = expr.as<Unary>()) return unary->negative || has_one_name(*unary->expr);
  if (const auto* paren = expr.as<Paren>()) return has_one_name(*paren->expr);
  if (const auto* binary = expr.as<Binary>()) return has_one_name(*binary);
  if (const auto* aggregate = expr.as<Aggregate>()) return has_one_name(*aggregate);
  if (const auto* call = expr.as<Call>()) return has_one_name(*call);
  return true;
}

}  // namespace gpusight::promql
