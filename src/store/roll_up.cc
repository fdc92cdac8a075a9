#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>

#include "catalog/metric.h"
#include "store/compaction.h"
#include "store/roller.h"

namespace gpusight::store {
namespace {

constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();

struct Work {
  Tier tier{};
  int64_t group = 0;
  int64_t start_ms = 0;  // rows in (start, end]
  int64_t end_ms = 0;
};

// The first window of a group that has raw rows and is not rolled up; nullopt when it is not over.
Result<std::optional<Work>> next_window(Db& db, Stmt& raw, int64_t group, Tier tier,
                                        int64_t now_ms) {
  const int64_t until_ms = TRY(rolled_until(db, group, tier));
  raw.bind(1, group).bind(2, until_ms);
  if (!TRY(raw.step())) return std::optional<Work>();
  const int64_t first_ms =
      std::max(raw.number(0), until_ms == kBeginning ? until_ms : until_ms + 1);
  raw.reset();
  const int64_t end_ms = window_end(first_ms, kRollWindowMs);
  if (end_ms > now_ms) return std::optional<Work>();
  return std::optional(Work{.tier = tier,
                            .group = group,
                            .start_ms = std::max(until_ms, end_ms - kRollWindowMs),
                            .end_ms = end_ms});
}

Result<std::optional<Work>> find_work(Db& db, int64_t now_ms) {
  std::vector<int64_t> groups;
  Stmt select = TRY(db.prepare("SELECT id FROM series_group"));
  while (TRY(select.step())) groups.push_back(select.number(0));
  Stmt raw =
      TRY(db.prepare("SELECT first_ms FROM chunk WHERE group_id=?1 AND tier=0 AND last_ms>?2"
                     " ORDER BY last_ms LIMIT 1"));
  for (const TierRow& tier : kTiers) {
    if (tier.resolution_ms == 0) continue;
    for (const int64_t group : groups) {
      const auto work = TRY(next_window(db, raw, group, tier.tier, now_ms));
      if (work) return work;
    }
  }
  return std::optional<Work>();
}

Result<std::map<uint32_t, bool>> counters_of(Db& db, int64_t group) {
  std::map<uint32_t, bool> counters;
  Stmt select = TRY(db.prepare("SELECT id, metric FROM series WHERE group_id=?1"));
  select.bind(1, group);
  while (TRY(select.step())) {
    const auto* metric = catalog::find_metric_by_wire(static_cast<uint16_t>(select.number(1)));
    counters[static_cast<uint32_t>(select.number(0))] =
        metric != nullptr && metric->kind == catalog::Kind::kCounter;
  }
  return counters;
}

uint32_t column_of(uint32_t series, RollupPart part) {
  return series * 8 + static_cast<uint32_t>(part);
}

// The last value of a column, and nullopt where it has none.
std::optional<int64_t> last_value(const ChunkColumn& column) {
  for (size_t row = column.rows(); row-- > 0;) {
    if (column.states.empty() || column.states[row] == kStateValue) return column.numbers[row];
  }
  return std::nullopt;
}

// What each counter stood at before the window: increases count from there, over a restart too.
Result<std::map<uint32_t, int64_t>> standing_before(const Compactor& compactor, const Work& work,
                                                    const std::map<uint32_t, bool>& counters) {
  std::map<uint32_t, int64_t> standing;
  if (work.start_ms == kBeginning) return standing;
  auto missing = static_cast<size_t>(
      std::ranges::count_if(counters, [](const auto& entry) { return entry.second; }));
  const auto chunks = TRY(compactor.loader.find(work.group, work.tier, kBeginning, work.start_ms));
  std::vector<int64_t> times_ms;
  ChunkColumn column;
  for (auto chunk = chunks.rbegin(); chunk != chunks.rend() && missing > 0; ++chunk) {
    const Status loaded = compactor.loader.load(chunk->id);
    if (loaded.code() == Code::kCorrupt) continue;
    TRY(loaded);
    TRY(compactor.loader.times(times_ms));
    for (const auto& [series, is_counter] : counters) {
      const uint32_t id = column_of(series, RollupPart::kLast);
      if (!is_counter || standing.contains(series) || !compactor.loader.has(id)) continue;
      const Status read = compactor.loader.column(id, times_ms.size(), column);
      if (read.code() == Code::kCorrupt) continue;
      TRY(read);
      const auto last = last_value(column);
      if (!last) continue;
      standing[series] = *last;
      --missing;
    }
  }
  return standing;
}

// The rows of all series of a group, as columns that share their times.
class RolledGroup {
 public:
  void add(uint32_t series, bool is_counter, std::vector<RolledRow> rows) {
    if (rows.empty()) return;
    for (const RolledRow& row : rows) times_ms_.push_back(row.time_ms);
    series_.push_back({series, is_counter, std::move(rows)});
  }

