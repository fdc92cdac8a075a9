#include "store/history_cursor.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "base/log.h"

namespace gpusight::store {
namespace {

constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();

bool has_todays_resolution(const StoredSeries& series) {
  const catalog::Resolution& today = series.metric->resolution;
  return series.resolution.numerator == today.numerator &&
         series.resolution.denominator == today.denominator;
}

// A quantum as the catalogue has it today.
std::optional<int64_t> quantum_today(const StoredSeries& series, int64_t number) {
  if (has_todays_resolution(series)) return number;
  return catalog::quantize(*series.metric, series.value_of(number));
}

double number_in(const ChunkColumn& column, size_t row, const StoredSeries& series) {
  const int64_t number = column.numbers[row];
  if (column.form == ChunkColumn::Form::kQuanta) return series.value_of(number);
  return std::bit_cast<double>(number) * static_cast<double>(series.resolution.numerator) /
         static_cast<double>(series.resolution.denominator);
}

// The same of rows that all are values, from `first` on, one after another to `put`. Multiplying by
// one and dividing by one change nothing and are left out.
template <typename Put>
void each_number(const ChunkColumn& column, size_t first, size_t count, const StoredSeries& series,
                 Put put) {
  const std::span numbers = std::span(column.numbers).subspan(first, count);
  const auto numerator = static_cast<double>(series.resolution.numerator);
  const auto denominator = static_cast<double>(series.resolution.denominator);
  const auto put_all = [&](auto value_of) {
    for (size_t i = 0; i < numbers.size(); ++i) put(i, value_of(numbers[i]));
  };
  if (column.form == ChunkColumn::Form::kDoubles) {
    put_all([&](int64_t n) { return std::bit_cast<double>(n) * numerator / denominator; });
  } else if (numerator != 1 && denominator != 1) {
    put_all([&](int64_t n) { return static_cast<double>(n) * numerator / denominator; });
  } else if (numerator != 1) {
    put_all([&](int64_t n) { return static_cast<double>(n) * numerator; });
  } else if (denominator != 1) {
    put_all([&](int64_t n) { return static_cast<double>(n) / denominator; });
  } else {
    put_all([&](int64_t n) { return static_cast<double>(n); });
  }
}

CellState state_in(const ChunkColumn& column, size_t row) {
  return column.states.empty() ? kStateValue : column.states[row];
}

// Whether there is something: a number, or that there is none.
bool is_row(CellState state) { return state != kStateGap && state != kStateHeld; }

// "__name__" sorts before every other label; the catalogue has named every series.
const catalog::MetricRow* metric_of(const model::Labels& labels) {
  const catalog::MetricRow* metric = catalog::find_metric(labels.front().second);
  CHECK(metric != nullptr, labels.front().second);
  return metric;
}

double model::Rollup::*member_of(RollupPart part) {
  switch (part) {
    case RollupPart::kMin: return &model::Rollup::min;
    case RollupPart::kMax: return &model::Rollup::max;
    case RollupPart::kSum: return &model::Rollup::sum;
    case RollupPart::kFirst: return &model::Rollup::first;
    case RollupPart::kLast: return &model::Rollup::last;
    case RollupPart::kIncrease: return &model::Rollup::increase;
    case RollupPart::kCount: break;  // no multiple of a resolution
  }
  CHECK(false, "a part that is a double");
  return nullptr;
}

model::Rollup ended_row() { return {.last = model::stale_marker()}; }

}  // namespace

Status Reading::check_stop() {
  if (!stop_.stop_requested()) return {};
  session_->end();
  return {Code::kCancelled, "reading history was cancelled"};
}

Result<std::vector<Reading::Span>> Reading::spans(int64_t group) {
  const std::vector<Span> whole = {{.tier = choice_.tier, .window = window_}};
  if (!choice_.inside) return whole;
  const int64_t width_ms = tier_row(*choice_.inside).resolution_ms;
  const int64_t until_ms = std::min(window_.end_ms, TRY(rolled_until(group, *choice_.inside)));
  const int64_t start_ms = std::max(window_.start_ms, choice_.inside_from_ms);
  if (until_ms <= start_ms) return whole;
  const int64_t from_ms = window_end(start_ms, width_ms);
  const int64_t to_ms = window_end(until_ms + 1, width_ms) - width_ms;
  if (from_ms >= to_ms) return whole;
  return std::vector<Span>{{choice_.tier, {.start_ms = window_.start_ms, .end_ms = from_ms}},
                           {*choice_.inside, {.start_ms = from_ms, .end_ms = to_ms}},
                           {choice_.tier, {.start_ms = to_ms, .end_ms = window_.end_ms}}};
}

Result<std::span<const ChunkInfo>> Reading::find(int64_t group, const Span& span) {
  const std::tuple key(group, span.tier, span.window.start_ms);
  const auto at = found_.find(key);
  if (at != found_.end()) return std::span<const ChunkInfo>(at->second);
  auto chunks =
      TRY(session_->chunks().find(group, span.tier, span.window.start_ms, span.window.end_ms));
  const auto added = found_.emplace(key, std::move(chunks)).first;
  return std::span<const ChunkInfo>(added->second);
}

Result<int64_t> Reading::rolled_until(int64_t group, Tier tier) {
  const auto at = rolled_until_.find({group, tier});
  if (at != rolled_until_.end()) return at->second;
  const int64_t until = TRY(store::rolled_until(session_->db(), group, tier));
  rolled_until_.emplace(std::pair(group, tier), until);
  return until;
}

std::unique_ptr<CursorScratch> Reading::take_scratch() {
  return scratch_ ? std::move(scratch_) : std::make_unique<CursorScratch>();
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
  for (const StoredSeries& series : cursor->stored_) {
    for (const Reading::Span& span : TRY(cursor->reading_->spans(series.group))) {
      TRY(cursor->add_pieces(series, span, cursor->pieces_));
    }
  }
  cursor->sort(cursor->pieces_);
  return cursor;
}

Status HistoryCursor::add_pieces(const StoredSeries& series, const Reading::Span& span,
                                 std::vector<Piece>& pieces) const {
  for (const ChunkInfo& chunk : TRY(reading_->find(series.group, span))) {
    pieces.push_back({.chunk = chunk, .series = &series, .window = span.window});
  }
  return {};
}

void HistoryCursor::sort(std::vector<Piece>& pieces) const {
  if (stored_.size() < 2) return;
  // Of a changed series the older number comes first where both are in one chunk.
  std::ranges::sort(pieces, {}, [](const Piece& piece) {
    return std::tuple(piece.window.start_ms, piece.chunk.last_ms, piece.series->id);
  });
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
    scratch_->times_ms.clear();
    scratch_->rollups.clear();
    if (next_piece_ < pieces_.size()) {
      const Piece& piece = pieces_[next_piece_++];
      const Status read = is_rolled() ? read_rolled(piece) : read_raw(piece);
      if (!read.ok()) {
        stretch_ = {};
        TRY(reading_->excuse(read));
        continue;
      }
    } else if (is_rolled()) {
      if (std::exchange(tail_done_, true)) return {};
      TRY(roll_tail());
    } else {
      if (head_ == nullptr) return {};
      stretch_ = TRY(head_->next());
      return {};
    }
    if (stretch_.times_ms.empty()) stretch_.times_ms = scratch_->times_ms;
    if (stretch_.times_ms.empty()) continue;
    given_ms_ = stretch_.times_ms.back();
    stretch_.values = scratch_->values;
    stretch_.rollups = scratch_->rollups;
  }
  return {};
}

