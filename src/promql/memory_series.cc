#include "promql/memory_series.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "promql/label_set.h"

namespace gpusight::promql {
namespace {

// A piece of one series' arrays, with its labels.
struct Piece {
  const model::Labels* labels = nullptr;
  model::Stretch stretch;
};

class Cursor final : public model::SeriesCursor {
 public:
  explicit Cursor(const Piece& piece) : labels_(*piece.labels), stretch_(piece.stretch) {}
  const model::Labels& labels() const override { return labels_; }
  Result<model::Stretch> next() override { return std::exchange(stretch_, {}); }

 private:
  const model::Labels& labels_;
  model::Stretch stretch_;
};

class Selection final : public model::SeriesSet {
 public:
  explicit Selection(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  int64_t resolution_ms() const override { return 0; }
  std::string_view tier() const override { return "raw"; }
  Result<std::unique_ptr<model::SeriesCursor>> next() override {
    if (at_ == pieces_.size()) return std::unique_ptr<model::SeriesCursor>();
    return std::unique_ptr<model::SeriesCursor>(std::make_unique<Cursor>(pieces_[at_++]));
  }

 private:
  std::vector<Piece> pieces_;
  size_t at_ = 0;
};

const model::Matcher* find_name_matcher(std::span<const model::Matcher> matchers) {
  const auto found = std::ranges::find_if(matchers, [](const model::Matcher& matcher) {
    return matcher.kind == model::Matcher::Kind::kEqual && matcher.name == kMetricName;
  });
  return found == matchers.end() ? nullptr : &*found;
}

}  // namespace

Status MemorySeries::add(const model::Labels& labels, std::span<const int64_t> times_ms,
                         std::span<const double> values) {
  if (times_ms.size() != values.size()) {
    return {Code::kInvalidArgument,
            fmt::format("{} times for {} values", times_ms.size(), values.size())};
  }
  const auto known = series_.find(labels);
  const bool appends = known != series_.end() && !known->second.times_ms.empty();
  const auto misplaced = std::ranges::adjacent_find(times_ms, std::ranges::greater_equal());
  if (misplaced != times_ms.end() ||
      (appends && !times_ms.empty() && times_ms.front() <= known->second.times_ms.back())) {
    const int64_t at = misplaced != times_ms.end() ? misplaced[1] : times_ms.front();
    return {Code::kInvalidArgument, fmt::format("the sample at {} ms is not after the one before "
                                                "it in its series",
                                                at)};
  }
  const auto [at, is_new] = series_.try_emplace(labels);
  Samples& samples = at->second;
  samples.times_ms.insert(samples.times_ms.end(), times_ms.begin(), times_ms.end());
  samples.values.insert(samples.values.end(), values.begin(), values.end());
  if (is_new) {
    const std::string_view name = label_value(labels, kMetricName);
    auto& same_name = by_name_[std::string(name)];
    const auto place = std::lower_bound(
        same_name.begin(), same_name.end(), labels,
        [](const Entry* entry, const model::Labels& wanted) { return entry->first < wanted; });
    same_name.insert(place, &*at);
  }
  return {};
}

void MemorySeries::clear() {
  by_name_.clear();
  series_.clear();
}

size_t MemorySeries::series_count() const { return series_.size(); }

void MemorySeries::for_each_match(std::span<const model::Matcher> matchers,
                                  const std::function<void(const Entry&)>& visit) const {
  if (const model::Matcher* name = find_name_matcher(matchers)) {
    const auto same_name = by_name_.find(name->value);
    if (same_name == by_name_.end()) return;
    for (const Entry* entry : same_name->second) {
      if (model::matches(entry->first, matchers)) visit(*entry);
    }
    return;
  }
  for (const Entry& entry : series_) {
    if (model::matches(entry.first, matchers)) visit(entry);
  }
}

Result<std::unique_ptr<model::SeriesSet>> MemorySeries::select(
    std::span<const model::Matcher> matchers, const model::SelectHints& hints,
    std::stop_token stop) const {
  if (stop.stop_requested()) return Status(Code::kCancelled, "the query was cancelled");
  std::vector<Piece> pieces;
  for_each_match(matchers, [&](const Entry& entry) {
    const auto& [labels, samples] = entry;
    const auto begin = samples.times_ms.begin();
    const auto from = std::upper_bound(begin, samples.times_ms.end(), hints.start_ms);
    const auto to = std::upper_bound(from, samples.times_ms.end(), hints.end_ms);
    if (from == to) return;
    const auto first = static_cast<size_t>(from - begin);
    const auto count = static_cast<size_t>(to - from);
    pieces.push_back({&labels,
                      {.times_ms = std::span<const int64_t>(samples.times_ms).subspan(first, count),
                       .values = std::span<const double>(samples.values).subspan(first, count)}});
  });
  return std::unique_ptr<model::SeriesSet>(std::make_unique<Selection>(std::move(pieces)));
}

Result<std::vector<std::string>> MemorySeries::label_names(std::span<const model::Matcher> matchers,
                                                           int64_t start_ms, int64_t end_ms,
                                                           std::stop_token) const {
  std::set<std::string> names;
  for_each_match(matchers, [&](const Entry& entry) {
    if (!has_samples(entry.second, start_ms, end_ms)) return;
    for (const auto& [name, value] : entry.first) names.insert(name);
  });
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::string>> MemorySeries::label_values(
    std::string_view name, std::span<const model::Matcher> matchers, int64_t start_ms,
    int64_t end_ms, std::stop_token) const {
  std::set<std::string> values;
  for_each_match(matchers, [&](const Entry& entry) {
    if (!has_samples(entry.second, start_ms, end_ms)) return;
    const std::string_view value = label_value(entry.first, name);
    if (!value.empty()) values.emplace(value);
  });
  return std::vector<std::string>(values.begin(), values.end());
}

bool MemorySeries::has_samples(const Samples& samples, int64_t start_ms, int64_t end_ms) {
  const auto at = std::ranges::lower_bound(samples.times_ms, start_ms);
  return at != samples.times_ms.end() && *at <= end_ms;
}

}  // namespace gpusight::promql
