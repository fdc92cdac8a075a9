// The read interface of history: what a query engine needs to know of stored series, and all it may
// know. The head in memory, the store on disk and the two joined implement it; src/promql reads it.
//
// Threads: a Queryable may be asked from several threads at once; what select() returns belongs to
// the caller's thread and holds a consistent view until destroyed. Nothing here blocks sampling.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpusight::model {

// Name and value pairs sorted by name, the metric's name under "__name__"; no duplicates, no empty
// values.
using Labels = std::vector<std::pair<std::string, std::string>>;

// "This series ended here": the NaN that Prometheus uses for it (its value.StaleNaN). Compare the
// bits; any other NaN is an ordinary sample.
inline constexpr uint64_t kStaleMarkerBits = 0x7ff0000000000002;
inline double stale_marker() { return std::bit_cast<double>(kStaleMarkerBits); }
inline bool is_stale_marker(double v) { return std::bit_cast<uint64_t>(v) == kStaleMarkerBits; }

// One condition on a label. `accepts` has the pattern compiled in by whoever made it (an absent
// label is asked about as the empty text); `kind` and `value` let a store use an index for plain
// equality.
struct Matcher {
  enum class Kind : uint8_t { kEqual, kNotEqual, kRegex, kNotRegex };
  std::string name;
  Kind kind = Kind::kEqual;
  std::string value;
  std::function<bool(std::string_view)> accepts;
};
Matcher equal_matcher(std::string name, std::string value);
bool matches(const Labels& labels, std::span<const Matcher> matchers);

// What the engine will do with a selector, so that the Queryable can choose a tier. Milliseconds
// since 1970. Samples wanted lie in (start, end]: the left edge is open, as in Prometheus 3.
struct SelectHints {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;        // 0: an instant query
  int64_t range_ms = 0;       // width of a range selector; 0 for an instant selector
  int64_t lookback_ms = 0;    // how far an instant selector looks back
  std::string_view function;  // innermost function over the selector: "rate", "" if none
};

// What a row of a rolled-up tier keeps of the samples in (time - resolution, time]. A Queryable may
// leave at 0 what the selector's function has no use for: all but `last` where it is an instant
// selector or last_over_time; all but what it is named after for min, max, sum and count over time
// (sum and count for avg), whose rows of nothing but stale markers it may leave out.
struct Rollup {
  double min = 0, max = 0, sum = 0, first = 0, last = 0;
  uint64_t count = 0;
  double increase = 0;  // of a counter, resets taken into account, from the row before
};

// A stretch of one series in time order. Raw tiers fill `values`, rolled-up ones `rollups`; the
// other is empty. The spans stay valid until the next call on the cursor.
struct Stretch {
  std::span<const int64_t> times_ms;
  std::span<const double> values;
  std::span<const Rollup> rollups;
};

class SeriesCursor {
 public:
  virtual ~SeriesCursor() = default;
  virtual const Labels& labels() const = 0;
  // The next stretch; empty times at the end. May read from disk and fail.
  virtual Result<Stretch> next() = 0;
};

// The answer to one selector: all its series come from one tier.
class SeriesSet {
 public:
  virtual ~SeriesSet() = default;
  // 0 for raw samples, else the milliseconds between rolled-up rows.
  virtual int64_t resolution_ms() const = 0;
  // For the answer's infos: "raw", "1m", "1h".
  virtual std::string_view tier() const = 0;
  // The next series in label order; nullptr at the end.
  virtual Result<std::unique_ptr<SeriesCursor>> next() = 0;
};

class Queryable {
 public:
  virtual ~Queryable() = default;
  virtual Result<std::unique_ptr<SeriesSet>> select(std::span<const Matcher> matchers,
                                                    const SelectHints& hints,
                                                    std::stop_token stop) const = 0;
  // Sorted, each once, over the series that match and have samples in [start, end].
  virtual Result<std::vector<std::string>> label_names(std::span<const Matcher> matchers,
                                                       int64_t start_ms, int64_t end_ms,
                                                       std::stop_token stop) const = 0;
  virtual Result<std::vector<std::string>> label_values(std::string_view name,
                                                        std::span<const Matcher> matchers,
                                                        int64_t start_ms, int64_t end_ms,
                                                        std::stop_token stop) const = 0;
};

}  // namespace gpusight::model
