// Calls that take no range vector: of value functions, of label functions, and of those that need
// to see more than one value.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "promql/instant_functions.h"
#include "promql/label_set.h"
#include "promql/operators.h"
#include "promql/range_functions.h"
#include "promql/steps.h"

namespace gpusight::promql {
namespace {

constexpr double kMillisecondsPerSecond = 1000;

double seconds_at(const Steps& steps, size_t step) {
  return static_cast<double>(steps.at(step)) / kMillisecondsPerSecond;
}

const std::string& string_arg(const Call& call, size_t index) {
  return without_parens(*call.args[index]).as<StringLiteral>()->value;
}

// One row that is computed as a column: vector(), minute() without arguments, absent().
class OneRow final : public RowSource {
 public:
  OneRow(model::Labels labels, Column column)
      : labels_(std::move(labels)), column_(std::move(column)) {}

  Result<bool> next(Row& row) override {
    if (std::exchange(given_, true)) return false;
    row.labels = labels_;
    row.drop_name = false;
    row.values = std::move(column_.values);
    return true;
  }

 private:
  model::Labels labels_;
  Column column_;
  bool given_ = false;
};

// A kernel over every value of every row; -v is one as well.
class ValueCall final : public RowSource {
 public:
  ValueCall(const Evaluation& evaluation, Rows rows, const ValueFunction& function,
            std::vector<Column> args)
      : evaluation_(evaluation),
        rows_(std::move(rows)),
        function_(function),
        args_(std::move(args)),
        at_step_(args_.size()) {}

  Result<bool> next(Row& row) override {
    if (!TRY(rows_->next(row))) return false;
    for (size_t i = 0; i < row.values.size(); ++i) {
      if (!has_value(row.values[i])) continue;
      for (size_t k = 0; k < args_.size(); ++k) at_step_[k] = args_[k].values[i];
      row.values[i] = function_.kernel(row.values[i], at_step_);
    }
    drop_name(evaluation_, row);
    return true;
  }

 private:
  const Evaluation& evaluation_;
  Rows rows_;
  const ValueFunction& function_;
  std::vector<Column> args_;
  std::vector<double> at_step_;
};

double negated(double value, std::span<const double>) { return -value; }
constexpr ValueFunction kNegation{.name = "-", .kernel = negated};

class LabelCall final : public RowSource {
 public:
  LabelCall(Rows rows, std::unique_ptr<LabelFunction> function, bool makes_name)
      : rows_(std::move(rows)), function_(std::move(function)), makes_name_(makes_name) {}

  Result<bool> next(Row& row) override {
    if (!TRY(rows_->next(row))) return false;
    if (TRY(function_->write_to(row.labels)) && makes_name_) row.drop_name = false;
    return true;
  }

 private:
  Rows rows_;
  std::unique_ptr<LabelFunction> function_;
  bool makes_name_;  // its destination is the metric's name, which is then there to stay
};

// The one value of each step, NaN where there are none or several.
Status only_values(Evaluation& evaluation, RowSource& rows, std::vector<double>& values) {
  std::vector<uint8_t> seen(values.size());
  Row row;
  while (TRY(rows.next(row))) {
    TRY(evaluation.check());
    for (size_t i = 0; i < values.size(); ++i) {
      if (!has_value(row.values[i])) continue;
      values[i] = seen[i] == 0 ? row.values[i] : std::nan("");
      seen[i] = 1;
    }
  }
  return {};
}

// Labels that absent() can know of: those which the selector asks for by equality. A further
// matcher for the same label takes it out again, as in Prometheus.
model::Labels labels_asked_for(const Expr& expr) {
  const auto* matrix = expr.as<MatrixSelector>();
  const VectorSelector* selector =
      matrix != nullptr ? &matrix->selector : expr.as<VectorSelector>();
  model::Labels labels;
  if (selector == nullptr) return labels;
  std::set<std::string_view> known;
  for (const model::Matcher& matcher : selector->matchers) {
    if (matcher.name == kMetricName) continue;
    if (matcher.kind == model::Matcher::Kind::kEqual && known.insert(matcher.name).second) {
      set_label(labels, matcher.name, matcher.value);
    } else {
      remove_label(labels, matcher.name);
    }
  }
  return labels;
}

class Absence final : public RowSource {
 public:
  Absence(Evaluation& evaluation, Rows rows, model::Labels labels, size_t steps)
      : evaluation_(evaluation),
        rows_(std::move(rows)),
        labels_(std::move(labels)),
        steps_(steps) {}

