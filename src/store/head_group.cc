#include "store/head_group.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace gpusight::store {
namespace {

// A full block: at one row a second two minutes, at ten a second twelve seconds. More rows pack no
// better (a block's own cost is a tenth of a byte a sample by then) and stay longer than wanted.
constexpr size_t kBlockRows = 120;
// A block is also sealed at this part of the span, so that slow ticks do not keep rows for hours.
constexpr int kBlocksPerSpan = 5;

// The rows of `block` before `wall_ms`, of which there is at least one.
BlockPtr cut_before(const Block& block, int64_t wall_ms) {
  const Result<BlockView> opened = BlockView::open(block.bytes);
  CHECK(opened.ok(), opened.status().message());
  std::vector<int64_t> times_ms;
  const Status read = opened->read_times(times_ms);
  CHECK(read.ok(), read.message());
  const auto rows =
      static_cast<size_t>(std::ranges::lower_bound(times_ms, wall_ms) - times_ms.begin());

  TimeColumn times;
  for (size_t row = 0; row < rows; ++row) times.append(times_ms[row]);
  std::vector<CellColumn> columns(opened->columns().size());
  std::vector<PackedColumn> packed;
  std::vector<Cell> cells;
  Block cut{.first_ms = times.first_ms(), .last_ms = times.last_ms()};
  for (size_t i = 0; i < columns.size(); ++i) {
    const BlockView::Column& column = opened->columns()[i];
    const Status cells_read = opened->read_cells(column, cells);
    CHECK(cells_read.ok(), cells_read.message());
    for (size_t row = 0; row < rows; ++row) columns[i].append(cells[row]);
    if (columns[i].is_blank()) continue;
    packed.push_back({.id = column.id, .cells = &columns[i]});
    cut.samples += columns[i].samples();
  }
  cut.bytes = pack_block(times, packed);
  cut.first_row = block.first_row;
  cut.newest = block.newest;
  return std::make_shared<const Block>(std::move(cut));
}

}  // namespace

Group::Group(GroupKey key, Duration span)
    : key_(std::make_shared<const GroupKey>(std::move(key))),
      span_(span),
      published_(std::make_shared<const SeriesList>()) {}

uint64_t Group::begin(const Tick& tick) {
  tick_ = tick;
  is_committed_ = false;
  next_place_ = 0;
  const uint64_t forgotten = forget_from(tick.wall_ms);
  drop_old(tick.mono);
  for (Series& series : series_) series.next = {.kind = CellKind::kAbsent};
  return forgotten;
}

bool Group::stage_value(catalog::MetricId metric, std::string_view label, int64_t quantum,
                        MonoTime read_at, bool may_add) {
  const size_t place = place_of(metric, label);
  if (!stands_at(place, metric, label)) {
    if (!may_add) return false;
    add(place, metric, label);
  }
  series_[place].next = {.kind = CellKind::kValue, .quantum = quantum};
  series_[place].next_read_at = read_at;
  return true;
}

void Group::stage_gap(catalog::MetricId metric, std::string_view label) {
  const size_t place = place_of(metric, label);
  if (stands_at(place, metric, label)) series_[place].next = {.kind = CellKind::kGap};
}

void Group::commit() {
  is_committed_ = true;
  has_ended_ = false;
  resolve_staged();
  if (is_row_due()) write_row();
  publish_series();
}

void Group::commit_end() {
  is_committed_ = true;
  resolve_staged();
  if (!std::exchange(has_ended_, true) && is_row_due()) write_row();
  publish_series();
}

// Staging comes in the order of the series, so that a series mostly stands behind the last one.
size_t Group::place_of(catalog::MetricId metric, std::string_view label) {
  if (stands_at(next_place_, metric, label)) return next_place_++;
  const auto key = [](const Series& s) {
    return std::pair(s.info.metric, std::string_view(s.info.label));
  };
  const auto at = std::ranges::lower_bound(series_, std::pair(metric, label), {}, key);
  const auto place = static_cast<size_t>(at - series_.begin());
  next_place_ = place + 1;
  return place;
}

bool Group::stands_at(size_t place, catalog::MetricId metric, std::string_view label) const {
  return place < series_.size() && series_[place].info.metric == metric &&
         series_[place].info.label == label;
}

void Group::add(size_t place, catalog::MetricId metric, std::string_view label) {
  Series series{.info = {.id = next_id_++, .metric = metric, .label = std::string(label)}};
  series.cells.append({.kind = CellKind::kGap}, times_.rows());
  series_.insert(series_.begin() + static_cast<std::ptrdiff_t>(place), std::move(series));
  list_changed_ = true;
}

// Said before and nothing new: a reading that was written already, or still absent. It is held.
void Group::resolve_staged() {
  if (key_->cadence == catalog::Cadence::kFast) return;
  for (Series& series : series_) {
    const bool is_known = series.next.kind == CellKind::kValue && series.last == CellKind::kValue &&
                          series.next_read_at == series.read_at;
    const bool is_still_absent =
        series.next.kind == CellKind::kAbsent && series.last == CellKind::kAbsent;
    if (is_known || is_still_absent) series.next = {.kind = CellKind::kHeld};
  }
}

