#include "tests/promql/script_data.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/parser.h"

namespace gpusight::conformance {
namespace {

constexpr std::string_view kName = "__name__";

bool same_point(const std::optional<double>& a, const std::optional<double>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || std::bit_cast<uint64_t>(*a) == std::bit_cast<uint64_t>(*b);
}

// The native histogram that load_with_nhcb makes of a classic one's series; nullopt if `labels` are
// of none.
std::optional<model::Labels> histogram_of(model::Labels labels) {
  const auto name = std::ranges::find(labels, kName, &model::Labels::value_type::first);
  if (name == labels.end()) return std::nullopt;
  const auto bound = std::ranges::find(labels, "le", &model::Labels::value_type::first);
  for (const std::string_view suffix : {"_bucket", "_count", "_sum"}) {
    if (!name->second.ends_with(suffix)) continue;
    name->second.resize(name->second.size() - suffix.size());
    if (suffix != "_bucket") return labels;
    if (bound == labels.end() ||
        !parse_double(
            std::string_view(bound->second).substr(bound->second.starts_with('+') ? 1 : 0))) {
      return std::nullopt;
    }
    labels.erase(bound);
    return labels;
  }
  return std::nullopt;
}

bool has_metadata(const model::Labels& labels) {
  return std::ranges::any_of(labels, [](const auto& label) {
    return label.first == "__type__" || label.first == "__unit__";
  });
}

}  // namespace

Status ScriptData::load(const Load& load) {
  for (const promql::NotedSeries& series : load.series) {
    Points points;
    for (size_t i = 0; i < series.points.size(); ++i) {
      const int64_t time_ms = static_cast<int64_t>(i) * load.interval_ms;
      const bool is_histogram = series.has_histograms && series.is_histogram[i];
      if (series.points[i] || is_histogram) points[time_ms] = series.points[i];
    }
    TRY(add_points(series.labels, points));
  }
  if (load.with_histograms) TRY(derive_histograms(load));
  return rebuild();
}

Status ScriptData::add_points(const model::Labels& labels, const Points& points) {
  Points& known = series_[labels];
  for (const auto& [time_ms, value] : points) {
    const auto [at, is_new] = known.try_emplace(time_ms, value);
    if (!is_new && !same_point(at->second, value)) {
      return {Code::kInvalidArgument, fmt::format("{} has another point at {} ms already",
                                                  promql::print_labels(labels), time_ms)};
    }
  }
  return {};
}

Status ScriptData::derive_histograms(const Load& load) {
  std::map<model::Labels, Points> histograms;
  for (const promql::NotedSeries& series : load.series) {
    const auto labels = histogram_of(series.labels);
    if (!labels) continue;
    Points& points = histograms[*labels];
    for (size_t i = 0; i < series.points.size(); ++i) {
      if (series.points[i]) points[static_cast<int64_t>(i) * load.interval_ms] = std::nullopt;
    }
  }
  for (const auto& [labels, points] : histograms) TRY(add_points(labels, points));
  return {};
}

Status ScriptData::rebuild() {
  floats_.clear();
  for (const auto& [labels, points] : series_) {
    std::vector<int64_t> times_ms;
    std::vector<double> values;
    for (const auto& [time_ms, value] : points) {
      if (!value) continue;
      times_ms.push_back(time_ms);
      values.push_back(*value);
    }
    if (!times_ms.empty()) TRY(floats_.add(labels, times_ms, values));
  }
  return {};
}

void ScriptData::clear() {
  series_.clear();
  floats_.clear();
}

// A range selector sees what lies in its window at some step, an instant selector the last point
// within the look-back.
bool ScriptData::selects_histogram(const Points& points, const model::SelectHints& hints) const {
  const bool is_instant = hints.range_ms == 0;
  const int64_t width_ms = is_instant ? lookback_ms_ : hints.range_ms;
  const int64_t first_ms = hints.step_ms > 0 ? hints.start_ms + width_ms : hints.end_ms;
  const int64_t step_ms = std::max<int64_t>(hints.step_ms, 1);
  for (int64_t at_ms = first_ms; at_ms <= hints.end_ms; at_ms += step_ms) {
    for (auto next = points.upper_bound(at_ms); next != points.begin();) {
      --next;
      if (next->first <= at_ms - width_ms) break;
      if (!next->second) return true;
      if (is_instant) break;
    }
    if (hints.step_ms == 0) break;
  }
  return false;
}

Result<std::unique_ptr<model::SeriesSet>> ScriptData::select(
    std::span<const model::Matcher> matchers, const model::SelectHints& hints,
    std::stop_token stop) const {
  for (const auto& [labels, points] : series_) {
    if (!model::matches(labels, matchers)) continue;
    met_.histogram = met_.histogram || selects_histogram(points, hints);
    met_.metadata = met_.metadata || has_metadata(labels);
  }
  return floats_.select(matchers, hints, stop);
}

Result<std::vector<std::string>> ScriptData::label_names(std::span<const model::Matcher> matchers,
                                                         int64_t start_ms, int64_t end_ms,
                                                         std::stop_token stop) const {
  return floats_.label_names(matchers, start_ms, end_ms, std::move(stop));
}

Result<std::vector<std::string>> ScriptData::label_values(std::string_view name,
                                                          std::span<const model::Matcher> matchers,
                                                          int64_t start_ms, int64_t end_ms,
                                                          std::stop_token stop) const {
  return floats_.label_values(name, matchers, start_ms, end_ms, std::move(stop));
}

}  // namespace gpusight::conformance
