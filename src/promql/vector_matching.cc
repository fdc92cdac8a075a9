// Arithmetic and comparison between two vectors.
//
// One side is the "many" side, the other, the "one" side, may have one series with a value for each
// match group and step; with one-to-one matching that holds for both. Where a rule is broken at
// several places, the error names the first by step, then by side, then by the order of the series.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "promql/binary_element.h"
#include "promql/matching.h"
#include "promql/operators.h"

namespace gpusight::promql {
namespace {

constexpr size_t kNone = SIZE_MAX;

// The first broken rule found so far.
class FirstFault {
 public:
  enum class Kind : uint8_t { kTwoOnOneSide, kTwoMatches, kEqualResults };
  struct Place {
    size_t step = 0;
    Kind kind{};
    size_t series = 0;
    bool before(const Place& other) const {
      return std::tie(step, kind, series) < std::tie(other.step, other.kind, other.series);
    }
  };
  // `message` is asked for only when the place is before the one known.
  template <typename Message>
  void note(Place place, Message message) {
    if (place_ && !place.before(*place_)) return;
    place_ = place;
    message_ = message();
  }
  Status status() const { return place_ ? Status(Code::kInvalidArgument, message_) : Status(); }

 private:
  std::optional<Place> place_;
  std::string message_;
};

// Series of both sides with the same matching labels, by their index.
struct MatchGroup {
  std::vector<size_t> many;
  std::vector<size_t> one;
};

class Matched final : public HeldSource {
 public:
  Matched(Evaluation& evaluation, const Binary& binary, Rows lhs, Rows rhs, size_t steps)
      : HeldSource(evaluation),
        evaluation_(evaluation),
        matching_(*binary.matching),
        apply_(binary.op, binary.return_bool),
        swapped_(matching_.cardinality == VectorMatching::Cardinality::kOneToMany),
        one_to_one_(matching_.cardinality == VectorMatching::Cardinality::kOneToOne),
        return_bool_(binary.return_bool),
        labels_(matching_labels(matching_)),
        many_source_(std::move(swapped_ ? rhs : lhs)),
        one_source_(std::move(swapped_ ? lhs : rhs)),
        steps_(steps),
        many_(evaluation),
        one_(evaluation),
        put_by_charge_(evaluation) {}

 private:
  Status compute() override {
    TRY(read_sides());
    for (size_t i = 0; i < groups_.size(); ++i) {
      TRY(evaluation_.check());
      find_ones(groups_[i]);
      TRY(match(groups_[i], static_cast<uint32_t>(i + 1)));
    }
    TRY(fault_.status());
    many_.clear();
    one_.clear();
    return {};
  }

  Status read_sides() {
    TRY(many_.add_all(*many_source_));
    TRY(one_.add_all(*one_source_));
    KeyIndex index;
    const auto group_of = [&](const Row& row) -> MatchGroup& {
      const KeyIndex::Found found = index.find_or_add(labels_.key(row.labels));
      if (found.is_new) groups_.emplace_back();
      return groups_[found.index];
    };
    many_present_.assign(steps_, 0);
    for (size_t i = 0; i < many_.rows().size(); ++i) {
      const Row& row = many_.rows()[i];
      group_of(row).many.push_back(i);
      for (size_t step = 0; step < steps_; ++step) {
        many_present_[step] |= static_cast<uint8_t>(has_value(row.values[step]));
      }
    }
    for (size_t i = 0; i < one_.rows().size(); ++i) group_of(one_.rows()[i]).one.push_back(i);
    return {};
  }

  // ones_[step]: the series of the one side that has a value there.
  void find_ones(const MatchGroup& group) {
    ones_.assign(steps_, kNone);
    for (const size_t one : group.one) {
      const Row& row = one_.rows()[one];
      for (size_t step = 0; step < steps_; ++step) {
        if (!has_value(row.values[step])) continue;
        if (ones_[step] == kNone) {
          ones_[step] = one;
        } else if (many_present_[step] != 0) {
          fault_.note({step, FirstFault::Kind::kTwoOnOneSide, one},
                      [&] { return duplicates(one_.rows()[ones_[step]].labels, row.labels); });
        }
      }
    }
  }

  std::string duplicates(const model::Labels& a, const model::Labels& b) const {
    const auto [first, second] = std::minmax({text_of(a), text_of(b)});  // sorted
    return fmt::format(
        "found duplicate series for the match group {} on the {} hand-side of the operation: "
        "[{}, {}];many-to-many matching not allowed: matching labels must be unique on one side",
        text_of(labels_.of(a)), swapped_ ? "left" : "right", first, second);
  }

