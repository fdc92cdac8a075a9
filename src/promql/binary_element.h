// What a binary operator makes of two numbers.
//
// Internal to promql; pure. Not for the set operators.
#pragma once

#include "promql/ast.h"

namespace gpusight::promql {

class ElementOperator {
 public:
  // `return_bool`: a comparison gives 1 or 0 instead of keeping or leaving out a value.
  ElementOperator(BinaryOp op, bool return_bool);

  // `kept` is what a comparison that holds keeps; no_value() where it does not.
  double operator()(double lhs, double rhs, double kept) const {
    if (arithmetic_ != nullptr) return arithmetic_(lhs, rhs);
    return compared(holds_(lhs, rhs), kept);
  }
  // True where the metric's name no longer says what the result is.
  bool drops_name() const { return arithmetic_ != nullptr || return_bool_; }
  bool is_arithmetic() const { return arithmetic_ != nullptr; }

 private:
  double compared(bool holds, double kept) const;
  double (*arithmetic_)(double, double) = nullptr;  // exactly one of the two is there
  bool (*holds_)(double, double) = nullptr;
  bool return_bool_;
};

}  // namespace gpusight::promql
