// For tests: a tree as text that shows everything in it but positions, parentheses for every node.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "promql/ast.h"
#include "promql/literal.h"

namespace gpusight::promql {

std::string tree_text(const Expr& expr);

class TreeText {
 public:
  std::string operator()(const NumberLiteral& n) const {
    return (n.is_duration ? "duration " : "") + print_number(n.value);
  }
  std::string operator()(const StringLiteral& s) const { return quote_text(s.value); }
  std::string operator()(const VectorSelector& v) const {
    std::string out = "[" + v.name;
    for (const model::Matcher& m : v.matchers) {
      static constexpr std::string_view kOperators[] = {"=", "!=", "=~", "!~"};
      out += fmt::format(" {}{}{}", quote_text(m.name), kOperators[static_cast<size_t>(m.kind)],
                         quote_text(m.value));
    }
    return out + shift(v.shift) + "]";
  }
  std::string operator()(const MatrixSelector& m) const {
    return fmt::format("(range {} {})", m.range_ms, (*this)(m.selector));
  }
  std::string operator()(const Subquery& s) const {
    return fmt::format("(subquery {} {}{} {})", s.range_ms,
                       s.step_ms ? std::to_string(*s.step_ms) : "default", shift(s.shift),
                       tree_text(*s.expr));
  }
  std::string operator()(const Call& c) const {
    std::string out = fmt::format("({}", c.function->name);
    for (const ExprPtr& arg : c.args) out += " " + tree_text(*arg);
    return out + ")";
  }
  std::string operator()(const Aggregate& a) const {
    return fmt::format("({} {}{} {}{})", name_of(a.op), a.without ? "without" : "by",
                       list(a.grouping), a.param ? tree_text(*a.param) + " " : "",
                       tree_text(*a.expr));
  }
  std::string operator()(const Binary& b) const {
    return fmt::format("({}{}{} {} {})", name_of(b.op), b.return_bool ? " bool" : "",
                       b.matching ? matching(*b.matching) : "", tree_text(*b.lhs),
                       tree_text(*b.rhs));
  }
  std::string operator()(const Unary& u) const {
    return fmt::format("({} {})", u.negative ? "neg" : "pos", tree_text(*u.expr));
  }
  std::string operator()(const Paren& p) const { return "(paren " + tree_text(*p.expr) + ")"; }

 private:
  static std::string list(const std::vector<std::string>& names) {
    std::string out = "(";
    for (const std::string& name : names) out += (out.size() > 1 ? " " : "") + quote_text(name);
    return out + ")";
  }
  static std::string shift(const TimeShift& s) {
    std::string out;
    if (s.at == TimeShift::At::kTime) out += fmt::format(" at {}", s.at_ms);
    if (s.at == TimeShift::At::kStart) out += " at start";
    if (s.at == TimeShift::At::kEnd) out += " at end";
    if (s.offset_ms != 0) out += fmt::format(" offset {}", s.offset_ms);
    return out;
  }
  // Nothing for what two vectors do by themselves.
  static std::string matching(const VectorMatching& m) {
    static constexpr std::string_view kCardinalities[] = {"1:1", "n:1", "1:n", "n:n"};
    std::string out;
    if (m.cardinality != VectorMatching::Cardinality::kOneToOne) {
      out += fmt::format(" {}", kCardinalities[static_cast<size_t>(m.cardinality)]);
    }
    if (m.on || !m.labels.empty()) out += (m.on ? " on" : " ignoring") + list(m.labels);
    if (!m.include.empty()) out += " include" + list(m.include);
    return out;
  }
};

inline std::string tree_text(const Expr& expr) { return std::visit(TreeText{}, expr.node); }

}  // namespace gpusight::promql
