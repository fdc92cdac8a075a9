#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "store/compaction.h"

namespace gpusight::store {
namespace {

struct Work {
  Tier tier{};
  int64_t level = 0;  // of the chunks to merge, or finer
  int64_t group = 0;
  int64_t start_ms = 0;  // of the window, which is (start, end]
  int64_t end_ms = 0;
};

Result<std::optional<Work>> find_work(Db& db, int64_t now_ms) {
  Stmt oldest = TRY(
      db.prepare("SELECT group_id, MIN(last_ms) FROM chunk WHERE level<2 AND tier=?1 AND level=?2"
                 " GROUP BY group_id"));
  for (const TierRow& tier : kTiers) {
    for (size_t level = 0; level < tier.window_ms.size(); ++level) {
      const int64_t width_ms = tier.window_ms[level];
      oldest.bind(1, static_cast<int64_t>(tier.tier)).bind(2, static_cast<int64_t>(level));
      while (TRY(oldest.step())) {
        const int64_t end_ms = window_end(oldest.number(1), width_ms);
        if (end_ms > now_ms) continue;
        Work work{.tier = tier.tier,
                  .level = static_cast<int64_t>(level),
                  .group = oldest.number(0),
                  .start_ms = end_ms - width_ms,
                  .end_ms = end_ms};
        oldest.reset();
        return std::optional(work);
      }
    }
  }
  return std::optional<Work>();
}

// Rows of several chunks one after another.
class Merged {
 public:
  size_t rows() const { return times_ms_.size(); }

  // `columns` are those of the chunk that the loader is at, in its order.
  void append(std::span<const int64_t> times_ms, const ChunkLoader& loader,
              std::span<const ChunkColumn> columns) {
    const size_t before = rows();
    times_ms_.insert(times_ms_.end(), times_ms.begin(), times_ms.end());
    for (size_t i = 0; i < columns.size(); ++i) {
      ChunkColumn& to = columns_[loader.columns()[i].id];
      pad(to, before);
      append_column(to, columns[i]);
    }
  }

  Status write(const Compactor& compactor, const Work& work) {
    if (rows() == 0) return {};
    std::vector<ColumnToPack> to_pack;
    for (auto& [id, column] : columns_) {
      pad(column, rows());
      to_pack.push_back({.id = id, .column = &column});
    }
    PackedChunk packed;
    ChunkBytes bytes;
    compactor.encoder.pack(times_ms_, to_pack, packed);
    write_chunk(packed, bytes);
    TRY(insert_chunk(compactor.db,
                     {.group = work.group,
                      .tier = work.tier,
                      .level = work.level + 1,
                      .first_ms = times_ms_.front(),
                      .last_ms = times_ms_.back()},
                     bytes));
    times_ms_.clear();
    columns_.clear();
    return {};
  }

 private:
  static void pad(ChunkColumn& column, size_t rows) {
    column.numbers.resize(rows, 0);
    column.states.resize(rows, kStateGap);
  }

  static void append_column(ChunkColumn& to, const ChunkColumn& from) {
    if (from.form != to.form) {
      // Sums outgrow whole numbers now and then; a column is all of one form.
      to_doubles(to);
      ChunkColumn doubles = from;
      to_doubles(doubles);
      append_column(to, doubles);
      return;
    }
    to.numbers.insert(to.numbers.end(), from.numbers.begin(), from.numbers.end());
    to.states.insert(to.states.end(), from.states.begin(), from.states.end());
    if (from.states.empty()) to.states.resize(to.numbers.size(), kStateValue);
  }

  static void to_doubles(ChunkColumn& column) {
    if (std::exchange(column.form, ChunkColumn::Form::kDoubles) == ChunkColumn::Form::kDoubles) {
      return;
    }
    for (int64_t& number : column.numbers) {
      number = std::bit_cast<int64_t>(static_cast<double>(number));
    }
  }

  std::vector<int64_t> times_ms_;
  std::map<uint32_t, ChunkColumn> columns_;
};

// Reads a whole chunk; kCorrupt when any of it is damaged.
Status read_all(ChunkLoader& loader, int64_t chunk, std::vector<int64_t>& times_ms,
                std::vector<ChunkColumn>& columns) {
  TRY(loader.load(chunk));
  TRY(loader.times(times_ms));
  columns.resize(loader.columns().size());
  for (size_t i = 0; i < columns.size(); ++i) {
    TRY(loader.column(loader.columns()[i].id, times_ms.size(), columns[i]));
  }
  return {};
}

Status merge(const Compactor& compactor, const Work& work) {
  auto chunks = TRY(compactor.loader.find(work.group, work.tier, work.start_ms, work.end_ms));
  std::erase_if(chunks, [&](const ChunkInfo& chunk) { return chunk.level > work.level; });
  if (chunks.size() == 1) {
    return set_chunk_level(compactor.db, chunks.front().id, work.level + 1);
  }
  Merged merged;
  std::vector<int64_t> times_ms;
  std::vector<ChunkColumn> columns;
  for (const ChunkInfo& chunk : chunks) {
    const Status read = read_all(compactor.loader, chunk.id, times_ms, columns);
    if (read.code() == Code::kCorrupt) {
      TRY(set_chunk_level(compactor.db, chunk.id, kDamagedLevel));
      continue;
    }
    TRY(read);
    if (merged.rows() + times_ms.size() > kMergedRows) TRY(merged.write(compactor, work));
    merged.append(times_ms, compactor.loader, columns);
    compactor.loader.close();
    TRY(erase_chunk(compactor.db, chunk.id));
  }
  return merged.write(compactor, work);
}

}  // namespace

Result<bool> merge_step(const Compactor& compactor, int64_t now_ms) {
  const auto work = TRY(find_work(compactor.db, now_ms));
  if (!work) return false;
  Transaction transaction = TRY(Transaction::begin(compactor.db, Transaction::Kind::kWrite));
  const Status merged = merge(compactor, *work);
  compactor.loader.close();
  TRY(merged);
  TRY(transaction.commit());
  return true;
}

}  // namespace gpusight::store
