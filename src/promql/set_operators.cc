#include <optional>
#include <utility>
#include <vector>

#include "promql/matching.h"
#include "promql/operators.h"

namespace gpusight::promql {
namespace {

// At which steps there is any series with these labels.
class Presence {
 public:
  Presence(Evaluation& evaluation, const VectorMatching& matching, size_t steps)
      : charge_(evaluation), labels_(matching_labels(matching)), steps_(steps) {}

  Status add(const Row& row) {
    const KeyIndex::Found found = index_.find_or_add(labels_.key(row.labels));
    if (found.is_new) {
      TRY(charge_.add(steps_));
      present_.emplace_back(steps_);
    }
    std::vector<uint8_t>& present = present_[found.index];
    for (size_t i = 0; i < steps_; ++i)
      present[i] |= static_cast<uint8_t>(has_value(row.values[i]));
    return {};
  }

  // Leaves values only at steps at which the presence of their like is `wanted`.
  void filter(Row& row, bool wanted) {
    const std::optional<size_t> like = index_.find(labels_.key(row.labels));
    for (size_t i = 0; i < steps_; ++i) {
      const bool present = like && present_[*like][i] != 0;
      if (present != wanted) row.values[i] = no_value();
    }
  }

 private:
  Charge charge_;
  LabelSubset labels_;
  KeyIndex index_;
  std::vector<std::vector<uint8_t>> present_;
  size_t steps_;
};

// "and" and "unless": the left side, filtered by the presence of the right.
class Intersection final : public RowSource {
 public:
  Intersection(Evaluation& evaluation, const Binary& binary, Rows lhs, Rows rhs, size_t steps)
      : evaluation_(evaluation),
        wanted_(binary.op == BinaryOp::kAnd),
        lhs_(std::move(lhs)),
        rhs_(std::move(rhs)),
        right_(evaluation, *binary.matching, steps) {}

  Result<bool> next(Row& row) override {
    if (rhs_ != nullptr) TRY(read_right());
    if (!TRY(lhs_->next(row))) return false;
    right_.filter(row, wanted_);
    return true;
  }

 private:
  Status read_right() {
    Row row;
    while (TRY(rhs_->next(row))) {
      TRY(evaluation_.check());
      TRY(right_.add(row));
    }
    rhs_.reset();
    return {};
  }

  Evaluation& evaluation_;
  bool wanted_;
  Rows lhs_;
  Rows rhs_;
  Presence right_;
};

// "or": the left side, then of the right what the left side has nothing like.
class Union final : public RowSource {
 public:
  Union(Evaluation& evaluation, const Binary& binary, Rows lhs, Rows rhs, size_t steps)
      : lhs_(std::move(lhs)), rhs_(std::move(rhs)), left_(evaluation, *binary.matching, steps) {}

  Result<bool> next(Row& row) override {
    if (lhs_ != nullptr) {
      if (TRY(lhs_->next(row))) {
        TRY(left_.add(row));
        return true;
      }
      lhs_.reset();
    }
    if (!TRY(rhs_->next(row))) return false;
    left_.filter(row, false);
    return true;
  }

 private:
  Rows lhs_;
  Rows rhs_;
  Presence left_;
};

}  // namespace

Result<Rows> make_set_operation(Evaluation& evaluation, const Binary& binary, const Scope& scope) {
  Rows lhs = TRY(make_rows(evaluation, *binary.lhs, scope));
  Rows rhs = TRY(make_rows(evaluation, *binary.rhs, scope));
  const size_t steps = scope.steps.count;
  if (binary.op == BinaryOp::kOr) {
    // The same series can come from the left at one step and from the right at another.
    return merge_equal(evaluation, std::make_unique<Union>(evaluation, binary, std::move(lhs),
                                                           std::move(rhs), steps));
  }
  return Rows(
      std::make_unique<Intersection>(evaluation, binary, std::move(lhs), std::move(rhs), steps));
}

}  // namespace gpusight::promql
