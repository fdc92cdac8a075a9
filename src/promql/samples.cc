#include "promql/samples.h"

#include <memory>
#include <utility>

#include "promql/operators.h"
#include "promql/selector.h"

namespace gpusight::promql {
namespace {

class SelectedSamples final : public SampleSource {
 public:
  SelectedSamples(Evaluation& evaluation, Selection selection, const Instants& instants,
                  int64_t range_ms)
      : SampleSource(instants, range_ms),
        evaluation_(evaluation),
        series_(std::move(selection.series)) {}

  Result<bool> next_series(Row& row) override {
    cursor_ = TRY(promql::next_series(evaluation_, *series_));
    if (cursor_ == nullptr) return false;
    row.labels = cursor_->labels();
    row.drop_name = false;
    return true;
  }

  Result<model::Stretch> next_stretch() override {
    return promql::next_stretch(evaluation_, *cursor_);
  }

  int64_t resolution_ms() const override { return series_->resolution_ms(); }
  std::string_view tier() const override { return series_->tier(); }

 private:
  Evaluation& evaluation_;
  std::unique_ptr<model::SeriesSet> series_;
  std::unique_ptr<model::SeriesCursor> cursor_;
};

// A row of the expression inside is a series; its steps are the samples.
class SubquerySamples final : public SampleSource {
 public:
  SubquerySamples(Evaluation& evaluation, Rows rows, const Steps& grid, Charge charge,
                  const Instants& instants, int64_t range_ms)
      : SampleSource(instants, range_ms),
        evaluation_(evaluation),
        rows_(std::move(rows)),
        grid_(grid),
        charge_(std::move(charge)) {}

  Result<bool> next_series(Row& row) override {
    TRY(evaluation_.check());
    if (rows_ == nullptr || !TRY(rows_->next(row_))) return false;
    times_ms_.clear();
    for (size_t i = 0; i < grid_.count; ++i) {
      if (!has_value(row_.values[i])) continue;
      row_.values[times_ms_.size()] = row_.values[i];
      times_ms_.push_back(grid_.at(i));
    }
    TRY(evaluation_.count_samples(times_ms_.size()));
    row.labels = row_.labels;
    row.drop_name = row_.drop_name;
    given_ = false;
    return true;
  }

  Result<model::Stretch> next_stretch() override {
    if (std::exchange(given_, true)) return model::Stretch{};
    return model::Stretch{.times_ms = times_ms_,
                          .values = std::span(row_.values).first(times_ms_.size())};
  }

 private:
  Evaluation& evaluation_;
  Rows rows_;  // null where the grid is empty
  Steps grid_;
  Charge charge_;  // of row_ and times_ms_
  Row row_;
  std::vector<int64_t> times_ms_;
  bool given_ = false;
};

Result<std::unique_ptr<SampleSource>> make_subquery(Evaluation& evaluation,
                                                    const Subquery& subquery, const Scope& scope) {
  const Instants instants(scope.steps, subquery.shift, evaluation.range());
  const Steps grid = subquery_steps(evaluation, subquery, scope);
  Charge charge(evaluation);
  constexpr size_t kBytesPerStep = sizeof(double) + sizeof(int64_t);
  Rows rows;
  if (grid.count > 0) rows = TRY(make_rows(evaluation, *subquery.expr, {.steps = grid}));
  TRY(charge.add(grid.count * kBytesPerStep));  // the rows would not have been made for too many
  return std::unique_ptr<SampleSource>(std::make_unique<SubquerySamples>(
      evaluation, std::move(rows), grid, std::move(charge), instants, subquery.range_ms));
}

}  // namespace

Steps subquery_steps(const Evaluation& evaluation, const Subquery& subquery, const Scope& scope) {
  const Instants instants(scope.steps, subquery.shift, evaluation.range());
  const int64_t step_ms =
      subquery.step_ms.value_or(evaluation.options().default_subquery_step.count());
  return subquery_grid(instants, subquery.range_ms, step_ms);
}

Result<std::unique_ptr<SampleSource>> make_samples(Evaluation& evaluation, const Expr& expr,
                                                   const Scope& scope) {
  if (const auto* subquery = expr.as<Subquery>()) {
    return make_subquery(evaluation, *subquery, scope);
  }
  const MatrixSelector& matrix = *expr.as<MatrixSelector>();
  const Instants instants(scope.steps, matrix.selector.shift, evaluation.range());
  Selection selection = TRY(select_range(evaluation, matrix, instants, scope));
  return std::unique_ptr<SampleSource>(std::make_unique<SelectedSamples>(
      evaluation, std::move(selection), instants, matrix.range_ms));
}

}  // namespace gpusight::promql
