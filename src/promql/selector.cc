#include "promql/selector.h"

#include <algorithm>
#include <utility>

#include "promql/samples.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kMillisecond = 1000;

// How often a Queryable may answer with a yet coarser tier when it is asked for an earlier start.
constexpr int kMaxSelects = 4;

int64_t lookback_in(const Evaluation& evaluation, const model::SeriesSet& set) {
  return std::max<int64_t>(evaluation.options().lookback.count(), 2 * set.resolution_ms());
}

// A series' samples in one pass, as far as the steps need them.
class SampleWalk {
 public:
  SampleWalk(Evaluation& evaluation, model::SeriesCursor& cursor)
      : evaluation_(evaluation), cursor_(cursor) {}

  // Goes to the last sample not after `time`; times never sink from call to call.
  Status move_to(int64_t time_ms) {
    next_ = first_after(stretch_.times_ms, next_, time_ms);
    while (next_ == stretch_.times_ms.size() && !ended_) {
      remember();
      stretch_ = TRY(next_stretch(evaluation_, cursor_));
      next_ = first_after(stretch_.times_ms, 0, time_ms);
      ended_ = stretch_.times_ms.empty();
    }
    if (next_ > 0) remember();
    return {};
  }

  // Of the sample gone to; no_value() before the first.
  int64_t time_ms() const { return time_ms_; }
  double value() const { return value_; }

 private:
  void remember() {
    if (next_ == 0) return;
    time_ms_ = stretch_.times_ms[next_ - 1];
    value_ =
        stretch_.values.empty() ? stretch_.rollups[next_ - 1].last : stretch_.values[next_ - 1];
  }

  Evaluation& evaluation_;
  model::SeriesCursor& cursor_;
  model::Stretch stretch_;
  size_t next_ = 0;  // the first sample of stretch_ after the time gone to
  bool ended_ = false;
  int64_t time_ms_ = 0;
  double value_ = no_value();
};

class InstantSelector final : public RowSource {
 public:
  InstantSelector(Evaluation& evaluation, Selection selection, const Instants& instants,
                  SampleField field)
      : evaluation_(evaluation),
        selection_(std::move(selection)),
        instants_(instants),
        field_(field) {}

  Result<bool> next(Row& row) override {
    while (const auto cursor = TRY(next_series(evaluation_, *selection_.series))) {
      if (!TRY(read(*cursor, row))) continue;
      row.labels = cursor->labels();
      row.drop_name = false;
      return true;
    }
    return false;
  }

 private:
  // False when no step has a value.
  Result<bool> read(model::SeriesCursor& cursor, Row& row) {
    SampleWalk walk(evaluation_, cursor);
    row.values.assign(instants_.count(), no_value());
    bool any = false;
    for (size_t i = 0; i < instants_.count(); ++i) {
      const int64_t time_ms = instants_.at(i);
      TRY(walk.move_to(time_ms));
      const bool seen =
          has_value(walk.value()) && walk.time_ms() > time_ms - selection_.lookback_ms;
      if (!seen) continue;
      any = true;
      row.values[i] = field_ == SampleField::kValue
                          ? walk.value()
                          : static_cast<double>(walk.time_ms()) / kMillisecond;
    }
    return any;
  }

  Evaluation& evaluation_;
  Selection selection_;
  Instants instants_;
  SampleField field_;
};

}  // namespace

Result<Selection> select_instant(Evaluation& evaluation, const VectorSelector& selector,
                                 const Instants& instants, const Scope& scope) {
  Selection selection{.lookback_ms = evaluation.options().lookback.count()};
  for (int i = 0; i < kMaxSelects; ++i) {
    const model::SelectHints hints{.start_ms = instants.first() - selection.lookback_ms,
                                   .end_ms = instants.last(),
                                   .step_ms = scope.steps.step_ms,
                                   .lookback_ms = selection.lookback_ms,
                                   .function = scope.function};
    selection.series = TRY(evaluation.data().select(selector.matchers, hints, evaluation.stop()));
    const int64_t wanted_ms = lookback_in(evaluation, *selection.series);
    const bool reached = wanted_ms <= selection.lookback_ms;
    selection.lookback_ms = wanted_ms;
    if (reached) break;
  }
  evaluation.served_by(selection.series->tier());
  return selection;
}

Result<Selection> select_range(Evaluation& evaluation, const MatrixSelector& selector,
                               const Instants& instants, const Scope& scope) {
  const model::SelectHints hints{.start_ms = instants.first() - selector.range_ms,
                                 .end_ms = instants.last(),
                                 .step_ms = scope.steps.step_ms,
                                 .range_ms = selector.range_ms,
                                 .function = scope.function};
  Selection selection;
  selection.series =
      TRY(evaluation.data().select(selector.selector.matchers, hints, evaluation.stop()));
  evaluation.served_by(selection.series->tier());
  return selection;
}

Result<std::unique_ptr<model::SeriesCursor>> next_series(Evaluation& evaluation,
                                                         model::SeriesSet& set) {
  TRY(evaluation.check());
  auto cursor = TRY(set.next());
  if (cursor != nullptr) TRY(evaluation.count_series());
  return cursor;
}

Result<model::Stretch> next_stretch(Evaluation& evaluation, model::SeriesCursor& cursor) {
  const model::Stretch stretch = TRY(cursor.next());
  TRY(evaluation.count_samples(stretch.times_ms.size()));
  return stretch;
}

Result<Rows> make_selector(Evaluation& evaluation, const VectorSelector& selector,
                           const Scope& scope, SampleField field) {
  const Instants instants(scope.steps, selector.shift, evaluation.range());
  Selection selection = TRY(select_instant(evaluation, selector, instants, scope));
  return Rows(std::make_unique<InstantSelector>(evaluation, std::move(selection), instants, field));
}

}  // namespace gpusight::promql