std::pair<size_t, size_t> HistoryCursor::wanted_rows(const Window& window) const {
  const int64_t after = std::max(window.start_ms, given_ms_.value_or(kBeginning));
  const auto from = std::ranges::upper_bound(scratch_->chunk_times_ms, after);
  const auto to = std::ranges::upper_bound(scratch_->chunk_times_ms, window.end_ms);
  const auto first = static_cast<size_t>(from - scratch_->chunk_times_ms.begin());
  return {first, std::max(first, static_cast<size_t>(to - scratch_->chunk_times_ms.begin()))};
}

Status HistoryCursor::read_raw(const Piece& piece) {
  ChunkLoader& chunks = reading_->chunks();
  TRY(chunks.load(piece.chunk.id));
  if (!chunks.has(piece.series->id)) return {};
  TRY(chunks.times(scratch_->chunk_times_ms));
  TRY(chunks.column(piece.series->id, scratch_->chunk_times_ms.size(), scratch_->column));
  const auto [first, end] = wanted_rows(piece.window);
  if (scratch_->column.states.empty()) {
    // Nearly always: every row is a value, and the times are those of the chunk.
    stretch_.times_ms = std::span(scratch_->chunk_times_ms).subspan(first, end - first);
    scratch_->values.resize(end - first);
    each_number(scratch_->column, first, end - first, *piece.series,
                [&](size_t i, double value) { scratch_->values[i] = value; });
    return {};
  }
  scratch_->values.clear();
  scratch_->times_ms.reserve(end - first);
  scratch_->values.reserve(end - first);
  for (size_t row = first; row < end; ++row) {
    const CellState state = scratch_->column.states[row];
    if (state == kStateGap || state == kStateHeld) continue;
    scratch_->times_ms.push_back(scratch_->chunk_times_ms[row]);
    scratch_->values.push_back(state == kStateValue
                                   ? number_in(scratch_->column, row, *piece.series)
                                   : model::stale_marker());
  }
  return {};
}

