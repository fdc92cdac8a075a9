#include "store/backfill.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "store/head_read.h"
#include "store/roller.h"
#include "store/schema.h"

namespace gpusight::store {
namespace {

constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

uint32_t column_of(uint32_t series, RollupPart part) {
  return series * 8 + static_cast<uint32_t>(part);
}

// What a counter grew by from one reading to the next; a fall counts from 0.
int64_t growth(int64_t before, int64_t after) { return after >= before ? after - before : after; }

void append_row(const RolledRow& row, uint32_t id, bool is_counter, std::vector<NewCell>& cells) {
  const auto put = [&](RollupPart part, int64_t number) {
    cells.push_back({.column = column_of(id, part), .time_ms = row.time_ms, .number = number});
  };
  put(RollupPart::kLast, row.last);
  cells.back().state = row.state;
  if (row.state != kStateValue) return;
  put(RollupPart::kMin, row.min);
  put(RollupPart::kMax, row.max);
  put(RollupPart::kFirst, row.first);
  put(RollupPart::kCount, row.count);
  if (is_counter) put(RollupPart::kIncrease, row.increase);
  const bool fits = row.sum >= kBeginning && row.sum <= kEnd;
  put(RollupPart::kSum,
      fits ? static_cast<int64_t>(row.sum) : std::bit_cast<int64_t>(static_cast<double>(row.sum)));
  if (!fits) cells.back().form = ChunkColumn::Form::kDoubles;
}

}  // namespace

Result<std::unique_ptr<Backfill>> Backfill::open(const Options& options) {
  std::unique_ptr<Backfill> backfill(new Backfill(options));
  TRY(backfill->prepare());
  return backfill;
}

Status Backfill::prepare() {
  db_ = TRY(open_to_write(options_.lock->directory() + "/" + options_.file));
  directory_.emplace(TRY(SeriesDirectory::load(*db_)));
  loader_.emplace(TRY(ChunkLoader::create(*db_)));
  recorded_ = TRY(find_series(*db_, {}));
  written_until_ms_ = TRY(db_->number("SELECT value FROM state WHERE name='committed_until_ms'"));
  return {};
}

Status Backfill::begin(const catalog::MetricRow& metric, std::string_view uuid,
                       std::string_view label) {
  Series series{.group = {metric.scope, std::string(uuid), metric.cadence},
                .metric = &metric,
                .label = std::string(label),
                .cells = {}};
  const auto labels = labels_of(series.group, {.metric = metric.id, .label = series.label});
  if (begun_.contains(labels)) {
    return {Code::kInvalidArgument,
            "samples of this series stand further up; all samples of a "
            "series have to stand together"};
  }
  const bool is_new = !recorded_.contains(labels);
  if (is_new && recorded_.size() + new_series_ >= options_.max_series) {
    return {Code::kExhausted, "there are more than " + std::to_string(options_.max_series) +
                                  " series; no history has so many"};
  }
  new_series_ += is_new ? 1 : 0;
  begun_.insert(labels);
  newest_ms_.reset();
  recorded_hours_.clear();
  if (const auto at = recorded_.find(labels); at != recorded_.end()) {
    for (const StoredSeries& stored : at->second) TRY(note_recorded(stored));
  }
  gathered_.push_back(std::move(series));
  return {};
}

// A chunk that is damaged may have held anything: its hours count as recorded.
Status Backfill::note_recorded(const StoredSeries& series) {
  std::vector<int64_t> times_ms;
  ChunkColumn column;
  for (const TierRow& tier : kTiers) {
    const uint32_t id = tier.resolution_ms == 0 ? series.id : series.part(RollupPart::kLast);
    for (const ChunkInfo& chunk : TRY(loader_->find(series.group, tier.tier, kBeginning, kEnd))) {
      Status read = loader_->load(chunk.id);
      if (read.ok() && !loader_->has(id)) continue;
      if (read.ok()) read = loader_->times(times_ms);
      if (read.ok()) read = loader_->column(id, times_ms.size(), column);
      if (read.code() == Code::kCorrupt) {
        for (int64_t end_ms = window_end(chunk.first_ms, kHourMs); end_ms < chunk.last_ms + kHourMs;
             end_ms += kHourMs) {
          recorded_hours_.insert(end_ms);
        }
        continue;
      }
      TRY(read);
      for (size_t row = 0; row < times_ms.size(); ++row) {
        const CellState state = column.states.empty() ? kStateValue : column.states[row];
        if (state == kStateGap || state == kStateHeld) continue;
        recorded_hours_.insert(window_end(times_ms[row], kHourMs));
      }
    }
  }
  loader_->close();
  return {};
}

Status Backfill::add(int64_t time_ms, std::optional<double> number) {
  Series& series = gathered_.back();
  if (newest_ms_ && time_ms <= *newest_ms_) {
    return {Code::kInvalidArgument,
            "this time is not later than the one before it; the samples of "
            "a series have to stand in the order of time"};
  }
  NewCell cell{.time_ms = time_ms, .state = absent_state(model::Reason::kUnknown)};
  if (number) {
    const auto quantum = catalog::quantize(*series.metric, *number);
    if (!quantum) return {Code::kInvalidArgument, "this number is beyond what is recorded"};
    cell.number = *quantum;
    cell.state = kStateValue;
  }
  const int64_t hour_ms = window_end(time_ms, kHourMs);
  // Only between hours, so that none is cut in two.
  const bool is_new_hour = newest_ms_ && hour_ms > window_end(*newest_ms_, kHourMs);
  newest_ms_ = time_ms;
  if (recorded_hours_.contains(hour_ms)) {
    ++left_out_;
    return {};
  }
  if (gathered_samples_ >= options_.batch && (is_new_hour || series.cells.empty())) {
    TRY(flush());
  }
  gathered_.back().cells.push_back(cell);
  ++gathered_samples_;
  return {};
}

Status Backfill::finish() { return flush(); }

// The series being added to goes on with what follows.
Status Backfill::flush() {
  if (gathered_samples_ == 0) return {};
  Transaction transaction = TRY(Transaction::begin(*db_, Transaction::Kind::kWrite));
  std::map<int64_t, std::vector<NewCell>> raw;  // by group
  for (Series& series : gathered_) TRY(write_series(series, raw));
  for (auto& [group, cells] : raw) TRY(put_cells(compactor(), group, Tier::kRaw, cells));
  TRY(TRY(db_->prepare(
              "INSERT OR REPLACE INTO state(name, value) VALUES('committed_until_ms', ?1)"))
          .bind(1, *written_until_ms_)
          .run());
  loader_->close();
  TRY(transaction.commit());
  written_ += std::exchange(gathered_samples_, 0);
  gathered_.erase(gathered_.begin(), gathered_.end() - 1);
  return {};
}

Status Backfill::write_series(Series& series, std::map<int64_t, std::vector<NewCell>>& raw) {
  if (series.cells.empty()) return {};
  const int64_t group = TRY(directory_->group(series.group));
  const uint32_t id = TRY(directory_->series(group, *series.metric, series.label));
  for (const TierRow& tier : kTiers) {
    if (tier.resolution_ms != 0) TRY(roll(group, id, series, tier));
  }
  for (NewCell& cell : series.cells) cell.column = id;
  written_until_ms_ = std::max(written_until_ms_.value_or(kBeginning), series.cells.back().time_ms);
  std::vector<NewCell>& of_group = raw[group];
  of_group.insert(of_group.end(), series.cells.begin(), series.cells.end());
  series.cells = {};
  return {};
}

// Rows up to where the daemon has rolled up: it does not come back to them.
Status Backfill::roll(int64_t group, uint32_t id, const Series& series, const TierRow& tier) {
  const int64_t until_ms = TRY(rolled_until(*db_, group, tier.tier));
  if (series.cells.front().time_ms > until_ms) return {};
  Roller roller(tier.resolution_ms, std::nullopt);
  for (const NewCell& cell : series.cells) roller.add(cell.time_ms, cell.state, cell.number);
  roller.finish();
  std::vector<RolledRow> rows = roller.take();
  std::erase_if(rows, [&](const RolledRow& row) { return row.time_ms > until_ms; });
  const bool is_counter = series.metric->kind == catalog::Kind::kCounter;
  std::vector<NewCell> cells;
  if (is_counter) TRY(link_increases(group, id, tier.tier, rows, cells));
  for (const RolledRow& row : rows) append_row(row, id, is_counter, cells);
  return put_cells(compactor(), group, tier.tier, cells);
}

Result<std::vector<Backfill::Standing>> Backfill::standing(int64_t group, uint32_t id, Tier tier) {
  std::vector<Standing> rows;
  std::vector<int64_t> times_ms;
  ChunkColumn first;
  ChunkColumn last;
  ChunkColumn increase;
  for (const ChunkInfo& chunk : TRY(loader_->find(group, tier, kBeginning, kEnd))) {
    const auto read = [&]() -> Status {
      TRY(loader_->load(chunk.id));
      TRY(loader_->times(times_ms));
      TRY(loader_->column(column_of(id, RollupPart::kFirst), times_ms.size(), first));
      TRY(loader_->column(column_of(id, RollupPart::kLast), times_ms.size(), last));
      return loader_->column(column_of(id, RollupPart::kIncrease), times_ms.size(), increase);
    };
    const Status done = read();
    if (done.code() == Code::kCorrupt) continue;
    TRY(done);
    for (size_t row = 0; row < times_ms.size(); ++row) {
      if (!last.states.empty() && last.states[row] != kStateValue) continue;
      rows.push_back({.time_ms = times_ms[row],
                      .first = first.numbers[row],
                      .last = last.numbers[row],
                      .increase = increase.numbers[row]});
    }
  }
  loader_->close();
  return rows;
}

// A row's increase counts from the row before it, which for the first new row is a recorded one,
// and for the first recorded row behind new ones a new one: of that one the increase alone is
// written anew.
Status Backfill::link_increases(int64_t group, uint32_t id, Tier tier, std::vector<RolledRow>& rows,
                                std::vector<NewCell>& cells) {
  const std::vector<Standing> recorded = TRY(standing(group, id, tier));
  std::optional<int64_t> before;           // the last number of the row before
  std::optional<int64_t> before_recorded;  // and of the recorded one before
  bool is_behind_new = false;
  auto next = recorded.begin();
  const auto pass_recorded = [&](int64_t until_ms) {
    for (; next != recorded.end() && next->time_ms < until_ms; ++next) {
      if (std::exchange(is_behind_new, false)) {
        const int64_t counted = before_recorded ? growth(*before_recorded, next->first) : 0;
        cells.push_back({.column = column_of(id, RollupPart::kIncrease),
                         .time_ms = next->time_ms,
                         .number = next->increase - counted + growth(*before, next->first)});
      }
      before = before_recorded = next->last;
    }
  };
  for (RolledRow& row : rows) {
    if (row.state != kStateValue) continue;
    pass_recorded(row.time_ms);
    if (before) row.increase += growth(*before, row.first);
    before = row.last;
    is_behind_new = true;
  }
  pass_recorded(kEnd);
  return {};
}

}  // namespace gpusight::store
