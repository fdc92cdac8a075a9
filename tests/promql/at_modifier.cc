#include "tests/promql/at_modifier.h"

#include <algorithm>
#include <variant>

#include <re2/re2.h>

#include "promql/ast.h"
#include "promql/parser.h"

namespace gpusight::conformance {
namespace {

// What these give depends on when they are asked. Source: the list of functions that Prometheus
// leaves out of its own check of "@".
constexpr std::string_view kTimeDependent[] = {
    "day_of_month", "day_of_week", "day_of_year", "days_in_month",  "end",
    "hour",         "minute",      "month",       "predict_linear", "range",
    "start",        "step",        "time",        "timestamp",      "year",
};

class Appender {
 public:
  explicit Appender(int64_t time_ms) : time_ms_(time_ms) {}

  // False: the query depends on the time of evaluation.
  bool walk(promql::Expr& expr) {
    return std::visit([&](auto& node) { return visit(node); }, expr.node);
  }

 private:
  void pin(promql::TimeShift& shift) const {
    if (shift.at == promql::TimeShift::At::kTime) return;
    shift.at = promql::TimeShift::At::kTime;
    shift.at_ms = time_ms_;
  }
  bool walk(const promql::ExprPtr& expr) { return expr == nullptr || walk(*expr); }

  bool visit(promql::NumberLiteral&) { return true; }
  bool visit(promql::StringLiteral&) { return true; }
  bool visit(promql::VectorSelector& node) {
    if (!inside_subquery_) pin(node.shift);
    return true;
  }
  bool visit(promql::MatrixSelector& node) { return visit(node.selector); }
  bool visit(promql::Subquery& node) {
    if (!inside_subquery_) pin(node.shift);
    const bool outer = inside_subquery_;
    inside_subquery_ = true;
    const bool can = walk(node.expr);
    inside_subquery_ = outer;
    return can;
  }
  bool visit(promql::Call& node) {
    if (std::ranges::find(kTimeDependent, node.function->name) != std::end(kTimeDependent)) {
      return false;
    }
    return std::ranges::all_of(node.args, [&](promql::ExprPtr& arg) { return walk(arg); });
  }
  bool visit(promql::Aggregate& node) { return walk(node.param) && walk(node.expr); }
  bool visit(promql::Binary& node) { return walk(node.lhs) && walk(node.rhs); }
  bool visit(promql::Unary& node) { return walk(node.expr); }
  bool visit(promql::Paren& node) { return walk(node.expr); }

  const int64_t time_ms_;
  bool inside_subquery_ = false;
};

}  // namespace

Result<std::optional<std::string>> with_at_modifier(std::string_view query, int64_t time_ms) {
  const promql::ExprPtr expr = TRY(promql::parse(query));
  if (!Appender(time_ms).walk(*expr)) return std::optional<std::string>();
  return std::optional<std::string>(promql::print(*expr));
}

bool asks_for_bounds(std::string_view query) {
  static const RE2 kBounds(R"(\b(?:start|end)\s*\(\s*\))");
  return RE2::PartialMatch(re2::StringPiece(query.data(), query.size()), kBounds);
}

std::vector<int64_t> other_times(int64_t time_ms) {
  if (time_ms == 0) return {-1000, 0, 1000};
  return {-10 * time_ms, 0, time_ms / 5, time_ms, 10 * time_ms};
}

}  // namespace gpusight::conformance
