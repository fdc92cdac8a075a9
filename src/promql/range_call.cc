#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "promql/go_text.h"
#include "promql/label_set.h"
#include "promql/operators.h"
#include "promql/range_functions.h"

namespace gpusight::promql {
namespace {

// Windows can be large and kernels slow: so many samples and steps go by between two looks at the
// clock.
constexpr size_t kWorkBetweenChecks = 100'000;

// What absent_over_time looks at: where is there anything?
double presence(const Window&, std::span<const double>) { return 1; }
constexpr RangeFunction kPresence{.name = "absent_over_time", .raw = presence};

bool looks_like_counter(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kEndings = {"_total", "_sum", "_count",
                                                               "_bucket"};
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

// The call as it is computed, without what it looks at.
struct RangeCallee {
  const RangeFunction* function = nullptr;
  std::vector<Column> args;  // the scalars
  Position samples_position;
  Position first_position;  // of the first argument
};

// A function over the windows of one series after another. T as in SlidingWindow.
template <typename T>
class RangeCall final : public RowSource {
 public:
  RangeCall(Evaluation& evaluation, RangeCallee callee, const Steps& steps,
            std::unique_ptr<SampleSource> samples)
      : evaluation_(evaluation),
        callee_(std::move(callee)),
        steps_(steps),
        samples_(std::move(samples)),
        window_(evaluation),
        args_(callee_.args.size()) {}

  Result<bool> next(Row& row) override {
    while (TRY(samples_->next_series(row))) {
      if (!TRY(compute(row))) continue;
      remark_on(row);
      if (!callee_.function->keeps_name) drop_name(evaluation_, row);
      return true;
    }
    return false;
  }

 private:
  // False when no step has a value.
  Result<bool> compute(Row& row) {
    const Instants& instants = samples_->instants();
    window_.restart();
    row.values.assign(instants.count(), no_value());
    bool any = false;
    size_t work = kWorkBetweenChecks;
    for (size_t i = 0; i < instants.count(); ++i) {
      if (work >= kWorkBetweenChecks) {
        TRY(evaluation_.check());
        work = 0;
      }
      const int64_t end_ms = instants.at(i);
      TRY(window_.move_to(*samples_, end_ms - samples_->range_ms(), end_ms));
      work += 1 + window_.values().size();
      if (window_.values().empty()) continue;
      row.values[i] = value_at(i, end_ms);
      any |= has_value(row.values[i]);
    }
    return any;
  }

  double value_at(size_t step, int64_t end_ms) {
    const int64_t start_ms = end_ms - samples_->range_ms();
    if constexpr (std::is_same_v<T, double>) {
      for (size_t k = 0; k < args_.size(); ++k) args_[k] = callee_.args[k].values[step];
      remark_on_quantile();
      const Window window{.times_ms = window_.times_ms(),
                          .values = window_.values(),
                          .start_ms = start_ms,
                          .end_ms = end_ms,
                          .eval_ms = steps_.at(step)};
      return callee_.function->raw(window, args_);
    } else {
      return callee_.function->rolled({.times_ms = window_.times_ms(),
                                       .rows = window_.values(),
                                       .resolution_ms = samples_->resolution_ms(),
                                       .start_ms = start_ms,
                                       .end_ms = end_ms});
    }
  }

  void remark_on_quantile() {
    if (callee_.function->name != "quantile_over_time") return;
    if (args_[0] >= 0 && args_[0] <= 1) return;
    evaluation_.warn(
        fmt::format("quantile value should be between 0 and 1, got {}", go_general(args_[0])),
        callee_.first_position);
  }

  void remark_on(const Row& row) {
    if (!callee_.function->wants_counter) return;
    const std::string_view name = label_value(row.labels, kMetricName);
    if (name.empty() || looks_like_counter(name)) return;
    evaluation_.info(fmt::format("metric might not be a counter, name does not end in "
                                 "_total/_sum/_count/_bucket: {}",
                                 go_quoted(name)),
                     callee_.samples_position);
  }

  Evaluation& evaluation_;
  RangeCallee callee_;
  Steps steps_;
  std::unique_ptr<SampleSource> samples_;
  SlidingWindow<T> window_;
  std::vector<double> args_;
};

Status refusal(std::string_view function, std::string_view tier) {
  return {Code::kUnsupported,
          fmt::format("{} cannot be computed from samples rolled up to {}; ask for a shorter range "
                      "or a time that raw samples still cover",
                      function, tier)};
}

}  // namespace

Result<Rows> make_range_call(Evaluation& evaluation, const Call& call, const Scope& scope) {
  RangeCallee callee{.function = find_range_function(call.function->name),
                     .first_position = without_parens(*call.args[0]).position};
  if (callee.function == nullptr) callee.function = &kPresence;
  std::unique_ptr<SampleSource> samples;
  for (const ExprPtr& arg : call.args) {
    const Expr& inner = without_parens(*arg);
    if (inner.type() == ValueType::kMatrix) {
      callee.samples_position = inner.position;
      samples = TRY(
          make_samples(evaluation, inner, {.steps = scope.steps, .function = call.function->name}));
    } else {
      callee.args.push_back(TRY(make_column(evaluation, inner, scope)));
    }
  }
  if (samples->resolution_ms() == 0) {
    return Rows(std::make_unique<RangeCall<double>>(evaluation, std::move(callee), scope.steps,
                                                    std::move(samples)));
  }
  if (callee.function->rolled == nullptr) return refusal(call.function->name, samples->tier());
  return Rows(std::make_unique<RangeCall<model::Rollup>>(evaluation, std::move(callee), scope.steps,
                                                         std::move(samples)));
}

}  // namespace gpusight::promql
