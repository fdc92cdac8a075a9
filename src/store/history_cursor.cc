#include "store/history_cursor.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "base/log.h"

namespace gpusight::store {
namespace {

constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();

// A quantum as the catalogue has it today.
std::optional<int64_t> quantum_today(const StoredSeries& series, int64_t number) {
  const catalog::Resolution& today = series.metric->resolution;
  if (series.resolution.numerator == today.numerator &&
      series.resolution.denominator == today.denominator) {
    return number;
  }
  return catalog::quantize(*series.metric, series.value_of(number));
}

double number_in(const ChunkColumn& column, size_t row, const StoredSeries& series) {
  const int64_t number = column.numbers[row];
  if (column.form == ChunkColumn::Form::kQuanta) return series.value_of(number);
  return std::bit_cast<double>(number) * static_cast<double>(series.resolution.numerator) /
         static_cast<double>(series.resolution.denominator);
}

CellState state_in(const ChunkColumn& column, size_t row) {
  return column.states.empty() ? kStateValue : column.states[row];
}

// "__name__" sorts before every other label; the catalogue has named every series.
const catalog::MetricRow* metric_of(const model::Labels& labels) {
  const catalog::MetricRow* metric = catalog::find_metric(labels.front().second);
  CHECK(metric != nullptr, labels.front().second);
  return metric;
}

model::Rollup ended_row() { return {.last = model::stale_marker()}; }

}  // namespace

Status Reading::check_stop() {
  if (!stop_.stop_requested()) return {};
  session_->end();
  return {Code::kCancelled, "reading history was cancelled"};
}

Result<std::span<const ChunkInfo>> Reading::find(int64_t group, Tier tier) {
  const auto at = found_.find({group, tier});
  if (at != found_.end()) return std::span<const ChunkInfo>(at->second);
  auto chunks = TRY(session_->chunks().find(group, tier, window_.start_ms, window_.end_ms));
  const auto added = found_.emplace(std::pair(group, tier), std::move(chunks)).first;
  return std::span<const ChunkInfo>(added->second);
}

Result<int64_t> Reading::rolled_until(int64_t group) {
  const auto at = rolled_until_.find(group);
  if (at != rolled_until_.end()) return at->second;
  const int64_t until = TRY(store::rolled_until(session_->db(), group, tier_));
  rolled_until_.emplace(group, until);
  return until;
}

Status Reading::excuse(const Status& failed) {
  if (failed.ok() || failed.code() != Code::kCorrupt) return failed;
  if (damaged_->fetch_add(1) == 0) {
    log::warning("history: {}; queries go on without it (gpusight history check tells more)",
                 failed.message());
  }
  return {};
}

Result<std::unique_ptr<HistoryCursor>> HistoryCursor::open(
    std::shared_ptr<Reading> reading, model::Labels labels, std::vector<StoredSeries> stored,
    std::unique_ptr<model::SeriesCursor> head) {
  std::unique_ptr<HistoryCursor> cursor(
      new HistoryCursor(std::move(reading), std::move(labels), std::move(stored), std::move(head)));
  cursor->pieces_ = TRY(cursor->pieces(cursor->reading_->tier().tier));
  return cursor;
}

Result<std::vector<HistoryCursor::Piece>> HistoryCursor::pieces(Tier tier) const {
  std::vector<Piece> pieces;
  for (const StoredSeries& series : stored_) {
    for (const ChunkInfo& chunk : TRY(reading_->find(series.group, tier))) {
      pieces.push_back({.chunk = chunk, .series = &series});
    }
  }
  if (stored_.size() > 1) {
    // Of a changed series the older number comes first where both are in one chunk.
    std::ranges::sort(pieces, {}, [](const Piece& piece) {
      return std::pair(piece.chunk.last_ms, piece.series->id);
    });
  }
  return pieces;
}

Result<bool> HistoryCursor::has_samples() {
  if (!is_ahead_) TRY(advance());
  is_ahead_ = true;
  return !stretch_.times_ms.empty();
}

Result<model::Stretch> HistoryCursor::next() {
  if (!std::exchange(is_ahead_, false)) TRY(advance());
  return stretch_;
}

Status HistoryCursor::advance() {
  stretch_ = {};
  while (stretch_.times_ms.empty()) {
    TRY(reading_->check_stop());
    times_ms_.clear();
    values_.clear();
    rollups_.clear();
    if (next_piece_ < pieces_.size()) {
      const Piece& piece = pieces_[next_piece_++];
      TRY(reading_->excuse(is_rolled() ? read_rolled(piece) : read_raw(piece)));
    } else if (is_rolled()) {
      if (std::exchange(tail_done_, true)) return {};
      TRY(roll_tail());
    } else {
      if (head_ == nullptr) return {};
      stretch_ = TRY(head_->next());
      return {};
    }
    if (times_ms_.empty()) continue;
    given_ms_ = times_ms_.back();
    stretch_ = {.times_ms = times_ms_, .values = values_, .rollups = rollups_};
  }
  return {};
}

std::pair<size_t, size_t> HistoryCursor::wanted_rows(int64_t start_ms) const {
  const int64_t after = std::max(start_ms, given_ms_.value_or(kBeginning));
  const auto from = std::ranges::upper_bound(chunk_times_ms_, after);
  const auto to = std::ranges::upper_bound(chunk_times_ms_, reading_->window().end_ms);
  const auto first = static_cast<size_t>(from - chunk_times_ms_.begin());
  return {first, std::max(first, static_cast<size_t>(to - chunk_times_ms_.begin()))};
}

Status HistoryCursor::read_raw(const Piece& piece) {
  ChunkLoader& chunks = reading_->chunks();
  TRY(chunks.load(piece.chunk.id));
  if (!chunks.has(piece.series->id)) return {};
  TRY(chunks.times(chunk_times_ms_));
  TRY(chunks.column(piece.series->id, chunk_times_ms_.size(), column_));
  const auto [first, end] = wanted_rows(reading_->window().start_ms);
  times_ms_.reserve(end - first);
  values_.reserve(end - first);
  for (size_t row = first; row < end; ++row) {
    const CellState state = state_in(column_, row);
    if (state == kStateGap || state == kStateHeld) continue;
    times_ms_.push_back(chunk_times_ms_[row]);
    values_.push_back(state == kStateValue ? number_in(column_, row, *piece.series)
                                           : model::stale_marker());
  }
  return {};
}

Status HistoryCursor::read_rolled(const Piece& piece) {
  ChunkLoader& chunks = reading_->chunks();
  const StoredSeries& series = *piece.series;
  TRY(chunks.load(piece.chunk.id));
  if (!chunks.has(series.part(RollupPart::kLast))) return {};
  TRY(chunks.times(chunk_times_ms_));
  parts_.resize(kRollupParts);
  for (size_t part = 0; part < kRollupParts; ++part) {
    TRY(chunks.column(series.part(static_cast<RollupPart>(part)), chunk_times_ms_.size(),
                      parts_[part]));
  }
  const auto number = [&](RollupPart part, size_t row) {
    return number_in(parts_[static_cast<size_t>(part)], row, series);
  };
  const ChunkColumn& last = parts_[static_cast<size_t>(RollupPart::kLast)];
  const ChunkColumn& counts = parts_[static_cast<size_t>(RollupPart::kCount)];
  const auto [first, end] = wanted_rows(reading_->window().start_ms);
  for (size_t row = first; row < end; ++row) {
    const CellState state = state_in(last, row);
    if (state == kStateGap || state == kStateHeld) continue;
    times_ms_.push_back(chunk_times_ms_[row]);
    if (state != kStateValue) {
      rollups_.push_back(ended_row());
      continue;
    }
    last_number_ = quantum_today(series, last.numbers[row]);
    rollups_.push_back({.min = number(RollupPart::kMin, row),
                        .max = number(RollupPart::kMax, row),
                        .sum = number(RollupPart::kSum, row),
                        .first = number(RollupPart::kFirst, row),
                        .last = number(RollupPart::kLast, row),
                        .count = static_cast<uint64_t>(std::max<int64_t>(counts.numbers[row], 0)),
                        .increase = number(RollupPart::kIncrease, row)});
  }
  return {};
}

Status HistoryCursor::roll_tail() {
  const int64_t resolution_ms = reading_->tier().resolution_ms;
  // Whole rows, as far as they end inside the window.
  const int64_t start_ms = reading_->window().start_ms;
  const int64_t first_row_ms = start_ms <= kBeginning + resolution_ms
                                   ? kBeginning
                                   : window_end(start_ms, resolution_ms) - resolution_ms;
  Roller roller(resolution_ms, last_number_);
  int64_t newest_ms = first_row_ms;
  for (const Piece& piece : TRY(pieces(Tier::kRaw))) {
    TRY(reading_->check_stop());
    const int64_t rolled_ms = TRY(reading_->rolled_until(piece.series->group));
    const int64_t from_ms = std::max(rolled_ms, newest_ms);
    if (piece.chunk.last_ms <= from_ms) continue;
    TRY(reading_->excuse(roll_chunk(piece, from_ms, roller, newest_ms)));
  }
  TRY(roll_head(roller, newest_ms));
  roller.finish();
  for (const RolledRow& row : roller.take()) add_rolled(row, std::min(row.time_ms, newest_ms));
  return {};
}

Status HistoryCursor::roll_chunk(const Piece& piece, int64_t start_ms, Roller& roller,
                                 int64_t& newest_ms) {
  ChunkLoader& chunks = reading_->chunks();
  TRY(chunks.load(piece.chunk.id));
  if (!chunks.has(piece.series->id)) return {};
  TRY(chunks.times(chunk_times_ms_));
  TRY(chunks.column(piece.series->id, chunk_times_ms_.size(), column_));
  const auto [first, end] = wanted_rows(start_ms);
  for (size_t row = first; row < end; ++row) {
    const CellState state = state_in(column_, row);
    const auto number = quantum_today(*piece.series, column_.numbers[row]);
    if (state == kStateGap || state == kStateHeld || !number) continue;
    roller.add(chunk_times_ms_[row], state, *number);
    newest_ms = chunk_times_ms_[row];
  }
  return {};
}

Status HistoryCursor::roll_head(Roller& roller, int64_t& newest_ms) {
  if (head_ == nullptr) return {};
  const catalog::MetricRow* metric = metric_of(labels_);
  while (true) {
    const model::Stretch stretch = TRY(head_->next());
    if (stretch.times_ms.empty()) return {};
    for (size_t i = 0; i < stretch.times_ms.size(); ++i) {
      if (stretch.times_ms[i] <= newest_ms) continue;
      newest_ms = stretch.times_ms[i];
      const auto number = catalog::quantize(*metric, stretch.values[i]);
      const bool ended = model::is_stale_marker(stretch.values[i]);
      roller.add(newest_ms, ended ? absent_state(model::Reason::kUnknown) : kStateValue,
                 number.value_or(0));
    }
  }
}

void HistoryCursor::add_rolled(const RolledRow& row, int64_t time_ms) {
  const catalog::MetricRow& metric = *metric_of(labels_);
  times_ms_.push_back(time_ms);
  if (row.state != kStateValue) {
    rollups_.push_back(ended_row());
    return;
  }
  const auto value = [&](auto quanta) {
    return static_cast<double>(quanta) * static_cast<double>(metric.resolution.numerator) /
           static_cast<double>(metric.resolution.denominator);
  };
  rollups_.push_back(
      {.min = value(row.min),
       .max = value(row.max),
       .sum = value(row.sum),
       .first = value(row.first),
       .last = value(row.last),
       .count = static_cast<uint64_t>(row.count),
       .increase = metric.kind == catalog::Kind::kCounter ? value(row.increase) : 0});
}

}  // namespace gpusight::store
