// The syntax tree of a PromQL expression, as the parser makes it (promql/parser.h) and the engine
// and the printer read it.
//
// A tree is checked: argument types, matching rules and patterns are right in every tree the parser
// returns. It is immutable from then on and may be read by several threads at once. Times and
// durations are milliseconds, times since 1970.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/queryable.h"
#include "promql/function.h"

namespace gpusight::promql {

// Where in the text a part stands: bytes [start, end).
struct Position {
  size_t start = 0;
  size_t end = 0;
};
// "LINE:COLUMN" of position.start in `query`; both begin at 1, a column counts bytes.
std::string line_and_column(std::string_view query, Position position);

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct NumberLiteral {
  double value = 0;
  bool is_duration = false;  // was written as one ("5m"), and is printed so
};

struct StringLiteral {
  std::string value;  // unescaped; any bytes
};

// "@ 1609746000", "@ start()", "@ end()" and "offset 5m" behind a selector or subquery.
struct TimeShift {
  enum class At : uint8_t { kNone, kTime, kStart, kEnd };
  At at = At::kNone;
  int64_t at_ms = 0;      // with At::kTime
  int64_t offset_ms = 0;  // positive looks back
};

struct VectorSelector {
  std::string name;                      // before the braces; empty when written inside or absent
  std::vector<model::Matcher> matchers;  // first the one on __name__ that `name` stands for
  TimeShift shift;
};

struct MatrixSelector {
  VectorSelector selector;
  int64_t range_ms = 0;  // > 0
};

struct Subquery {
  ExprPtr expr;
  int64_t range_ms = 0;            // > 0
  std::optional<int64_t> step_ms;  // > 0; absent: the engine's default
  TimeShift shift;
};

struct Call {
  const Function* function = nullptr;  // never null; a row of the function table
  std::vector<ExprPtr> args;           // number and types as the row says
};

enum class AggregateOp : uint8_t {
  kSum,
  kAvg,
  kCount,
  kMin,
  kMax,
  kGroup,
  kStddev,
  kStdvar,
  kTopk,
  kBottomk,
  kQuantile,
  kCountValues,
};
std::string_view name_of(AggregateOp op);

struct Aggregate {
  AggregateOp op = AggregateOp::kSum;
  ExprPtr param;  // of topk, bottomk, quantile (scalar), count_values (string); else null
  ExprPtr expr;
  bool without = false;  // else "by"
  std::vector<std::string> grouping;
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kPow,
  kAtan2,
  kEqual,
  kNotEqual,
  kGreater,
  kLess,
  kGreaterOrEqual,
  kLessOrEqual,
  kAnd,
  kOr,
  kUnless,
};
std::string_view name_of(BinaryOp op);
bool is_comparison(BinaryOp op);
bool is_set_operator(BinaryOp op);

// How two vectors find each other.
struct VectorMatching {
  enum class Cardinality : uint8_t { kOneToOne, kManyToOne, kOneToMany, kManyToMany };
  Cardinality cardinality = Cardinality::kOneToOne;
  bool on = false;                   // else "ignoring"
  std::vector<std::string> labels;   // of on or ignoring
  std::vector<std::string> include;  // of group_left or group_right
};

struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  ExprPtr lhs;
  ExprPtr rhs;
  bool return_bool = false;
  std::optional<VectorMatching> matching;  // exactly when both sides are vectors
};

struct Unary {
  bool negative = false;  // else a plus sign, which changes nothing
  ExprPtr expr;
};

struct Paren {
  ExprPtr expr;
};

struct Expr {
  using Node = std::variant<NumberLiteral, StringLiteral, VectorSelector, MatrixSelector, Subquery,
                            Call, Aggregate, Binary, Unary, Paren>;
  Node node;
  Position position;

  ValueType type() const;
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

// The same expression without the parentheses around it.
const Expr& without_parens(const Expr& expr);

}  // namespace gpusight::promql
