// Aggregations that need all rows of a group at once, or make more rows than one of a group.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/best_heap.h"
#include "promql/go_text.h"
#include "promql/groups.h"
#include "promql/operators.h"
#include "promql/quantile.h"

namespace gpusight::promql {
namespace {

// Which rows belong together: their indices, in their order.
using RowGroups = std::vector<std::vector<size_t>>;
RowGroups groups_of(const std::vector<Row>& rows, LabelSubset& subset) {
  RowGroups groups;
  KeyIndex index;
  for (size_t i = 0; i < rows.size(); ++i) {
    const KeyIndex::Found found = index.find_or_add(subset.key(rows[i].labels));
    if (found.is_new) groups.emplace_back();
    groups[found.index].push_back(i);
  }
  return groups;
}

// topk and bottomk.
class TopRows final : public HeldSource {
 public:
  TopRows(Evaluation& evaluation, const Aggregate& aggregate, Rows rows, Column sizes)
      : HeldSource(evaluation),
        evaluation_(evaluation),
        heap_(aggregate.op == AggregateOp::kTopk ? BestHeap::Order::kGreatestFirst
                                                 : BestHeap::Order::kLeastFirst),
        subset_(grouping_of(aggregate)),
        rows_(std::move(rows)),
        sizes_(std::move(sizes)) {}

 private:
  Status compute() override {
    TRY(results().add_all(*rows_));
    rows_.reset();
    for (const std::vector<size_t>& group : groups_of(results().rows(), subset_)) {
      TRY(evaluation_.check());
      for (size_t step = 0; step < sizes_.values.size(); ++step) keep_best(group, step);
    }
    if (sizes_.values.size() == 1) put_in_order();
    return {};
  }

  // Leaves the values of the best at `step` and takes away those of the others.
  void keep_best(const std::vector<size_t>& group, size_t step) {
    std::vector<Row>& rows = results().rows();
    const double size = std::clamp(sizes_.values[step], 0.0, static_cast<double>(group.size()));
    heap_.restart(static_cast<size_t>(size));
    for (const size_t member : group) {
      const double value = rows[member].values[step];
      if (!has_value(value)) continue;
      if (const auto out = heap_.offer({value, member})) rows[*out].values[step] = no_value();
    }
    if (sizes_.values.size() > 1) return;
    for (const BestHeap::Entry& entry : heap_.sorted()) best_.push_back(entry.series);
  }

  // An instant query's rows stand in the order of their values, group by group.
  void put_in_order() {
    std::vector<Row> ordered;
    for (const size_t row : best_) ordered.push_back(std::move(results().rows()[row]));
    results().rows() = std::move(ordered);
  }

  Evaluation& evaluation_;
  BestHeap heap_;
  LabelSubset subset_;
  Rows rows_;
  Column sizes_;
  std::vector<size_t> best_;  // of an instant query
};

class QuantileRows final : public HeldSource {
 public:
  QuantileRows(Evaluation& evaluation, const Aggregate& aggregate, Rows rows, Column quantiles)
      : HeldSource(evaluation),
        evaluation_(evaluation),
        subset_(grouping_of(aggregate)),
        rows_(std::move(rows)),
        quantiles_(std::move(quantiles)) {}

 private:
  Status compute() override {
    HeldRows held(evaluation_);
    TRY(held.add_all(*rows_));
    rows_.reset();
    for (const std::vector<size_t>& group : groups_of(held.rows(), subset_)) {
      TRY(evaluation_.check());
      TRY(results().add(reduce(held.rows(), group)));
    }
    return {};
  }

  Row reduce(const std::vector<Row>& rows, const std::vector<size_t>& group) {
    Row result{.labels = subset_.of(rows[group.front()].labels)};
    result.values.assign(quantiles_.values.size(), no_value());
    for (const size_t member : group) result.drop_name |= rows[member].drop_name;
    for (size_t step = 0; step < result.values.size(); ++step) {
      values_.clear();
      for (const size_t member : group) {
        if (has_value(rows[member].values[step])) values_.push_back(rows[member].values[step]);
      }
      if (!values_.empty()) result.values[step] = quantile(quantiles_.values[step], values_);
    }
    return result;
  }

  Evaluation& evaluation_;
  LabelSubset subset_;
  Rows rows_;
  Column quantiles_;
  std::vector<double> values_;
};

// count_values: a row for every value there is in a group, which is its label.
class CountedValues final : public HeldSource {
 public:
  CountedValues(Evaluation& evaluation, const Aggregate& aggregate, std::string label, Rows rows,
                size_t steps)
      : HeldSource(evaluation),
        evaluation_(evaluation),
        label_(std::move(label)),
        keeps_label_(!aggregate.without ||
                     (label_ != kMetricName &&
                      std::ranges::find(aggregate.grouping, label_) == aggregate.grouping.end())),
        subset_(grouping_of(aggregate)),
        rows_(std::move(rows)),
        steps_(steps) {}

