#include <algorithm>
#include <string>
#include <utility>

#include "promql/label_set.h"
#include "promql/operators.h"

namespace gpusight::promql {
namespace {

bool is_blank(const Row& row) { return std::ranges::none_of(row.values, has_value); }

Status merge_into(Row& into, const Row& from) {
  for (size_t i = 0; i < into.values.size(); ++i) {
    if (!has_value(from.values[i])) continue;
    if (has_value(into.values[i])) {
      return {Code::kInvalidArgument, "vector cannot contain metrics with the same labelset"};
    }
    into.values[i] = from.values[i];
  }
  return {};
}

class MergedRows final : public HeldSource {
 public:
  MergedRows(Evaluation& evaluation, Rows rows)
      : HeldSource(evaluation), evaluation_(evaluation), rows_(std::move(rows)) {}

 private:
  Status compute() override {
    LabelSubset all(LabelSubset::Kind::kAllBut, {});
    KeyIndex index;
    Row row;
    while (TRY(rows_->next(row))) {
      TRY(evaluation_.check());
      if (is_blank(row)) continue;
      // The key leaves the name out: it goes in front.
      std::string key(label_value(row.labels, kMetricName));
      key += '\0';
      key += all.key(row.labels);
      const KeyIndex::Found found = index.find_or_add(key);
      if (found.is_new) {
        TRY(results().add(std::move(row)));
      } else {
        TRY(merge_into(results().rows()[found.index], row));
      }
    }
    rows_.reset();
    return {};
  }

  Evaluation& evaluation_;
  Rows rows_;
};

}  // namespace

Status HeldRows::add(Row&& row) {
  TRY(charge_.add(bytes_of(row)));
  rows_.push_back(std::move(row));
  return {};
}

Status HeldRows::add_all(RowSource& source) {
  Row row;
  while (TRY(source.next(row))) {
    TRY(evaluation_.check());
    if (!is_blank(row)) TRY(add(std::move(row)));
  }
  return {};
}

void HeldRows::clear() {
  rows_.clear();
  charge_.clear();
}

Result<bool> HeldSource::next(Row& row) {
  if (!std::exchange(computed_, true)) TRY(compute());
  if (next_ == results_.rows().size()) {
    results_.clear();
    next_ = 0;
    return false;
  }
  row = std::move(results_.rows()[next_++]);
  return true;
}

Rows merge_equal(Evaluation& evaluation, Rows rows) {
  return std::make_unique<MergedRows>(evaluation, std::move(rows));
}

void drop_name(const Evaluation& evaluation, Row& row) {
  if (evaluation.delays_name_removal()) {
    row.drop_name = true;
  } else {
    remove_label(row.labels, kMetricName);
  }
}

Rows merge_after_name_drop(Evaluation& evaluation, const Expr& expr, Rows rows) {
  if (evaluation.delays_name_removal() || has_one_name(expr)) return rows;
  return merge_equal(evaluation, std::move(rows));
}

}  // namespace gpusight::promql