  Status match(const MatchGroup& group, uint32_t number) {
    matched_.assign(steps_, 0);
    for (const size_t many : group.many) {
      const Row& row = many_.rows()[many];
      size_t last_one = kNone;
      size_t output = kNone;
      for (size_t step = 0; step < steps_; ++step) {
        if (!has_value(row.values[step]) || ones_[step] == kNone) continue;
        if (ones_[step] != last_one) {
          last_one = ones_[step];
          output = TRY(output_for(row, one_.rows()[last_one]));
        }
        put(output, number, many, step);
      }
    }
    return {};
  }

  // The result of two series has the labels of the many side, but for those that matching changes.
  Result<size_t> output_for(const Row& many, const Row& one) {
    // A name that was to go at the end stays: Prometheus forgets it here.
    Row row{.labels = many.labels};
    if (apply_.is_arithmetic()) remove_label(row.labels, kMetricName);
    if (one_to_one_ && matching_.on) row.labels = on_labels(row.labels);
    if (one_to_one_ && !matching_.on) {
      for (const std::string& name : matching_.labels) remove_label(row.labels, name);
    }
    for (const std::string& name : matching_.include) {
      set_label(row.labels, name, label_value(one.labels, name));
    }
    if (return_bool_) drop_name(evaluation_, row);
    const auto [at, is_new] = by_labels_.try_emplace(row.labels, results().rows().size());
    if (is_new) {
      TRY(put_by_charge_.add(steps_ * sizeof(uint32_t)));
      put_by_.emplace_back(steps_);
      row.values.assign(steps_, no_value());
      TRY(results().add(std::move(row)));
    }
    return at->second;
  }

  model::Labels on_labels(const model::Labels& labels) const {
    return LabelSubset(LabelSubset::Kind::kListed, matching_.labels).of(labels);
  }

  void put(size_t output, uint32_t group, size_t many, size_t step) {
    const double ours = many_.rows()[many].values[step];
    const double theirs = one_.rows()[ones_[step]].values[step];
    const double lhs = swapped_ ? theirs : ours;
    const double result = apply_(lhs, swapped_ ? ours : theirs, lhs);
    const bool again = one_to_one_ ? matched_[step] != 0 : put_by_[output][step] == group;
    if (again) {
      fault_.note({step, FirstFault::Kind::kTwoMatches, many}, [&] {
        return one_to_one_ ? "multiple matches for labels: many-to-one matching must be explicit "
                             "(group_left/group_right)"
                           : "multiple matches for labels: grouping labels must ensure unique "
                             "matches";
      });
      return;
    }
    matched_[step] = 1;
    put_by_[output][step] = group;
    if (!has_value(result)) return;
    double& value = results().rows()[output].values[step];
    if (has_value(value)) {
      fault_.note({step, FirstFault::Kind::kEqualResults, many},
                  [] { return "vector cannot contain metrics with the same labelset"; });
    }
    value = result;
  }

  Evaluation& evaluation_;
  const VectorMatching& matching_;
  ElementOperator apply_;
  bool swapped_;  // the left side is the one side
  bool one_to_one_;
  bool return_bool_;
  LabelSubset labels_;
  Rows many_source_;
  Rows one_source_;
  size_t steps_;
  HeldRows many_;
  HeldRows one_;
  Charge put_by_charge_;
  std::vector<MatchGroup> groups_;
  std::vector<uint8_t> many_present_;  // at this step, in any group
  std::vector<size_t> ones_;           // of the group at hand
  std::vector<uint8_t> matched_;       // of the group at hand
  // For each result and step, the match group (from 1 on) that has put a value there, kept or not.
  std::vector<std::vector<uint32_t>> put_by_;
  std::map<model::Labels, size_t> by_labels_;  // into results() and put_by_
  FirstFault fault_;
};

}  // namespace

LabelSubset matching_labels(const VectorMatching& matching) {
  return {matching.on ? LabelSubset::Kind::kListed : LabelSubset::Kind::kAllBut, matching.labels};
}

Result<Rows> make_matched(Evaluation& evaluation, const Binary& binary, const Scope& scope) {
  Rows lhs = TRY(make_rows(evaluation, *binary.lhs, scope));
  Rows rhs = TRY(make_rows(evaluation, *binary.rhs, scope));
  return Rows(std::make_unique<Matched>(evaluation, binary, std::move(lhs), std::move(rhs),
                                        scope.steps.count));
}

}  // namespace gpusight::promql
