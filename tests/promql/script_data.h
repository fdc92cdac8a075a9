// The series a script has loaded.
//
// Native histograms are not stored here, only where their points stand. A selection that would have
// come upon one, or upon a series with metadata labels, is noted, so that the runner can leave the
// case out.
//
// Threads: one. What select() gave must not outlive a later load() or clear().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/memory_series.h"
#include "tests/promql/script.h"

namespace gpusight::conformance {

class ScriptData final : public model::Queryable {
 public:
  // `lookback_ms` as the engine has it.
  explicit ScriptData(int64_t lookback_ms) : lookback_ms_(lookback_ms) {}

  // Adds to what is there. A second, different point at a time of a series is kInvalidArgument.
  Status load(const Load& load);
  void clear();

  // What selections came upon since the last forget().
  struct Met {
    bool histogram = false;
    bool metadata = false;  // a label __type__ or __unit__
  };
  const Met& met() const { return met_; }
  void forget() { met_ = {}; }

  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override;
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher> matchers,
                                               int64_t start_ms, int64_t end_ms,
                                               std::stop_token stop) const override;
  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const model::Matcher> matchers,
                                                int64_t start_ms, int64_t end_ms,
                                                std::stop_token stop) const override;

 private:
  // By time; nullopt is a point of a native histogram.
  using Points = std::map<int64_t, std::optional<double>>;

  Status add_points(const model::Labels& labels, const Points& points);
  Status derive_histograms(const Load& load);
  Status rebuild();
  bool selects_histogram(const Points& points, const model::SelectHints& hints) const;

  const int64_t lookback_ms_;
  std::map<model::Labels, Points> series_;
  promql::MemorySeries floats_;  // of series_
  mutable Met met_;
};

}  // namespace gpusight::conformance
