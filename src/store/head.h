// The head of history: the last ten minutes at full rate, packed in memory.
//
// append() is called by the sampling thread once a tick; every reading call may come from any
// thread at any time and takes a consistent copy of packed blocks under a short lock. A series that
// is absent in a tick in which its subject was read ends with a stale marker. At most 3 bytes a
// sample.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "catalog/metric.h"
#include "model/queryable.h"
#include "model/snapshot.h"

namespace gpusight::store {

// Part of the head unpacked for a view: one group is one subject's metrics of one cadence, which
// share their times.
struct HeadGroup {
  std::string subject;            // a device's uuid, "host" or "self"
  std::vector<int64_t> times_ms;  // since 1970, ascending
  struct Series {
    catalog::MetricId metric{};
    std::string label;
    std::vector<double> values;  // one for each time; NaN where absent
  };
  std::vector<Series> series;
};

struct HeadFootprint {
  uint64_t series = 0;
  uint64_t samples = 0;       // present and absent ones
  uint64_t packed_bytes = 0;  // times included
};

class Head final : public model::Queryable {
 public:
  struct Options {
    Duration span = std::chrono::minutes(10);
    size_t max_series = 100000;  // beyond it new series are refused and counted
  };
  explicit Head(Options options);
  Head() : Head(Options{}) {}
  ~Head() override;

  void append(const model::Snapshot& snapshot);
  std::vector<HeadGroup> groups(int64_t since_ms = 0) const;
  HeadFootprint footprint() const;
  uint64_t refused_series() const;

  Result<std::unique_ptr<model::SeriesSet>> select(std::span<const model::Matcher> matchers,
                                                   const model::SelectHints& hints,
                                                   std::stop_token stop) const override;
  Result<std::vector<std::string>> label_names(std::span<const model::Matcher> matchers,
                                               int64_t start_ms, int64_t end_ms) const override;
  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const model::Matcher> matchers,
                                                int64_t start_ms, int64_t end_ms) const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpusight::store
