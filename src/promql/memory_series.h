// Series held in memory as plain arrays: a Queryable for rule tests, test scripts and benchmarks.
//
// Threads: add() and clear() by one thread while nobody reads; select() from any number of threads.
// What select() gave must not outlive the object nor a later add().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/queryable.h"

namespace gpusight::promql {

class MemorySeries final : public model::Queryable {
 public:
  // Samples of a series in ascending time, after those it has. A repeated or earlier time is
  // kInvalidArgument and changes nothing.
  Status add(const model::Labels& labels, std::span<const int64_t> times_ms,
             std::span<const double> values);
  void clear();
  size_t series_count() const;

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
  struct Samples {
    std::vector<int64_t> times_ms;
    std::vector<double> values;
  };
  using Entry = std::pair<const model::Labels, Samples>;

  // In label order; only the series of that name where a matcher asks for one by equality.
  void for_each_match(std::span<const model::Matcher> matchers,
                      const std::function<void(const Entry&)>& visit) const;
  static bool has_samples(const Samples& samples, int64_t start_ms, int64_t end_ms);

  std::map<model::Labels, Samples> series_;
  // The entries of series_ by their __name__ ("" without one), each list in label order.
  std::map<std::string, std::vector<const Entry*>> by_name_;
};

}  // namespace gpusight::promql
