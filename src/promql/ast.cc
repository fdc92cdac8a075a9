#include "promql/ast.h"

#include <algorithm>

#include <fmt/format.h>

namespace gpusight::promql {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

ValueType type_of(const Binary& binary) {
  const bool scalars =
      binary.lhs->type() == ValueType::kScalar && binary.rhs->type() == ValueType::kScalar;
  return scalars ? ValueType::kScalar : ValueType::kVector;
}

}  // namespace

std::string line_and_column(std::string_view query, Position position) {
  const std::string_view before = query.substr(0, std::min(position.start, query.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n');
  const size_t column =
      before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return fmt::format("{}:{}", line, column);
}

std::string_view name_of(AggregateOp op) {
  static constexpr std::string_view kNames[] = {"sum",  "avg",     "count",    "min",
                                                "max",  "group",   "stddev",   "stdvar",
                                                "topk", "bottomk", "quantile", "count_values"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view name_of(BinaryOp op) {
  static constexpr std::string_view kNames[] = {"+",     "-",   "*",  "/",     "%", "^",
                                                "atan2", "==",  "!=", ">",     "<", ">=",
                                                "<=",    "and", "or", "unless"};
  return kNames[static_cast<size_t>(op)];
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kLessOrEqual; }
bool is_set_operator(BinaryOp op) { return op >= BinaryOp::kAnd; }

ValueType Expr::type() const {
  return std::visit(Overloaded{
                        [](const NumberLiteral&) { return ValueType::kScalar; },
                        [](const StringLiteral&) { return ValueType::kString; },
                        [](const VectorSelector&) { return ValueType::kVector; },
                        [](const MatrixSelector&) { return ValueType::kMatrix; },
                        [](const Subquery&) { return ValueType::kMatrix; },
                        [](const Call& call) { return call.function->returns; },
                        [](const Aggregate&) { return ValueType::kVector; },
                        [](const Binary& binary) { return type_of(binary); },
                        [](const Unary& unary) { return unary.expr->type(); },
                        [](const Paren& paren) { return paren.expr->type(); },
                    },
                    node);
}

const Expr& without_parens(const Expr& expr) {
  const Expr* inner = &expr;
  while (const Paren* paren = inner->as<Paren>()) inner = paren->expr.get();
  return *inner;
}

}  // namespace gpusight::promql