Status HistoryCursor::read_rolled(const Piece& piece) {
  ChunkLoader& chunks = reading_->chunks();
  const StoredSeries& series = *piece.series;
  const RollupPart lead = reading_->parts().front();
  TRY(chunks.load(piece.chunk.id));
  if (!chunks.has(series.part(lead))) return {};
  TRY(chunks.times(scratch_->chunk_times_ms));
  TRY(chunks.column(series.part(lead), scratch_->chunk_times_ms.size(), scratch_->column));
  const auto [first, end] = wanted_rows(piece.window);
  if (scratch_->column.states.empty()) {
    stretch_.times_ms = std::span(scratch_->chunk_times_ms).subspan(first, end - first);
    scratch_->rollups.resize(end - first);
  }
  for (size_t row = first; row < end && !scratch_->column.states.empty(); ++row) {
    const CellState state = scratch_->column.states[row];
    if (!is_row(state)) continue;
    scratch_->times_ms.push_back(scratch_->chunk_times_ms[row]);
    scratch_->rollups.push_back(state == kStateValue ? model::Rollup{} : ended_row());
  }
  if (lead == RollupPart::kLast) remember_last(series, first, end);
  scratch_->states = scratch_->column.states;
  fill_part(series, lead, first, end);
  for (const RollupPart part : reading_->parts().subspan(1)) {
    TRY(chunks.column(series.part(part), scratch_->chunk_times_ms.size(), scratch_->column));
    fill_part(series, part, first, end);
  }
  return {};
}

void HistoryCursor::remember_last(const StoredSeries& series, size_t first, size_t end) {
  for (size_t row = end; row-- > first;) {
    if (state_in(scratch_->column, row) != kStateValue) continue;
    last_number_ = quantum_today(series, scratch_->column.numbers[row]);
    return;
  }
}

void HistoryCursor::fill_part(const StoredSeries& series, RollupPart part, size_t first,
                              size_t end) {
  if (scratch_->states.empty() && part != RollupPart::kCount) {
    each_number(scratch_->column, first, end - first, series,
                [rollups = scratch_->rollups.data(), member = member_of(part)](
                    size_t i, double value) { rollups[i].*member = value; });
    return;
  }
  auto rollup = scratch_->rollups.begin();
  for (size_t row = first; row < end; ++row) {
    const CellState state = scratch_->states.empty() ? kStateValue : scratch_->states[row];
    if (!is_row(state)) continue;
    if (state != kStateValue) {
      // It ended: there are no numbers.
    } else if (part == RollupPart::kCount) {
      rollup->count = static_cast<uint64_t>(std::max<int64_t>(scratch_->column.numbers[row], 0));
    } else {
      (*rollup).*member_of(part) = number_in(scratch_->column, row, series);
    }
    ++rollup;
  }
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
  std::vector<Piece> pieces;
  for (const StoredSeries& series : stored_) {
    const int64_t rolled_ms = TRY(reading_->rolled_until(series.group, reading_->tier().tier));
    const Window tail{.start_ms = std::max(first_row_ms, rolled_ms),
                      .end_ms = reading_->window().end_ms};
    TRY(add_pieces(series, {.tier = Tier::kRaw, .window = tail}, pieces));
  }
  sort(pieces);
  for (const Piece& piece : pieces) {
    TRY(reading_->check_stop());
    const int64_t from_ms = std::max(piece.window.start_ms, newest_ms);
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
  TRY(chunks.times(scratch_->chunk_times_ms));
  TRY(chunks.column(piece.series->id, scratch_->chunk_times_ms.size(), scratch_->column));
  const auto [first, end] =
      wanted_rows({.start_ms = start_ms, .end_ms = reading_->window().end_ms});
  const bool is_today = has_todays_resolution(*piece.series);
  for (size_t row = first; row < end; ++row) {
    const CellState state = state_in(scratch_->column, row);
    if (!is_row(state)) continue;
    std::optional<int64_t> number = scratch_->column.numbers[row];
    if (!is_today) number = quantum_today(*piece.series, *number);
    if (!number) continue;
    roller.add(scratch_->chunk_times_ms[row], state, *number);
    newest_ms = scratch_->chunk_times_ms[row];
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
  scratch_->times_ms.push_back(time_ms);
  if (row.state != kStateValue) {
    scratch_->rollups.push_back(ended_row());
    return;
  }
  const auto value = [&](auto quanta) {
    return static_cast<double>(quanta) * static_cast<double>(metric.resolution.numerator) /
           static_cast<double>(metric.resolution.denominator);
  };
  scratch_->rollups.push_back(
      {.min = value(row.min),
       .max = value(row.max),
       .sum = value(row.sum),
       .first = value(row.first),
       .last = value(row.last),
       .count = static_cast<uint64_t>(row.count),
       .increase = metric.kind == catalog::Kind::kCounter ? value(row.increase) : 0});
}

}  // namespace gpusight::store
