#include <string>
#include <utility>

#include "promql/fold.h"
#include "promql/groups.h"
#include "promql/operators.h"

namespace gpusight::promql {
namespace {

// Folds rows as they come; what it holds is a state for every group and step.
class FoldedRows final : public HeldSource {
 public:
  FoldedRows(Evaluation& evaluation, const Aggregate& aggregate, Rows rows, size_t steps)
      : HeldSource(evaluation),
        evaluation_(evaluation),
        op_(aggregate.op),
        rows_(std::move(rows)),
        steps_(steps),
        subset_(grouping_of(aggregate)) {}

 private:
  struct Group {
    Row row;
    std::unique_ptr<Fold> fold;
    Charge charge;
  };

  Status compute() override {
    KeyIndex index;
    std::vector<Group> groups;
    Row row;
    while (TRY(rows_->next(row))) {
      TRY(evaluation_.check());
      const KeyIndex::Found found = index.find_or_add(subset_.key(row.labels));
      if (found.is_new) {
        Charge charge(evaluation_);
        TRY(charge.add(sizeof(Group) + steps_ * fold_bytes_per_step(op_)));
        groups.push_back(
            {{.labels = subset_.of(row.labels)}, make_fold(op_, steps_), std::move(charge)});
      }
      groups[found.index].fold->add(row.values);
      groups[found.index].row.drop_name |= row.drop_name;
    }
    rows_.reset();
    for (Group& group : groups) {
      group.row.values = group.fold->finish();
      group.fold.reset();
      group.charge.clear();
      TRY(results().add(std::move(group.row)));
    }
    return {};
  }

  Evaluation& evaluation_;
  AggregateOp op_;
  Rows rows_;
  size_t steps_;
  LabelSubset subset_;
};

}  // namespace

LabelSubset grouping_of(const Aggregate& aggregate) {
  return {aggregate.without ? LabelSubset::Kind::kAllBut : LabelSubset::Kind::kListed,
          aggregate.grouping};
}

Result<Rows> make_aggregate(Evaluation& evaluation, const Aggregate& aggregate,
                            const Scope& outer) {
  const Scope scope{.steps = outer.steps, .function = name_of(aggregate.op)};
  switch (aggregate.op) {
    case AggregateOp::kTopk:
    case AggregateOp::kBottomk: return make_top(evaluation, aggregate, scope);
    case AggregateOp::kQuantile: return make_quantile(evaluation, aggregate, scope);
    case AggregateOp::kCountValues: return make_count_values(evaluation, aggregate, scope);
    default: break;
  }
  Rows rows = TRY(make_rows(evaluation, *aggregate.expr, scope));
  return Rows(
      std::make_unique<FoldedRows>(evaluation, aggregate, std::move(rows), scope.steps.count));
}

}  // namespace gpusight::promql
