#include <cmath>
#include <utility>

#include "promql/binary_element.h"
#include "promql/operators.h"

namespace gpusight::promql {
namespace {

using Arithmetic = double (*)(double, double);
using Comparison = bool (*)(double, double);

Arithmetic arithmetic_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return [](double a, double b) { return a + b; };
    case BinaryOp::kSub: return [](double a, double b) { return a - b; };
    case BinaryOp::kMul: return [](double a, double b) { return a * b; };
    case BinaryOp::kDiv: return [](double a, double b) { return a / b; };
    case BinaryOp::kMod: return [](double a, double b) { return std::fmod(a, b); };
    case BinaryOp::kPow: return [](double a, double b) { return std::pow(a, b); };
    case BinaryOp::kAtan2: return [](double a, double b) { return std::atan2(a, b); };
    default: return nullptr;
  }
}

Comparison comparison_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEqual: return [](double a, double b) { return a == b; };
    case BinaryOp::kNotEqual: return [](double a, double b) { return a != b; };
    case BinaryOp::kGreater: return [](double a, double b) { return a > b; };
    case BinaryOp::kLess: return [](double a, double b) { return a < b; };
    case BinaryOp::kGreaterOrEqual: return [](double a, double b) { return a >= b; };
    case BinaryOp::kLessOrEqual: return [](double a, double b) { return a <= b; };
    default: return nullptr;
  }
}

// A vector on one side, a scalar on the other. A comparison keeps the vector's value, whichever
// side it stands on.
class WithScalar final : public RowSource {
 public:
  WithScalar(const Evaluation& evaluation, Rows rows, Column scalar, const Binary& binary)
      : evaluation_(evaluation),
        rows_(std::move(rows)),
        scalar_(std::move(scalar)),
        apply_(binary.op, binary.return_bool),
        scalar_left_(binary.lhs->type() == ValueType::kScalar) {}

  Result<bool> next(Row& row) override {
    if (!TRY(rows_->next(row))) return false;
    for (size_t i = 0; i < row.values.size(); ++i) {
      const double value = row.values[i];
      if (!has_value(value)) continue;
      const double scalar = scalar_.values[i];
      row.values[i] = scalar_left_ ? apply_(scalar, value, value) : apply_(value, scalar, value);
    }
    if (apply_.drops_name()) drop_name(evaluation_, row);
    return true;
  }

 private:
  const Evaluation& evaluation_;
  Rows rows_;
  Column scalar_;
  ElementOperator apply_;
  bool scalar_left_;
};

}  // namespace

ElementOperator::ElementOperator(BinaryOp op, bool return_bool)
    : arithmetic_(arithmetic_of(op)), holds_(comparison_of(op)), return_bool_(return_bool) {
  CHECK((arithmetic_ != nullptr) != (holds_ != nullptr), "an operator on numbers");
}

double ElementOperator::compared(bool holds, double kept) const {
  if (return_bool_) return holds ? 1 : 0;
  return holds ? kept : no_value();
}

Result<Rows> make_binary(Evaluation& evaluation, const Binary& binary, const Scope& outer) {
  const Scope scope{.steps = outer.steps};  // a function around it says nothing of one side
  if (is_set_operator(binary.op)) return make_set_operation(evaluation, binary, scope);
  if (binary.matching) return make_matched(evaluation, binary, scope);
  const bool scalar_left = binary.lhs->type() == ValueType::kScalar;
  const Expr& scalar = scalar_left ? *binary.lhs : *binary.rhs;
  const Expr& vector = scalar_left ? *binary.rhs : *binary.lhs;
  Column column = TRY(make_column(evaluation, scalar, scope));
  Rows rows = TRY(make_rows(evaluation, vector, scope));
  rows = std::make_unique<WithScalar>(evaluation, std::move(rows), std::move(column), binary);
  if (!ElementOperator(binary.op, binary.return_bool).drops_name()) return rows;
  return merge_after_name_drop(evaluation, vector, std::move(rows));
}

Result<Column> make_scalar_binary(Evaluation& evaluation, const Binary& binary,
                                  const Scope& scope) {
  Column lhs = TRY(make_column(evaluation, *binary.lhs, scope));
  const Column rhs = TRY(make_column(evaluation, *binary.rhs, scope));
  const ElementOperator apply(binary.op, true);  // between scalars it is always "bool"
  for (size_t i = 0; i < lhs.values.size(); ++i) {
    lhs.values[i] = apply(lhs.values[i], rhs.values[i], lhs.values[i]);
  }
  return lhs;
}

}  // namespace gpusight::promql
