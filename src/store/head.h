// The head of history: the last ten minutes at full rate, packed in memory, at most 3 bytes a
// sample (store/head_codec.h says how).
//
// What enters. Per subject (a device, the host, gpusight itself) and cadence there is one group of
// series that share their times, which are the wall times of ticks. Only fresh values enter.
//  - Fast metrics: one row a tick. A value that has gone stale leaves a gap; an absent one leaves a
//    stale marker, in each tick in which its subject is in the snapshot and has no value for it.
//  - Slow metrics: a row only in a tick that brings a reading not seen before (its read_at changed)
//    or in which a series goes absent; a stale marker stands at the tick at which the series went
//    absent, once. Where others of the group were read again and this one was not, it has no
//    sample.
//  - A subject that is no longer in the snapshot: stale markers once, at that tick.
//  - A series begins with its first fresh value and is forgotten when none of the rows kept has a
//    value of it.
//
// What is kept. At least `span` of ticks; a block of rows goes as a whole once its newest row is
// older than that, so that up to a fifth of `span` more is there. Age is measured on the monotonic
// clock: setting the wall clock ages nothing.
//
// When the wall clock is set back, its newest word holds: rows that bear this tick's time or a
// later one are forgotten and their samples counted in dropped_samples(). Times of a series ascend
// for every reader, always.
//
// Threads: append() is called by one thread, the sampling one; every other call may come from any
// thread at any time, takes an immutable copy of packed blocks under a short lock and reads it
// outside. What was read stays as it was, whatever is appended later.
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
    // One for each time; NaN where there was none. A slow reading that still stood while others of
    // its group were read again is repeated.
    std::vector<double> values;
  };
  std::vector<Series> series;  // in the order (metric, label), each with at least one number
};

struct HeadFootprint {
  uint64_t series = 0;
  uint64_t samples = 0;       // present and absent ones
  uint64_t packed_bytes = 0;  // times included, and memory allocated for rows to come
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
  // Rows later than since_ms. Devices by uuid, then host, then self; fast before slow.
  std::vector<HeadGroup> groups(int64_t since_ms = 0) const;
  HeadFootprint footprint() const;
  // Readings not taken because they would have begun a series beyond max_series: grows by one with
  // each such reading.
  uint64_t refused_series() const;
  // Samples forgotten because the wall clock was set back, and readings not taken because they are
  // no multiple of their metric's resolution that a double holds (beyond 2^53 of them).
  uint64_t dropped_samples() const;

  // Samples in (start, end]. The set, and what it gives, outlive the head if need be.
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
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpusight::store