  Result<bool> next(Row& out) override {
    if (rows_ == nullptr) return false;
    std::vector<double> absent(steps_, 1.0);
    Row row;
    while (TRY(rows_->next(row))) {
      TRY(evaluation_.check());
      for (size_t i = 0; i < steps_; ++i) {
        if (has_value(row.values[i])) absent[i] = no_value();
      }
    }
    rows_.reset();
    out = {.labels = labels_, .values = std::move(absent)};
    return true;
  }

 private:
  Evaluation& evaluation_;
  Rows rows_;
  model::Labels labels_;
  size_t steps_;
};

// In an instant query, rows in the order of their values, NaN last. Steps of a range query would
// each want an order of their own, so there it changes nothing.
class Sorted final : public HeldSource {
 public:
  Sorted(Evaluation& evaluation, Rows rows, bool descending)
      : HeldSource(evaluation), rows_(std::move(rows)), descending_(descending) {}

 private:
  Status compute() override {
    TRY(results().add_all(*rows_));
    std::ranges::stable_sort(results().rows(), [&](const Row& a, const Row& b) {
      const double left = a.values.front();
      const double right = b.values.front();
      if (std::isnan(left) || std::isnan(right)) return !std::isnan(left);
      return descending_ ? left > right : left < right;
    });
    return {};
  }

  Rows rows_;
  bool descending_;
};

Result<Rows> make_sorted(Evaluation& evaluation, const Expr& expr, const Call& call,
                         const Scope& scope) {
  Rows rows = TRY(make_rows(evaluation, *call.args[0], scope));
  if (scope.steps.count > 1) {
    evaluation.warn(
        "sort is ineffective for range queries since results are always ordered by labels",
        expr.position);
    return rows;
  }
  return Rows(
      std::make_unique<Sorted>(evaluation, std::move(rows), call.function->name == "sort_desc"));
}

Result<Rows> make_label_call(Evaluation& evaluation, const Call& call, const Scope& scope) {
  std::unique_ptr<LabelFunction> function;
  if (call.function->name == "label_replace") {
    function = TRY(make_label_replace(string_arg(call, 1), string_arg(call, 2), string_arg(call, 3),
                                      string_arg(call, 4)));
  } else {
    std::vector<std::string> sources;
    for (size_t i = 3; i < call.args.size(); ++i) sources.push_back(string_arg(call, i));
    function = TRY(make_label_join(string_arg(call, 1), string_arg(call, 2), std::move(sources)));
  }
  Rows rows = TRY(make_rows(evaluation, *call.args[0], scope));
  return merge_equal(evaluation, std::make_unique<LabelCall>(std::move(rows), std::move(function),
                                                             string_arg(call, 1) == kMetricName));
}

Result<Column> make_times(Evaluation& evaluation, const Steps& steps) {
  Column column{.charge = Charge(evaluation)};
  TRY(column.charge.add(steps.count * sizeof(double)));
  column.values.resize(steps.count);
  for (size_t i = 0; i < steps.count; ++i) column.values[i] = seconds_at(steps, i);
  return column;
}

Result<Rows> make_value_call(Evaluation& evaluation, const Call& call,
                             const ValueFunction& function, const Scope& scope) {
  if (call.args.empty()) {  // of the time
    Column column = TRY(make_times(evaluation, scope.steps));
    for (double& value : column.values) value = function.kernel(value, {});
    return Rows(std::make_unique<OneRow>(model::Labels{}, std::move(column)));
  }
  Rows rows = TRY(make_rows(evaluation, *call.args[0], scope));
  std::vector<Column> args;
  for (size_t i = 1; i < call.args.size(); ++i) {
    args.push_back(TRY(make_column(evaluation, *call.args[i], scope)));
  }
  return merge_after_name_drop(
      evaluation, *call.args[0],
      std::make_unique<ValueCall>(evaluation, std::move(rows), function, std::move(args)));
}

// The time of evaluation where the argument is computed, that of the sample where it is selected.
class EvaluationTimes final : public RowSource {
 public:
  EvaluationTimes(const Evaluation& evaluation, Rows rows, const Steps& steps, bool are_times)
      : evaluation_(evaluation), rows_(std::move(rows)), steps_(steps), are_times_(are_times) {}

