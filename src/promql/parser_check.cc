// What is right in grammar but means nothing: types, matching, numbers of arguments.
//
// The order of the checks is Prometheus's, so that of several mistakes the same one is told.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

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

// One checker a query. Each check answers with the type of what it checked. Trees are at most
// kMaxDepth high.
class Checker {
 public:
  explicit Checker(std::string_view query) : query_(query) {}

  Result<ValueType> visit(Expr& expr) {
    return std::visit([&](auto& node) { return check(node, expr.position); }, expr.node);
  }

 private:
  Status fail(Position position, std::string_view message) const {
    return parse_error(query_, position, message);
  }
  Result<ValueType> expect(Expr& expr, ValueType wanted, std::string_view where) {
    const ValueType type = TRY(visit(expr));
    if (type == wanted) return type;
    return fail(expr.position, fmt::format("expected type {} in {}, got {}", name_of(wanted), where,
                                           name_of(type)));
  }

  Result<ValueType> check(NumberLiteral&, Position) { return ValueType::kScalar; }
  Result<ValueType> check(StringLiteral&, Position) { return ValueType::kString; }
  Result<ValueType> check(Paren& paren, Position) { return visit(*paren.expr); }

  Result<ValueType> check(VectorSelector& selector, Position position) const {
    const auto& matchers = selector.matchers;
    if (!selector.name.empty()) {  // its own matcher comes first
      for (size_t i = 1; i < matchers.size(); ++i) {
        if (matchers[i].name != "__name__") continue;
        return fail(position,
                    fmt::format("metric name must not be set twice: {} or {}",
                                quote_text(selector.name), quote_text(matchers[i].value)));
      }
      return ValueType::kVector;
    }
    const auto selects = [](const model::Matcher& matcher) { return !matcher.accepts(""); };
    if (std::ranges::any_of(matchers, selects)) return ValueType::kVector;
    return fail(position, "vector selector must contain at least one non-empty matcher");
  }

  Result<ValueType> check(MatrixSelector& matrix, Position position) const {
    TRY(check(matrix.selector, position));
    return ValueType::kMatrix;
  }

  Result<ValueType> check(Subquery& subquery, Position position) {
    const ValueType type = TRY(visit(*subquery.expr));
    if (type == ValueType::kVector) return ValueType::kMatrix;
    return fail(position, fmt::format("subquery is only allowed on instant vector, got {} instead",
                                      short_name_of(type)));
  }

  Result<ValueType> check(Unary& unary, Position position) {
    const ValueType type = TRY(visit(*unary.expr));
    if (is_numeric(type)) return type;
    return fail(position, fmt::format("unary expression only allowed on expressions of type scalar "
                                      "or instant vector, got {}",
                                      quote_text(name_of(type))));
  }

  Result<ValueType> check(Aggregate& aggregate, Position) {
    TRY(expect(*aggregate.expr, ValueType::kVector, "aggregation expression"));
    if (aggregate.param != nullptr) {
      const bool text = aggregate.op == AggregateOp::kCountValues;
      TRY(expect(*aggregate.param, text ? ValueType::kString : ValueType::kScalar,
                 "aggregation parameter"));
    }
    return ValueType::kVector;
  }

  Result<ValueType> check(Call& call, Position position) {
    const Function& function = *call.function;
    if (Status bad = check_count(call, position); !bad.ok()) return bad;
    const std::string where = fmt::format("call to function \"{}\"", function.name);
    for (size_t i = 0; i < call.args.size(); ++i) {
      TRY(expect(*call.args[i], function.args[std::min(i, function.args.size() - 1)], where));
    }
    return function.returns;
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

  Result<ValueType> check(Binary& binary, Position position) {
    const ValueType left = TRY(visit(*binary.lhs));
    const ValueType right = TRY(visit(*binary.rhs));
    if (Status bad = check_operands(binary, left, right); !bad.ok()) return bad;
    if (left == ValueType::kVector && right == ValueType::kVector) {
      return check_set_operator(binary, position);
    }
    if (!binary.matching->labels.empty()) {
      return fail(position, "vector matching only allowed between instant vectors");
    }
    binary.matching.reset();
    if (is_set_operator(binary.op)) {
      return fail(position, fmt::format("set operator {} not allowed in binary scalar expression",
                                        quote_text(name_of(binary.op))));
    }
    return left == right ? left : ValueType::kVector;
  }

  Status check_operands(const Binary& binary, ValueType left, ValueType right) const {
    const Position op = operator_position(binary);
    if (binary.return_bool && !is_comparison(binary.op)) {
      return fail(op, "bool modifier can only be used on comparison operators");
    }
    const bool scalars = left == ValueType::kScalar && right == ValueType::kScalar;
    if (is_comparison(binary.op) && !binary.return_bool && scalars) {
      return fail(op, "comparisons between scalars must use BOOL modifier");
    }
    if (Status bad = check_labels(*binary.matching, op); !bad.ok()) return bad;
    for (const auto& [side, type] : {std::pair(&binary.lhs, left), std::pair(&binary.rhs, right)}) {
      if (is_numeric(type)) continue;
      return fail((*side)->position,
                  "binary expression must contain only scalar and instant vector types");
    }
    return {};
  }

  Status check_labels(const VectorMatching& matching, Position op) const {
    if (!matching.on) return {};
    const std::set<std::string_view> included(matching.include.begin(), matching.include.end());
    for (const std::string& label : matching.labels) {
      if (!included.contains(label)) continue;
      return fail(op, fmt::format("label {} must not occur in ON and GROUP clause at once",
                                  quote_text(label)));
    }
    return {};
  }

  Result<ValueType> check_set_operator(Binary& binary, Position position) const {
    if (!is_set_operator(binary.op)) return ValueType::kVector;
    if (binary.matching->cardinality != Cardinality::kOneToOne) {
      return fail(position, fmt::format("no grouping allowed for {} operation",
                                        quote_text(name_of(binary.op))));
    }
    binary.matching->cardinality = Cardinality::kManyToMany;
    return ValueType::kVector;
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

Status check(std::string_view query, Expr& expr) { return Checker(query).visit(expr).status(); }

}  // namespace gpusight::promql