  Status write(const Compactor& compactor, const Work& work) {
    if (times_ms_.empty()) return {};
    std::ranges::sort(times_ms_);
    times_ms_.erase(std::unique(times_ms_.begin(), times_ms_.end()), times_ms_.end());
    std::vector<ChunkColumn> columns(series_.size() * kRollupParts);
    std::vector<ColumnToPack> to_pack;
    for (size_t i = 0; i < series_.size(); ++i) {
      const std::span parts(&columns[i * kRollupParts], kRollupParts);
      fill(series_[i], parts);
      for (size_t part = 0; part < kRollupParts; ++part) {
        to_pack.push_back({.id = column_of(series_[i].id, static_cast<RollupPart>(part)),
                           .column = &parts[part]});
      }
    }
    PackedChunk packed;
    ChunkBytes bytes;
    compactor.encoder.pack(times_ms_, to_pack, packed);
    write_chunk(packed, bytes);
    return insert_chunk(compactor.db,
                        {.group = work.group,
                         .tier = work.tier,
                         .level = 0,
                         .first_ms = times_ms_.front(),
                         .last_ms = times_ms_.back()},
                        bytes);
  }

 private:
  struct Series {
    uint32_t id = 0;
    bool is_counter = false;
    std::vector<RolledRow> rows;
  };

  void fill(const Series& series, std::span<ChunkColumn> parts) const {
    for (ChunkColumn& part : parts) {
      part.numbers.assign(times_ms_.size(), 0);
      part.states.assign(times_ms_.size(), kStateGap);
    }
    const bool fits = std::ranges::all_of(series.rows, [](const RolledRow& row) {
      return row.sum >= std::numeric_limits<int64_t>::min() &&
             row.sum <= std::numeric_limits<int64_t>::max();
    });
    if (!fits) parts[static_cast<size_t>(RollupPart::kSum)].form = ChunkColumn::Form::kDoubles;
    for (const RolledRow& row : series.rows) {
      const auto at =
          static_cast<size_t>(std::ranges::lower_bound(times_ms_, row.time_ms) - times_ms_.begin());
      const auto set = [&](RollupPart part, int64_t number, CellState state) {
        parts[static_cast<size_t>(part)].numbers[at] = number;
        parts[static_cast<size_t>(part)].states[at] = state;
      };
      set(RollupPart::kLast, row.last, row.state);
      if (row.state != kStateValue) continue;
      set(RollupPart::kMin, row.min, kStateValue);
      set(RollupPart::kMax, row.max, kStateValue);
      set(RollupPart::kFirst, row.first, kStateValue);
      set(RollupPart::kCount, row.count, kStateValue);
      set(RollupPart::kSum,
          fits ? static_cast<int64_t>(row.sum)
               : std::bit_cast<int64_t>(static_cast<double>(row.sum)),
          kStateValue);
      if (series.is_counter) set(RollupPart::kIncrease, row.increase, kStateValue);
    }
  }

  std::vector<int64_t> times_ms_;
  std::vector<Series> series_;
};

// Feeds one column of the chunk that the loader is at.
Status feed(ChunkLoader& loader, uint32_t series, std::span<const int64_t> times_ms,
            const Work& work, Roller& roller) {
  ChunkColumn column;
  TRY(loader.column(series, times_ms.size(), column));
  for (size_t row = 0; row < times_ms.size(); ++row) {
    if (times_ms[row] <= work.start_ms || times_ms[row] > work.end_ms) continue;
    roller.add(times_ms[row], column.states.empty() ? kStateValue : column.states[row],
               column.numbers[row]);
  }
  return {};
}

Status roll(const Compactor& compactor, const Work& work) {
  const auto counters = TRY(counters_of(compactor.db, work.group));
  const auto standing = TRY(standing_before(compactor, work, counters));
  std::map<uint32_t, Roller> rollers;
  std::vector<int64_t> times_ms;
  for (const ChunkInfo& chunk :
       TRY(compactor.loader.find(work.group, Tier::kRaw, work.start_ms, work.end_ms))) {
    Status read = compactor.loader.load(chunk.id);
    if (read.ok()) read = compactor.loader.times(times_ms);
    if (read.code() == Code::kCorrupt) continue;
    TRY(read);
    for (const ChunkHead::Column& column : compactor.loader.columns()) {
      const auto before = standing.find(column.id);
      Roller& roller =
          rollers
              .try_emplace(column.id, tier_row(work.tier).resolution_ms,
                           before == standing.end() ? std::nullopt : std::optional(before->second))
              .first->second;
      const Status fed = feed(compactor.loader, column.id, times_ms, work, roller);
      if (fed.code() != Code::kCorrupt) TRY(fed);
    }
  }
  RolledGroup rolled;
  for (auto& [series, roller] : rollers) {
    roller.finish();
    const auto at = counters.find(series);
    rolled.add(series, at != counters.end() && at->second, roller.take());
  }
  compactor.loader.close();
  TRY(rolled.write(compactor, work));
  return set_rolled_until(compactor.db, work.group, work.tier, work.end_ms);
}

}  // namespace

Result<bool> roll_step(const Compactor& compactor, int64_t now_ms) {
  const auto work = TRY(find_work(compactor.db, now_ms));
  if (!work) return false;
  Transaction transaction = TRY(Transaction::begin(compactor.db, Transaction::Kind::kWrite));
  const Status rolled = roll(compactor, *work);
  compactor.loader.close();
  TRY(rolled);
  TRY(transaction.commit());
  return true;
}

}  // namespace gpusight::store
