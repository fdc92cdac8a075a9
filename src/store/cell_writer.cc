#include "store/cell_writer.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace gpusight::store {
namespace {

// Of a chunk that is merged as far as it will be.
constexpr int64_t kMergedLevel = 2;

void to_doubles(ChunkColumn& column) {
  if (std::exchange(column.form, ChunkColumn::Form::kDoubles) == ChunkColumn::Form::kDoubles) {
    return;
  }
  for (int64_t& number : column.numbers) number = std::bit_cast<int64_t>(double(number));
}

int64_t as_double_bits(const NewCell& cell) {
  if (cell.form == ChunkColumn::Form::kDoubles) return cell.number;
  return std::bit_cast<int64_t>(static_cast<double>(cell.number));
}

// All rows of one window: those of its chunks, and new ones.
class WindowRows {
 public:
  // Takes a chunk's rows; kCorrupt, and nothing is taken, when any of it is damaged.
  Status take(ChunkLoader& loader, int64_t chunk) {
    std::vector<int64_t> times_ms;
    TRY(loader.load(chunk));
    TRY(loader.times(times_ms));
    std::map<uint32_t, ChunkColumn> columns;
    for (const ChunkHead::Column& stored : loader.columns()) {
      TRY(loader.column(stored.id, times_ms.size(), columns[stored.id]));
    }
    taken_.push_back({std::move(times_ms), std::move(columns)});
    return {};
  }

  // Both may hold the same times; cells are sorted by column and time.
  void join(std::span<const NewCell> cells) {
    for (const Rows& rows : taken_) {
      times_ms_.insert(times_ms_.end(), rows.times_ms.begin(), rows.times_ms.end());
    }
    for (const NewCell& cell : cells) times_ms_.push_back(cell.time_ms);
    std::ranges::sort(times_ms_);
    times_ms_.erase(std::unique(times_ms_.begin(), times_ms_.end()), times_ms_.end());
    for (const Rows& rows : taken_) {
      for (const auto& [id, column] : rows.columns) place(rows.times_ms, column, column_of(id));
    }
    taken_.clear();
    for (const NewCell& cell : cells) place(cell);
  }

  Status write(const Compactor& compactor, ChunkInfo info) const {
    PackedChunk packed;
    ChunkBytes bytes;
    for (size_t first = 0; first < times_ms_.size(); first += kMergedRows) {
      const size_t rows = std::min(kMergedRows, times_ms_.size() - first);
      const auto times = std::span(times_ms_).subspan(first, rows);
      std::map<uint32_t, ChunkColumn> cut;
      std::vector<ColumnToPack> to_pack;
      for (const auto& [id, column] : columns_) {
        cut[id] = cut_out(column, first, rows);
        to_pack.push_back({.id = id, .column = &cut[id]});
      }
      compactor.encoder.pack(times, to_pack, packed);
      write_chunk(packed, bytes);
      info.first_ms = times.front();
      info.last_ms = times.back();
      TRY(insert_chunk(compactor.db, info, bytes));
    }
    return {};
  }

 private:
  struct Rows {
    std::vector<int64_t> times_ms;
    std::map<uint32_t, ChunkColumn> columns;
  };

  ChunkColumn& column_of(uint32_t id) {
    ChunkColumn& column = columns_[id];
    column.numbers.resize(times_ms_.size(), 0);
    column.states.resize(times_ms_.size(), kStateGap);
    return column;
  }

  size_t row_of(int64_t time_ms) const {
    return static_cast<size_t>(std::ranges::lower_bound(times_ms_, time_ms) - times_ms_.begin());
  }

  void place(std::span<const int64_t> times_ms, const ChunkColumn& from, ChunkColumn& to) const {
    ChunkColumn converted;
    const ChunkColumn* source = &from;
    if (from.form != to.form) {
      to_doubles(to);
      converted = from;
      to_doubles(converted);
      source = &converted;
    }
    for (size_t i = 0, row = times_ms.empty() ? 0 : row_of(times_ms[0]); i < times_ms.size(); ++i) {
      while (times_ms_[row] < times_ms[i]) ++row;
      to.numbers[row] = source->numbers[i];
      to.states[row] = source->states.empty() ? kStateValue : source->states[i];
    }
  }

  void place(const NewCell& cell) {
    ChunkColumn& column = column_of(cell.column);
    if (cell.form == ChunkColumn::Form::kDoubles) to_doubles(column);
    const size_t row = row_of(cell.time_ms);
    column.states[row] = cell.state;
    column.numbers[row] =
        column.form == ChunkColumn::Form::kDoubles ? as_double_bits(cell) : cell.number;
  }

  static ChunkColumn cut_out(const ChunkColumn& column, size_t first, size_t rows) {
    const auto from = static_cast<ptrdiff_t>(first);
    const auto to = static_cast<ptrdiff_t>(first + rows);
    return {.form = column.form,
            .numbers = {column.numbers.begin() + from, column.numbers.begin() + to},
            .states = {column.states.begin() + from, column.states.begin() + to}};
  }

  std::vector<Rows> taken_;
  std::vector<int64_t> times_ms_;
  std::map<uint32_t, ChunkColumn> columns_;
};

// Every chunk of the window is taken, also those without rows near the new ones: whatever is merged
// later would reach over a merged chunk in its midst.
Status put_into_window(const Compactor& compactor, const ChunkInfo& info, int64_t start_ms,
                       int64_t end_ms, std::span<const NewCell> cells) {
  WindowRows rows;
  for (const ChunkInfo& chunk :
       TRY(compactor.loader.find(info.group, info.tier, start_ms, end_ms))) {
    const Status taken = rows.take(compactor.loader, chunk.id);
    compactor.loader.close();
    if (taken.code() == Code::kCorrupt) {
      TRY(set_chunk_level(compactor.db, chunk.id, kDamagedLevel));
      continue;
    }
    TRY(taken);
    TRY(erase_chunk(compactor.db, chunk.id));
  }
  rows.join(cells);
  return rows.write(compactor, info);
}

}  // namespace

Status put_cells(const Compactor& compactor, int64_t group, Tier tier, std::span<NewCell> cells) {
  const int64_t width_ms = tier_row(tier).window_ms.back();
  const auto order = [&](const NewCell& cell) {
    return std::tuple(window_end(cell.time_ms, width_ms), cell.column, cell.time_ms);
  };
  std::ranges::sort(cells, {}, order);
  for (size_t first = 0; first < cells.size();) {
    const int64_t end_ms = window_end(cells[first].time_ms, width_ms);
    size_t end = first;
    while (end < cells.size() && window_end(cells[end].time_ms, width_ms) == end_ms) ++end;
    const ChunkInfo info{.group = group, .tier = tier, .level = kMergedLevel};
    TRY(put_into_window(compactor, info, end_ms - width_ms, end_ms,
                        cells.subspan(first, end - first)));
    first = end;
  }
  return {};
}

}  // namespace gpusight::store
