// What is right in grammar but means nothing: types, matching, numbers of arguments.
//
// The order of the checks is Prometheus's, so that of several mistakes the same one is told.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "promql/lexer.h"
#include "promql/literal.h"
#include "promql/parser_impl.h"

namespace gpusight::promql {
namespace {

using Cardinality = VectorMatching::Cardinality;

bool is_numeric(ValueType type) { return type == ValueType::kScalar || type == ValueType::kVector; }

// As Prometheus calls types in its API, not in its documentation.
std::string_view short_name_of(ValueType type) {
  switch (type) {
    case ValueType::kScalar: return "scalar";
    case ValueType::kString: return "string";
    case ValueType::kVector: return "vector";
    case ValueType::kMatrix: return "matrix";
  }
  return "";
}

// One checker a query. Trees are at most kMaxDepth high.
class Checker {
 public:
  explicit Checker(std::string_view query) : query_(query) {}

  Status visit(Expr& expr) {
    return std::visit([&](auto& node) { return check(node, expr.position); }, expr.node);
  }

 private:
  Status fail(Position position, std::string_view message) const {
    return parse_error(query_, position, message);
  }
  Status wrong_type(const Expr& expr, ValueType wanted, std::string_view where) const {
    return fail(expr.position, fmt::format("expected type {} in {}, got {}", name_of(wanted), where,
                                           name_of(expr.type())));
  }
  Status expect(Expr& expr, ValueType wanted, std::string_view where) {
    TRY(visit_all_right(expr));
    return expr.type() == wanted ? Status() : wrong_type(expr, wanted, where);
  }
  // visit() for use with TRY, which wants a value.
  Result<bool> visit_all_right(Expr& expr) {
    Status status = visit(expr);
    if (!status.ok()) return status;
    return true;
  }

  Status check(NumberLiteral&, Position) { return {}; }
  Status check(StringLiteral&, Position) { return {}; }
  Status check(Paren& paren, Position) { return visit(*paren.expr); }

  Status check(VectorSelector& selector, Position position) const {
    const auto& matchers = selector.matchers;
    if (!selector.name.empty()) {  // its own matcher comes first
      for (size_t i = 1; i < matchers.size(); ++i) {
        if (matchers[i].name != "__name__") continue;
        return fail(position,
                    fmt::format("metric name must not be set twice: {} or {}",
                                quote_text(selector.name), quote_text(matchers[i].value)));
      }
      return {};
    }
    const auto selects = [](const model::Matcher& matcher) { return !matcher.accepts(""); };
    if (std::ranges::any_of(matchers, selects)) return {};
    return fail(position, "vector selector must contain at least one non-empty matcher");
  }

  Status check(MatrixSelector& matrix, Position position) const {
    return check(matrix.selector, position);
  }

  Status check(Subquery& subquery, Position position) {
    TRY(visit_all_right(*subquery.expr));
    const ValueType type = subquery.expr->type();
    if (type == ValueType::kVector) return {};
    return fail(position, fmt::format("subquery is only allowed on instant vector, got {} instead",
                                      short_name_of(type)));
  }

  Status check(Unary& unary, Position position) {
    TRY(visit_all_right(*unary.expr));
    const ValueType type = unary.expr->type();
    if (is_numeric(type)) return {};
    return fail(position, fmt::format("unary expression only allowed on expressions of type scalar "
                                      "or instant vector, got {}",
                                      quote_text(name_of(type))));
  }

  Status check(Aggregate& aggregate, Position) {
    Status status = expect(*aggregate.expr, ValueType::kVector, "aggregation expression");
    if (!status.ok() || aggregate.param == nullptr) return status;
    const bool text = aggregate.op == AggregateOp::kCountValues;
    return expect(*aggregate.param, text ? ValueType::kString : ValueType::kScalar,
                  "aggregation parameter");
  }

  Status check(Call& call, Position position) {
    const Function& function = *call.function;
    if (Status bad = check_count(call, position); !bad.ok()) return bad;
    const std::string where = fmt::format("call to function \"{}\"", function.name);
    for (size_t i = 0; i < call.args.size(); ++i) {
      const ValueType wanted = function.args[std::min(i, function.args.size() - 1)];
      if (Status bad = expect(*call.args[i], wanted, where); !bad.ok()) return bad;
    }
    return {};
  }

  Status check_count(const Call& call, Position position) const {
    const Function& function = *call.function;
    const size_t given = call.args.size();
    const size_t named = function.args.size();
    const auto message = [&](std::string_view how, size_t wanted) {
      return fmt::format("expected {}{} argument(s) in call to {}, got {}", how, wanted,
                         quote_text(function.name), given);
    };
    if (function.variadic == 0) {
      return given == named ? Status() : fail(position, message("", named));
    }
    if (given + 1 < named) return fail(position, message("at least ", named - 1));
    const size_t most = named - 1 + static_cast<size_t>(std::max(function.variadic, 0));
    if (function.variadic > 0 && given > most) return fail(position, message("at most ", most));
    return {};
  }

  Status check(Binary& binary, Position position) {
    TRY(visit_all_right(*binary.lhs));
    TRY(visit_all_right(*binary.rhs));
    if (Status bad = check_operands(binary); !bad.ok()) return bad;
    const bool vectors =
        binary.lhs->type() == ValueType::kVector && binary.rhs->type() == ValueType::kVector;
    if (vectors) return check_set_operator(binary, position);
    if (!binary.matching->labels.empty()) {
      return fail(position, "vector matching only allowed between instant vectors");
    }
    binary.matching.reset();
    if (!is_set_operator(binary.op)) return {};
    return fail(position, fmt::format("set operator {} not allowed in binary scalar expression",
                                      quote_text(name_of(binary.op))));
  }

  Status check_operands(const Binary& binary) const {
    const ValueType left = binary.lhs->type();
    const ValueType right = binary.rhs->type();
    const Position op = operator_position(binary);
    if (binary.return_bool && !is_comparison(binary.op)) {
      return fail(op, "bool modifier can only be used on comparison operators");
    }
    const bool scalars = left == ValueType::kScalar && right == ValueType::kScalar;
    if (is_comparison(binary.op) && !binary.return_bool && scalars) {
      return fail(op, "comparisons between scalars must use BOOL modifier");
    }
    for (const std::string& label : binary.matching->labels) {
      const auto& include = binary.matching->include;
      if (!binary.matching->on || std::ranges::find(include, label) == include.end()) continue;
      return fail(op, fmt::format("label {} must not occur in ON and GROUP clause at once",
                                  quote_text(label)));
    }
    for (const Expr* side : {binary.lhs.get(), binary.rhs.get()}) {
      if (is_numeric(side->type())) continue;
      return fail(side->position,
                  "binary expression must contain only scalar and instant vector types");
    }
    return {};
  }

  Status check_set_operator(Binary& binary, Position position) const {
    if (!is_set_operator(binary.op)) return {};
    if (binary.matching->cardinality != Cardinality::kOneToOne) {
      return fail(position, fmt::format("no grouping allowed for {} operation",
                                        quote_text(name_of(binary.op))));
    }
    binary.matching->cardinality = Cardinality::kManyToMany;
    return {};
  }

  // Where the operator stands: behind the left side and the blanks there.
  Position operator_position(const Binary& binary) const {
    size_t start = binary.lhs->position.end;
    while (start < query_.size() && is_blank(query_[start])) ++start;
    return {start, binary.rhs->position.start};
  }

  std::string_view query_;
};

}  // namespace

Status check(std::string_view query, Expr& expr) { return Checker(query).visit(expr); }

}  // namespace gpusight::promql
