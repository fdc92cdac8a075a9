#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "promql/go_text.h"
#include "promql/instant_functions.h"
#include "promql/label_set.h"
#include "promql/operators.h"

namespace gpusight::promql {
namespace {

// 2026-11-30T19:48:22Z.
std::string rfc3339(int64_t time_ms) {
  const std::chrono::sys_seconds time{std::chrono::seconds(time_ms / 1000)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

// The bucket series of one classic histogram.
struct Histogram {
  model::Labels labels;  // without "le"
  bool drop_name = false;
  std::vector<double> bounds;
  std::vector<std::vector<double>> counts;  // of each bound, by step
};

// histogram_quantile and histogram_fraction: the buckets of a histogram become one value a step.
class HistogramCall final : public HeldSource {
 public:
  HistogramCall(Evaluation& evaluation, const Call& call, const Steps& steps, Rows rows,
                std::vector<Column> args)
      : HeldSource(evaluation),
        evaluation_(evaluation),
        steps_(steps),
        is_quantile_(call.function->name == "histogram_quantile"),
        buckets_position_(without_parens(*call.args.back()).position),
        rows_(std::move(rows)),
        args_(std::move(args)) {}

 private:
  Status compute() override {
    Charge charge(evaluation_);
    KeyIndex index;
    std::vector<Histogram> histograms;
    Row row;
    while (TRY(rows_->next(row))) {
      TRY(charge.add(bytes_of(row)));
      TRY(evaluation_.check());
      collect(std::move(row), index, histograms);
    }
    for (Histogram& histogram : histograms) {
      TRY(evaluation_.check());
      TRY(results().add(reduce(histogram)));
    }
    for (const auto& [name, mended] : mended_) remark_on_order(name, mended);
    return {};
  }

  // What had to be mended in the histograms of one name.
  struct Mended {
    double lowest_bound = 0;
    double highest_bound = 0;
    double largest_drop = 0;
    size_t count = 0;  // of histograms, at each step anew
    int64_t first_ms = 0;
    int64_t last_ms = 0;
  };

  void collect(Row&& row, KeyIndex& index, std::vector<Histogram>& histograms) {
    if (std::ranges::none_of(row.values, has_value)) return;
    const std::optional<double> bound = go_parse_number(label_value(row.labels, kBucketLabel));
    if (!bound) return remark_on_bound(row.labels);
    remove_label(row.labels, kBucketLabel);
    std::string key(label_value(row.labels, kMetricName));
    key += '\0';
    key += all_.key(row.labels);
    const KeyIndex::Found found = index.find_or_add(key);
    if (found.is_new) {
      histograms.push_back({.labels = std::move(row.labels), .drop_name = row.drop_name});
    }
    histograms[found.index].bounds.push_back(*bound);
    histograms[found.index].counts.push_back(std::move(row.values));
  }

  Row reduce(Histogram& histogram) {
    Row row{.labels = histogram.labels, .values = {}};
    row.values.assign(histogram.counts.front().size(), no_value());
    for (size_t step = 0; step < row.values.size(); ++step) {
      buckets_.clear();
      for (size_t i = 0; i < histogram.bounds.size(); ++i) {
        const double count = histogram.counts[i][step];
        if (has_value(count)) buckets_.push_back({histogram.bounds[i], count});
      }
      if (!buckets_.empty()) row.values[step] = value_at(step, histogram.labels);
    }
    drop_name(evaluation_, row);
    return row;
  }

  double value_at(size_t step, const model::Labels& labels) {
    if (!is_quantile_) {
      return bucket_fraction(args_[0].values[step], args_[1].values[step], buckets_);
    }
    const BucketQuantile quantile = bucket_quantile(args_[0].values[step], buckets_);
    if (quantile.forced_monotonic) note_order(quantile, step, labels);
    return quantile.value;
  }

  void note_order(const BucketQuantile& quantile, size_t step, const model::Labels& labels) {
    const int64_t at_ms = steps_.at(step);
    Mended& mended = mended_[name_suffix(labels)];
    if (mended.count++ == 0) {
      mended.lowest_bound = quantile.lowest_raised;
      mended.highest_bound = quantile.highest_raised;
      mended.first_ms = mended.last_ms = at_ms;
    }
    mended.lowest_bound = std::min(mended.lowest_bound, quantile.lowest_raised);
    mended.highest_bound = std::max(mended.highest_bound, quantile.highest_raised);
    mended.largest_drop = std::max(mended.largest_drop, quantile.largest_drop);
    mended.first_ms = std::min(mended.first_ms, at_ms);
    mended.last_ms = std::max(mended.last_ms, at_ms);
  }

  // The name is named only where it is still there for sure.
  std::string name_suffix(const model::Labels& labels) const {
    const std::string_view name =
        evaluation_.delays_name_removal() ? label_value(labels, kMetricName) : std::string_view();
    return name.empty() ? "" : fmt::format(" for metric name {}", go_quoted(name));
  }

  void remark_on_bound(const model::Labels& labels) {
    evaluation_.warn(fmt::format("bucket label \"le\" is missing or has a malformed value of {}{}",
                                 go_quoted(label_value(labels, kBucketLabel)), name_suffix(labels)),
                     buckets_position_);
  }

  void remark_on_order(std::string_view name, const Mended& mended) {
    evaluation_.info(
        fmt::format("input to histogram_quantile needed to be fixed for monotonicity (see "
                    "https://prometheus.io/docs/prometheus/latest/querying/functions/"
                    "#histogram_quantile){}, from buckets {} to {}, with a max diff of {:.2g}, "
                    "over {} samples from {} to {}",
                    name, go_general(mended.lowest_bound), go_general(mended.highest_bound),
                    mended.largest_drop, mended.count, rfc3339(mended.first_ms),
                    rfc3339(mended.last_ms)),
        buckets_position_);
  }

  Evaluation& evaluation_;
  Steps steps_;
  bool is_quantile_;
  Position buckets_position_;
  Rows rows_;
  std::vector<Column> args_;
  LabelSubset all_{LabelSubset::Kind::kAllBut, {}};
  std::vector<Bucket> buckets_;
  std::map<std::string, Mended> mended_;  // by name_suffix()
};

}  // namespace

Result<Rows> make_histogram_call(Evaluation& evaluation, const Call& call, const Scope& scope) {
  std::vector<Column> args;
  for (size_t i = 0; i + 1 < call.args.size(); ++i) {
    args.push_back(TRY(make_column(evaluation, *call.args[i], scope)));
  }
  if (call.function->name == "histogram_quantile") {
    for (const double quantile : args[0].values) {
      if (quantile >= 0 && quantile <= 1) continue;
      evaluation.warn(
          fmt::format("quantile value should be between 0 and 1, got {}", go_general(quantile)),
          without_parens(*call.args[0]).position);
    }
  }
  const Expr& buckets = *call.args.back();
  Rows rows = TRY(make_rows(evaluation, buckets, scope));
  return merge_after_name_drop(evaluation, buckets,
                               std::make_unique<HistogramCall>(evaluation, call, scope.steps,
                                                               std::move(rows), std::move(args)));
}

}  // namespace gpusight::promql
