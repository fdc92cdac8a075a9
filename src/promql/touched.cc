// touched_by(): the names in an expression.
#include <set>
#include <string>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

// One walk over a tree.
class Walk {
 public:
  void visit(const Expr& expr) {
    std::visit([&](const auto& node) { visit(node); }, expr.node);
  }
  Touched result() const {
    return {.metrics = {metrics_.begin(), metrics_.end()},
            .labels = {labels_.begin(), labels_.end()},
            .any_metric = any_metric_};
  }

 private:
  void visit(const NumberLiteral&) {}
  void visit(const StringLiteral&) {}
  void visit(const Paren& paren) { visit(*paren.expr); }
  void visit(const Unary& unary) { visit(*unary.expr); }
  void visit(const Subquery& subquery) { visit(*subquery.expr); }
  void visit(const MatrixSelector& matrix) { visit(matrix.selector); }

  void visit(const VectorSelector& selector) {
    bool named = false;
    for (const model::Matcher& matcher : selector.matchers) {
      if (matcher.name != "__name__") {
        labels_.insert(matcher.name);
      } else if (matcher.kind == model::Matcher::Kind::kEqual && !matcher.value.empty()) {
        metrics_.insert(matcher.value);
        named = true;
      }
    }
    any_metric_ = any_metric_ || !named;
  }

  void visit(const Binary& binary) {
    visit(*binary.lhs);
    visit(*binary.rhs);
    if (!binary.matching) return;
    labels_.insert(binary.matching->labels.begin(), binary.matching->labels.end());
    labels_.insert(binary.matching->include.begin(), binary.matching->include.end());
  }

  void visit(const Aggregate& aggregate) {
    visit(*aggregate.expr);
    labels_.insert(aggregate.grouping.begin(), aggregate.grouping.end());
    if (aggregate.op == AggregateOp::kCountValues) add_label(*aggregate.param);
    if (aggregate.param) visit(*aggregate.param);
  }

  // label_replace(v, TO, replacement, FROM, pattern); label_join(v, TO, separator, FROM…).
  void visit(const Call& call) {
    for (const ExprPtr& arg : call.args) visit(*arg);
    const bool replace = call.function->name == "label_replace";
    const bool join = call.function->name == "label_join";
    if (!replace && !join) return;
    add_label(*call.args[1]);
    const size_t end = replace ? 4 : call.args.size();
    for (size_t i = 3; i < end; ++i) add_label(*call.args[i]);
  }

  void add_label(const Expr& expr) {
    if (const auto* text = without_parens(expr).as<StringLiteral>()) labels_.insert(text->value);
  }

  std::set<std::string> metrics_;
  std::set<std::string> labels_;
  bool any_metric_ = false;
};

}  // namespace

Touched touched_by(const Expr& expr) {
  Walk walk;
  walk.visit(expr);
  return walk.result();
}

}  // namespace gpusight::promql