  Result<bool> next(Row& row) override {
    if (!TRY(rows_->next(row))) return false;
    for (size_t i = 0; i < row.values.size() && !are_times_; ++i) {
      if (has_value(row.values[i])) row.values[i] = seconds_at(steps_, i);
    }
    drop_name(evaluation_, row);
    return true;
  }

 private:
  const Evaluation& evaluation_;
  Rows rows_;
  Steps steps_;
  bool are_times_;
};

Result<Rows> make_timestamp(Evaluation& evaluation, const Call& call, const Scope& scope) {
  const Expr& arg = without_parens(*call.args[0]);
  const auto* selector = arg.as<VectorSelector>();
  Rows rows = selector != nullptr
                  ? TRY(make_selector(evaluation, *selector, scope, SampleField::kTime))
                  : TRY(make_rows(evaluation, arg, scope));
  return merge_after_name_drop(evaluation, arg,
                               std::make_unique<EvaluationTimes>(evaluation, std::move(rows),
                                                                 scope.steps, selector != nullptr));
}

Result<Rows> make_absence(Evaluation& evaluation, const Call& call, const Scope& scope) {
  const Expr& arg = without_parens(*call.args[0]);
  Rows rows = arg.type() == ValueType::kMatrix ? TRY(make_range_call(evaluation, call, scope))
                                               : TRY(make_rows(evaluation, arg, scope));
  return Rows(std::make_unique<Absence>(evaluation, std::move(rows), labels_asked_for(arg),
                                        scope.steps.count));
}

}  // namespace

Result<Rows> make_call(Evaluation& evaluation, const Expr& expr, const Call& call,
                       const Scope& outer) {
  const std::string_view name = call.function->name;
  const Scope scope{.steps = outer.steps, .function = name};
  if (const ValueFunction* function = find_value_function(name)) {
    return make_value_call(evaluation, call, *function, scope);
  }
  if (find_range_function(name) != nullptr) {
    Rows rows = TRY(make_range_call(evaluation, call, scope));
    return find_range_function(name)->keeps_name
               ? std::move(rows)
               : merge_after_name_drop(evaluation, *call.args.back(), std::move(rows));
  }
  if (name == "sort" || name == "sort_desc") return make_sorted(evaluation, expr, call, scope);
  if (name == "label_replace" || name == "label_join") {
    return make_label_call(evaluation, call, scope);
  }
  if (name == "absent" || name == "absent_over_time") return make_absence(evaluation, call, scope);
  if (name == "timestamp") return make_timestamp(evaluation, call, scope);
  if (name == "vector") {
    Column column = TRY(make_column(evaluation, *call.args[0], scope));
    return Rows(std::make_unique<OneRow>(model::Labels{}, std::move(column)));
  }
  if (name == "histogram_quantile" || name == "histogram_fraction") {
    return make_histogram_call(evaluation, call, scope);
  }
  return Status(Code::kUnsupported, "the function " + std::string(name) + " is not built");
}

Result<Column> make_scalar_call(Evaluation& evaluation, const Call& call, const Scope& outer) {
  const std::string_view name = call.function->name;
  const Scope scope{.steps = outer.steps, .function = name};
  if (name == "time") return make_times(evaluation, scope.steps);
  Column column{.charge = Charge(evaluation)};
  TRY(column.charge.add(scope.steps.count * sizeof(double)));
  if (name == "pi") {
    column.values.assign(scope.steps.count, std::numbers::pi);
    return column;
  }
  if (name == "scalar") {
    column.values.assign(scope.steps.count, std::nan(""));
    const Rows rows = TRY(make_rows(evaluation, *call.args[0], scope));
    TRY(only_values(evaluation, *rows, column.values));
    return column;
  }
  return Status(Code::kUnsupported, "the function " + std::string(name) + " is not built");
}

Result<Rows> make_negated(Evaluation& evaluation, const Expr& expr, const Scope& scope) {
  Rows rows = TRY(make_rows(evaluation, expr, scope));
  return merge_after_name_drop(
      evaluation, expr,
      std::make_unique<ValueCall>(evaluation, std::move(rows), kNegation, std::vector<Column>{}));
}

}  // namespace gpusight::promql
