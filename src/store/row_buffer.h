// Samples on their way to disk: rows of each group since the last commit, made from snapshots.
//
// What enters is what enters the head (head.h), with two differences: a row says why a value is
// absent, and a series is let go an hour after its last value, to begin again with the next. When
// the wall clock is set back its newest word holds here too: rows at or after it go, and cut_from()
// says from when on what was written before has to go as well.
//
// Not thread-safe: it belongs to the writer.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "catalog/metric.h"
#include "model/snapshot.h"
#include "store/chunk_codec.h"
#include "store/head_group.h"

namespace gpusight::store {

class RowGroup {
 public:
  struct Series {
    catalog::MetricId metric{};
    std::string label;
    ChunkColumn column;  // rows since the last commit; states always as many as numbers

    // Of the tick being staged.
    CellState next = kStateGap;
    int64_t next_number = 0;
    MonoTime next_read_at{};
    // Of what was written last.
    CellState last = kStateGap;
    MonoTime read_at{};
    MonoTime last_value{};
  };

  explicit RowGroup(catalog::Cadence cadence) : cadence_(cadence) {}

  void begin();
  // False, and nothing staged, when the series would be a new one and `may_add` says no.
  bool stage_value(catalog::MetricId metric, std::string_view label, int64_t quantum,
                   MonoTime read_at, bool may_add);
  void stage_gap(catalog::MetricId metric, std::string_view label);
  // Of a metric without label: of all its series that have nothing else.
  void stage_absent(catalog::MetricId metric, std::string_view label, model::Reason reason);
  void commit(int64_t wall_ms, MonoTime mono);
  // Once for a subject that is no longer there.
  void commit_end(int64_t wall_ms, MonoTime mono);
  bool is_committed() const { return is_committed_; }

  std::span<const int64_t> times_ms() const { return times_ms_; }
  std::span<const Series> series() const { return series_; }  // in the order (metric, label)

  // Returns how many samples went.
  uint64_t forget_from(int64_t wall_ms);
  // The rows are on disk.
  void clear(MonoTime now);

 private:
  Series* find(catalog::MetricId metric, std::string_view label);
  void resolve_staged();
  bool is_row_due() const;
  void write_row(int64_t wall_ms, MonoTime mono);

  const catalog::Cadence cadence_;
  std::vector<int64_t> times_ms_;
  std::vector<Series> series_;
  bool is_committed_ = false;
  bool has_ended_ = false;
};

class RowBuffer {
 public:
  static constexpr int64_t kNothingToCut = std::numeric_limits<int64_t>::max();

  explicit RowBuffer(size_t max_series) : max_series_(max_series) {}

  // `last_ms`: of the newest row on disk.
  void append(const model::Snapshot& snapshot, int64_t last_ms);

  const std::map<GroupKey, RowGroup>& groups() const { return groups_; }
  bool empty() const { return rows_ == 0; }
  // Ticks taken since the last clear().
  size_t rows() const { return rows_; }
  // The tick taken last; meaningful unless empty.
  int64_t last_ms() const { return last_ms_; }
  // What is on disk at or after this time is overruled.
  int64_t cut_from() const { return cut_from_; }

  // What was taken is on disk.
  void clear();
  // What was taken cannot be kept; its samples are counted as dropped.
  void give_up();

  uint64_t refused_series() const { return refused_series_; }
  uint64_t dropped_samples() const { return dropped_samples_; }
  size_t series_count() const;

 private:
  void append_subject(catalog::Scope scope, std::string_view uuid, const model::Samples& samples);
  void append_sample(RowGroup*& group, const GroupKey& key, const model::Sample& sample);
  void forget_from(int64_t wall_ms);

  const size_t max_series_;
  std::map<GroupKey, RowGroup> groups_;
  size_t rows_ = 0;
  size_t series_count_ = 0;
  int64_t wall_ms_ = 0;  // of the tick being taken
  int64_t last_ms_ = 0;
  MonoTime mono_{};
  int64_t cut_from_ = kNothingToCut;
  uint64_t refused_series_ = 0;
  uint64_t dropped_samples_ = 0;
};

}  // namespace gpusight::store
