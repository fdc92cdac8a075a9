#include "serve/info_series.h"

#include <algorithm>
#include <set>
#include <utility>

#include "export/prometheus/render.h"

namespace gpusight::serve {
namespace {

using model::Labels;
using model::Matcher;

constexpr std::string_view kName = "__name__";
constexpr std::string_view kInfo = "gpu_info";

std::string_view value_of(const Labels& labels, std::string_view name) {
  const auto at = std::ranges::find(labels, name, &Labels::value_type::first);
  return at == labels.end() ? std::string_view() : at->second;
}

Labels labels_of(const model::Device& device) {
  Labels labels = {{std::string(kName), std::string(kInfo)}, {"uuid", device.uuid}};
  for (auto& [name, value] : prometheus::info_facts(device)) labels.emplace_back(name, value);
  std::ranges::sort(labels);
  return labels;
}

// Of a row of gpu_up: as many samples, all of them 1.
model::Rollup info_row(const model::Rollup& up) {
  if (model::is_stale_marker(up.last)) return up;
  return {.min = 1,
          .max = 1,
          .sum = static_cast<double>(up.count),
          .first = 1,
          .last = 1,
          .count = up.count};
}

// 1 wherever the device's gpu_up has a sample.
class InfoCursor final : public model::SeriesCursor {
 public:
  InfoCursor(Labels labels, std::unique_ptr<model::SeriesSet> set,
             std::unique_ptr<model::SeriesCursor> up)
      : labels_(std::move(labels)), set_(std::move(set)), up_(std::move(up)) {}

  const Labels& labels() const override { return labels_; }
  Result<model::Stretch> next() override {
    const model::Stretch up = TRY(up_->next());
    values_.clear();
    rows_.clear();
    for (const double value : up.values) {
      values_.push_back(model::is_stale_marker(value) ? value : 1);
    }
    for (const model::Rollup& row : up.rollups) rows_.push_back(info_row(row));
    return model::Stretch{.times_ms = up.times_ms, .values = values_, .rollups = rows_};
  }

 private:
  Labels labels_;
  std::unique_ptr<model::SeriesSet> set_;  // what up_ came from
  std::unique_ptr<model::SeriesCursor> up_;
  std::vector<double> values_;
  std::vector<model::Rollup> rows_;
};

struct Asked {
  const model::Queryable* recorded = nullptr;
  model::SelectHints hints;
  std::stop_token stop;
};

// nullptr where the device has nothing in the span.
Result<std::unique_ptr<model::SeriesCursor>> open_info(const Asked& asked, const Labels& labels,
                                                       int64_t resolution_ms) {
  const Matcher matchers[] = {model::equal_matcher(std::string(kName), "gpu_up"),
                              model::equal_matcher("uuid", std::string(value_of(labels, "uuid")))};
  auto set = TRY(asked.recorded->select(matchers, asked.hints, asked.stop));
  auto up = TRY(set->next());
  if (up == nullptr) return std::unique_ptr<model::SeriesCursor>();
  // Who reads was told one resolution for all series.
  if (set->resolution_ms() != resolution_ms) {
    return Status(Code::kUnavailable, "what is recorded changed while it was read; ask again");
  }
  return std::unique_ptr<model::SeriesCursor>(
      std::make_unique<InfoCursor>(labels, std::move(set), std::move(up)));
}

// Both kinds in label order.
class WithInfos final : public model::SeriesSet {
 public:
  WithInfos(std::unique_ptr<model::SeriesSet> recorded, std::vector<Labels> infos, Asked asked)
      : resolution_ms_(recorded->resolution_ms()),
        tier_(recorded->tier()),
        recorded_(std::move(recorded)),
        infos_(std::move(infos)),
        asked_(std::move(asked)) {}

  int64_t resolution_ms() const override { return resolution_ms_; }
  std::string_view tier() const override { return tier_; }

