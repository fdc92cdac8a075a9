// One group of the head: the series of one subject and one cadence, which share their times.
//
// Rows are written tick by tick: begin(), then stage_… for what the subject has, then commit() or
// commit_end(). Rows gather in an open block; a full one is sealed, never changes again and is
// shared with readers, and goes as a whole when its newest row is older than the span.
//
// Not thread-safe: Head holds its lock around every call. A GroupView is an immutable copy that any
// thread may keep and read.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "catalog/metric.h"
#include "store/head_codec.h"

namespace gpusight::store {

struct GroupKey {
  catalog::Scope scope = catalog::Scope::kDevice;
  std::string uuid;  // of a device; else empty
  catalog::Cadence cadence = catalog::Cadence::kFast;

  // clang-tidy 14 takes the comparison with 0 inside for a null pointer.
  auto operator<=>(const GroupKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct SeriesInfo {
  uint32_t id = 0;  // its column in the blocks of its group; never given twice
  catalog::MetricId metric{};
  std::string label;
};
using SeriesList = std::vector<SeriesInfo>;  // in the order (metric, label)

struct Block {
  Bytes bytes;
  int64_t first_ms = 0;
  int64_t last_ms = 0;
  uint64_t first_row = 0;  // rows of a group are counted from its beginning
  uint64_t samples = 0;    // values and absent marks
  MonoTime newest{};       // when its last row was written
};
using BlockPtr = std::shared_ptr<const Block>;

struct GroupView {
  std::shared_ptr<const GroupKey> key;
  std::shared_ptr<const SeriesList> series;
  std::vector<BlockPtr> blocks;  // in time order, the open one packed as the last
};

struct Tick {
  int64_t wall_ms = 0;
  MonoTime mono{};
};

class Group {
 public:
  // What a series does in a row unless something else is staged: it is absent.
  Group(GroupKey key, Duration span);

  // Starts a tick: forgets what is too old, and rows named at or after this tick's time, which only
  // a clock set back leaves behind. Returns the number of samples forgotten for the latter reason.
  uint64_t begin(const Tick& tick);

  // False, and nothing staged, when the series would be a new one and `may_add` says no.
  bool stage_value(catalog::MetricId metric, std::string_view label, int64_t quantum,
                   MonoTime read_at, bool may_add);
  void stage_gap(catalog::MetricId metric, std::string_view label);

  void commit();
  // Once for a subject that is no longer there: the series end with absent marks.
  void commit_end();
  bool is_committed() const { return is_committed_; }

  size_t series_count() const { return series_.size(); }
  GroupView view() const;
  uint64_t samples() const;
  uint64_t packed_bytes() const;

 private:
  struct Series {
    SeriesInfo info;
    CellColumn cells;                // of the open block
    Cell next;                       // staged for the row of this tick
    MonoTime next_read_at;           // of a staged value
    MonoTime read_at;                // of the last value written
    CellKind last = CellKind::kGap;  // value or absent, whichever was written last
    uint64_t last_value_row = 0;
  };

  size_t place_of(catalog::MetricId metric, std::string_view label);
  bool stands_at(size_t place, catalog::MetricId metric, std::string_view label) const;
  Series* find(catalog::MetricId metric, std::string_view label);
  void add(size_t place, catalog::MetricId metric, std::string_view label);
  void resolve_staged();
  bool is_row_due() const;
  void write_row();
  BlockPtr pack_open() const;
  void seal();
  void drop_old(MonoTime now);
  void drop_series_without_values();
  uint64_t forget_from(int64_t wall_ms);
  void publish_series();

  const std::shared_ptr<const GroupKey> key_;
  const Duration span_;
  std::deque<BlockPtr> blocks_;

  Tick tick_;
  std::vector<Series> series_;  // in the order (metric, label)
  size_t next_place_ = 0;       // where the series behind the last one staged stands
  uint32_t next_id_ = 0;
  std::shared_ptr<const SeriesList> published_;
  bool is_committed_ = false;
  bool has_ended_ = false;
  bool list_changed_ = false;

  TimeColumn times_;  // of the open block
  uint64_t next_row_ = 0;
  uint64_t open_first_row_ = 0;
  MonoTime open_oldest_{};
  MonoTime open_newest_{};
};

}  // namespace gpusight::store
