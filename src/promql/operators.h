// How an expression becomes a tree of operators. Each file of operators adds its own here; plan.cc
// chooses among them.
//
// Internal to promql. An operator refers to the Evaluation and the expression, which outlive it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "promql/ast.h"
#include "promql/evaluation.h"
#include "promql/row.h"
#include "promql/samples.h"

namespace gpusight::promql {

using Rows = std::unique_ptr<RowSource>;

// What an expression is evaluated for.
struct Scope {
  Steps steps;
  std::string_view function;  // the innermost one around it, for the Queryable's choice of tier
};

// A scalar at every step.
struct Column {
  Charge charge;
  std::vector<double> values;
};

// Any expression that is an instant vector, and any that is a scalar.
Result<Rows> make_rows(Evaluation& evaluation, const Expr& expr, const Scope& scope);
Result<Column> make_column(Evaluation& evaluation, const Expr& expr, const Scope& scope);

// selector.cc
enum class SampleField : uint8_t { kValue, kTime };  // kTime: when it was taken, in seconds
Result<Rows> make_selector(Evaluation& evaluation, const VectorSelector& selector,
                           const Scope& scope, SampleField field);
// samples.cc: what a range function looks at; a range selector or a subquery, without parentheses.
Result<std::unique_ptr<SampleSource>> make_samples(Evaluation& evaluation, const Expr& expr,
                                                   const Scope& scope);
// The instants at which a subquery evaluates what is inside.
Steps subquery_steps(const Evaluation& evaluation, const Subquery& subquery, const Scope& scope);
// range_call.cc
Result<Rows> make_range_call(Evaluation& evaluation, const Call& call, const Scope& scope);
// calls.cc
Result<Rows> make_call(Evaluation& evaluation, const Expr& expr, const Call& call,
                       const Scope& scope);
Result<Column> make_scalar_call(Evaluation& evaluation, const Call& call, const Scope& scope);
Result<Rows> make_negated(Evaluation& evaluation, const Expr& expr, const Scope& scope);
// histogram_call.cc
Result<Rows> make_histogram_call(Evaluation& evaluation, const Call& call, const Scope& scope);
// aggregate.cc, aggregate_held.cc
Result<Rows> make_aggregate(Evaluation& evaluation, const Aggregate& aggregate, const Scope& scope);
Result<Rows> make_top(Evaluation& evaluation, const Aggregate& aggregate, const Scope& scope);
Result<Rows> make_quantile(Evaluation& evaluation, const Aggregate& aggregate, const Scope& scope);
Result<Rows> make_count_values(Evaluation& evaluation, const Aggregate& aggregate,
                               const Scope& scope);
// binary.cc, vector_matching.cc, set_operators.cc
Result<Rows> make_binary(Evaluation& evaluation, const Binary& binary, const Scope& scope);
Result<Column> make_scalar_binary(Evaluation& evaluation, const Binary& binary, const Scope& scope);
Result<Rows> make_matched(Evaluation& evaluation, const Binary& binary, const Scope& scope);
Result<Rows> make_set_operation(Evaluation& evaluation, const Binary& binary, const Scope& scope);

// held_rows.cc
// Rows with equal labels become one where no step has a value in two of them; else it is an error.
Rows merge_equal(Evaluation& evaluation, Rows rows);
// Takes the name from a row, at once or at the end of the query.
void drop_name(const Evaluation& evaluation, Row& row);
// merge_equal() where dropping the names of `expr` could make rows equal.
Rows merge_after_name_drop(Evaluation& evaluation, const Expr& expr, Rows rows);

// The rows of a source kept in memory, and charged.
class HeldRows {
 public:
  explicit HeldRows(Evaluation& evaluation) : evaluation_(evaluation), charge_(evaluation) {}
  Status add(Row&& row);
  Status add_all(RowSource& source);
  std::vector<Row>& rows() { return rows_; }
  void clear();

 private:
  Evaluation& evaluation_;
  Charge charge_;
  std::vector<Row> rows_;
};

// What has computed its rows when first asked for one, and then hands them out.
class HeldSource : public RowSource {
 public:
  explicit HeldSource(Evaluation& evaluation) : results_(evaluation) {}
  Result<bool> next(Row& row) final;

 protected:
  // Fills results().
  virtual Status compute() = 0;
  HeldRows& results() { return results_; }

 private:
  HeldRows results_;
  size_t next_ = 0;
  bool computed_ = false;
};

}  // namespace gpusight::promql