 private:
  // By the bits of the value, all NaN being one; without a label for it all values are.
  using Counts = std::map<std::pair<size_t, uint64_t>, size_t>;

  Status compute() override {
    KeyIndex groups;
    Counts counts;
    Row row;
    while (TRY(rows_->next(row))) {
      TRY(evaluation_.check());
      remove_label(row.labels, label_);
      const size_t group = groups.find_or_add(subset_.key(row.labels)).index;
      for (size_t step = 0; step < steps_; ++step) {
        if (has_value(row.values[step])) TRY(count(row, step, group, counts));
      }
    }
    rows_.reset();
    return {};
  }

  Status count(const Row& from, size_t step, size_t group, Counts& counts) {
    const double value = from.values[step];
    const uint64_t bits = std::isnan(value) || !keeps_label_
                              ? std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN())
                              : std::bit_cast<uint64_t>(value);
    const auto [at, is_new] = counts.try_emplace({group, bits}, results().rows().size());
    if (is_new) {
      Row row{.labels = subset_.of(from.labels)};
      if (keeps_label_) set_label(row.labels, label_, go_fixed(value));
      row.values.assign(steps_, no_value());
      TRY(results().add(std::move(row)));
    }
    double& total = results().rows()[at->second].values[step];
    total = has_value(total) ? total + 1 : 1;
    return {};
  }

  Evaluation& evaluation_;
  std::string label_;
  bool keeps_label_;  // "without" may name the very label that the values go to
  LabelSubset subset_;
  Rows rows_;
  size_t steps_;
};

struct Extremes {
  bool any_nan = false;
  double least = 0;
  double greatest = 0;
};

Extremes extremes_of(const std::vector<double>& values) {
  Extremes extremes{.least = values.front(), .greatest = values.front()};
  for (const double value : values) {
    extremes.any_nan |= std::isnan(value);
    extremes.least = std::fmin(extremes.least, value);
    extremes.greatest = std::fmax(extremes.greatest, value);
  }
  return extremes;
}

// How many topk may be asked for: what fits a 64-bit integer, as in Prometheus.
Status check_sizes(const Extremes& sizes) {
  constexpr double kTooLarge = 9223372036854774784.0;
  constexpr double kTooSmall = -9223372036854775808.0;
  if (sizes.any_nan) return {Code::kInvalidArgument, "Parameter value is NaN"};
  if (sizes.greatest < 1) return {};  // there will be no rows, however small the others are
  if (sizes.least <= kTooSmall) {
    return {Code::kInvalidArgument,
            fmt::format("Scalar value {} underflows int64", go_general(sizes.least))};
  }
  if (sizes.greatest >= kTooLarge) {
    return {Code::kInvalidArgument,
            fmt::format("Scalar value {} overflows int64", go_general(sizes.greatest))};
  }
  return {};
}

void remark_on_quantile(Evaluation& evaluation, double quantile, Position position) {
  evaluation.warn(
      fmt::format("quantile value should be between 0 and 1, got {}", go_general(quantile)),
      position);
}

}  // namespace

Result<Rows> make_top(Evaluation& evaluation, const Aggregate& aggregate, const Scope& scope) {
  Column sizes = TRY(make_column(evaluation, *aggregate.param, {.steps = scope.steps}));
  TRY(check_sizes(extremes_of(sizes.values)));
  Rows rows = TRY(make_rows(evaluation, *aggregate.expr, scope));
  return Rows(std::make_unique<TopRows>(evaluation, aggregate, std::move(rows), std::move(sizes)));
}

Result<Rows> make_quantile(Evaluation& evaluation, const Aggregate& aggregate, const Scope& scope) {
  Column quantiles = TRY(make_column(evaluation, *aggregate.param, {.steps = scope.steps}));
  const Extremes extremes = extremes_of(quantiles.values);
  const Position position = without_parens(*aggregate.param).position;
  if (extremes.any_nan) remark_on_quantile(evaluation, std::nan(""), position);
  if (extremes.greatest > 1) remark_on_quantile(evaluation, extremes.greatest, position);
  if (extremes.least < 0) remark_on_quantile(evaluation, extremes.least, position);
  Rows rows = TRY(make_rows(evaluation, *aggregate.expr, scope));
  return Rows(
      std::make_unique<QuantileRows>(evaluation, aggregate, std::move(rows), std::move(quantiles)));
}

Result<Rows> make_count_values(Evaluation& evaluation, const Aggregate& aggregate,
                               const Scope& scope) {
  const std::string& label = without_parens(*aggregate.param).as<StringLiteral>()->value;
  if (label.empty() || !is_valid_utf8(label)) {
    return Status(Code::kInvalidArgument, fmt::format("invalid label name {}", go_quoted(label)));
  }
  Rows rows = TRY(make_rows(evaluation, *aggregate.expr, scope));
  return Rows(std::make_unique<CountedValues>(evaluation, aggregate, label, std::move(rows),
                                              scope.steps.count));
}

}  // namespace gpusight::promql