  Result<std::unique_ptr<model::SeriesCursor>> next() override {
    if (ahead_ == nullptr && recorded_ != nullptr) {
      ahead_ = TRY(recorded_->next());
      if (ahead_ == nullptr) recorded_.reset();  // and what it holds of the database
    }
    while (next_info_ < infos_.size() &&
           (ahead_ == nullptr || infos_[next_info_] < ahead_->labels())) {
      auto info = TRY(open_info(asked_, infos_[next_info_++], resolution_ms_));
      if (info != nullptr) return info;
    }
    return std::move(ahead_);
  }

 private:
  const int64_t resolution_ms_;
  const std::string tier_;
  std::unique_ptr<model::SeriesSet> recorded_;  // until its end
  std::unique_ptr<model::SeriesCursor> ahead_;  // its next series
  std::vector<Labels> infos_;
  size_t next_info_ = 0;
  Asked asked_;
};

}  // namespace

std::vector<Labels> InfoSeries::infos(std::span<const Matcher> matchers) const {
  const bool is_other = std::ranges::any_of(matchers, [](const Matcher& matcher) {
    return matcher.name == kName && !matcher.accepts(kInfo);
  });
  std::vector<Labels> found;
  if (is_other) return found;
  std::set<std::string, std::less<>> seen;
  for (const model::Device& device : devices_()) {
    if (!seen.insert(device.uuid).second) continue;
    Labels labels = labels_of(device);
    if (model::matches(labels, matchers)) found.push_back(std::move(labels));
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<Labels>> InfoSeries::infos_in(std::span<const Matcher> matchers,
                                                 int64_t start_ms, int64_t end_ms,
                                                 std::stop_token stop) const {
  std::vector<Labels> found = infos(matchers);
  if (found.empty()) return found;
  const Matcher up[] = {model::equal_matcher(std::string(kName), "gpu_up")};
  const auto uuids = TRY(recorded_->label_values("uuid", up, start_ms, end_ms, std::move(stop)));
  std::erase_if(found, [&](const Labels& labels) {
    return !std::ranges::binary_search(uuids, value_of(labels, "uuid"));
  });
  return found;
}

Result<std::unique_ptr<model::SeriesSet>> InfoSeries::select(std::span<const Matcher> matchers,
                                                             const model::SelectHints& hints,
                                                             std::stop_token stop) const {
  std::vector<Labels> wanted = infos(matchers);
  auto recorded = TRY(recorded_->select(matchers, hints, stop));
  if (wanted.empty()) return recorded;
  Asked asked{.recorded = recorded_, .hints = hints, .stop = std::move(stop)};
  // A sum of ones is their number, which rolled-up rows bring for a mean only.
  if (hints.function == "sum_over_time") asked.hints.function = "avg_over_time";
  return std::unique_ptr<model::SeriesSet>(
      std::make_unique<WithInfos>(std::move(recorded), std::move(wanted), std::move(asked)));
}

Result<std::vector<std::string>> InfoSeries::label_names(std::span<const Matcher> matchers,
                                                         int64_t start_ms, int64_t end_ms,
                                                         std::stop_token stop) const {
  const auto recorded = TRY(recorded_->label_names(matchers, start_ms, end_ms, stop));
  std::set<std::string> names(recorded.begin(), recorded.end());
  for (const Labels& info : TRY(infos_in(matchers, start_ms, end_ms, std::move(stop)))) {
    for (const auto& [name, value] : info) names.insert(name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::string>> InfoSeries::label_values(std::string_view name,
                                                          std::span<const Matcher> matchers,
                                                          int64_t start_ms, int64_t end_ms,
                                                          std::stop_token stop) const {
  const auto recorded = TRY(recorded_->label_values(name, matchers, start_ms, end_ms, stop));
  std::set<std::string> values(recorded.begin(), recorded.end());
  for (const Labels& info : TRY(infos_in(matchers, start_ms, end_ms, std::move(stop)))) {
    const std::string_view value = value_of(info, name);
    if (!value.empty()) values.emplace(value);
  }
  return std::vector<std::string>(values.begin(), values.end());
}

}  // namespace gpusight::serve