// Every tick is a row of a fast group; a slow one has a row when there is something new to say.
bool Group::is_row_due() const {
  if (key_->cadence == catalog::Cadence::kFast) return !series_.empty();
  return std::ranges::any_of(series_, [](const Series& series) {
    return series.next.kind == CellKind::kValue || series.next.kind == CellKind::kAbsent;
  });
}

void Group::write_row() {
  if (times_.rows() == 0) {
    open_first_row_ = next_row_;
    open_oldest_ = tick_.mono;
  }
  times_.append(tick_.wall_ms);
  for (Series& series : series_) {
    series.cells.append(series.next);
    if (series.next.kind == CellKind::kAbsent) series.last = CellKind::kAbsent;
    if (series.next.kind != CellKind::kValue) continue;
    series.last = CellKind::kValue;
    series.read_at = series.next_read_at;
    series.last_value_row = next_row_;
  }
  ++next_row_;
  open_newest_ = tick_.mono;
  if (times_.rows() >= kBlockRows) seal();
}

BlockPtr Group::pack_open() const {
  std::vector<PackedColumn> columns;
  columns.reserve(series_.size());
  Block block{.first_ms = times_.first_ms(), .last_ms = times_.last_ms()};
  for (const Series& series : series_) {
    if (series.cells.is_blank()) continue;
    columns.push_back({.id = series.info.id, .cells = &series.cells});
    block.samples += series.cells.samples();
  }
  std::ranges::sort(columns, {}, &PackedColumn::id);
  block.bytes = pack_block(times_, columns);
  block.first_row = open_first_row_;
  block.newest = open_newest_;
  return std::make_shared<const Block>(std::move(block));
}

void Group::seal() {
  if (times_.rows() == 0) return;
  blocks_.push_back(pack_open());
  times_ = TimeColumn();
  for (Series& series : series_) series.cells = CellColumn();
}

void Group::drop_old(MonoTime now) {
  if (times_.rows() > 0 && now - open_oldest_ >= span_ / kBlocksPerSpan) seal();
  bool dropped = false;
  while (!blocks_.empty() && now - blocks_.front()->newest > span_) {
    blocks_.pop_front();
    dropped = true;
  }
  if (dropped) drop_series_without_values();
}

void Group::drop_series_without_values() {
  const uint64_t open_row = times_.rows() > 0 ? open_first_row_ : next_row_;
  const uint64_t oldest_row = blocks_.empty() ? open_row : blocks_.front()->first_row;
  const size_t gone = std::erase_if(
      series_, [&](const Series& series) { return series.last_value_row < oldest_row; });
  list_changed_ = list_changed_ || gone > 0;
}

uint64_t Group::forget_from(int64_t wall_ms) {
  if (times_.rows() > 0 && times_.last_ms() >= wall_ms) seal();
  if (blocks_.empty() || times_.rows() > 0 || blocks_.back()->last_ms < wall_ms) return 0;
  uint64_t forgotten = 0;
  while (!blocks_.empty() && blocks_.back()->first_ms >= wall_ms) {
    forgotten += blocks_.back()->samples;
    blocks_.pop_back();
  }
  if (!blocks_.empty() && blocks_.back()->last_ms >= wall_ms) {
    BlockPtr cut = cut_before(*blocks_.back(), wall_ms);
    forgotten += blocks_.back()->samples - cut->samples;
    blocks_.back() = std::move(cut);
  }
  // What the last rows said is gone with them: everything is news again.
  for (Series& series : series_) series.last = CellKind::kGap;
  has_ended_ = false;
  drop_series_without_values();
  return forgotten;
}

void Group::publish_series() {
  if (!std::exchange(list_changed_, false)) return;
  SeriesList list;
  list.reserve(series_.size());
  for (const Series& series : series_) list.push_back(series.info);
  published_ = std::make_shared<const SeriesList>(std::move(list));
}

GroupView Group::view() const {
  GroupView view{.key = key_, .series = published_};
  view.blocks.reserve(blocks_.size() + 1);
  view.blocks.assign(blocks_.begin(), blocks_.end());
  if (times_.rows() > 0) view.blocks.push_back(pack_open());
  return view;
}

uint64_t Group::samples() const {
  uint64_t samples = 0;
  for (const BlockPtr& block : blocks_) samples += block->samples;
  for (const Series& series : series_) samples += series.cells.samples();
  return samples;
}

uint64_t Group::packed_bytes() const {
  uint64_t bytes = times_.bytes().capacity();
  for (const BlockPtr& block : blocks_) bytes += sizeof(Block) + block->bytes.capacity();
  for (const Series& series : series_) bytes += series.cells.allocated_bytes();
  return bytes;
}

}  // namespace gpusight::store
