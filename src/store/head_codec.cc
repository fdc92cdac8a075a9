#include "store/head_codec.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace gpusight::store {
namespace {

constexpr uint64_t kRepeatOnce = 0;
constexpr uint64_t kRepeatRun = 1;
constexpr uint64_t kMarkRun = 2;
constexpr uint64_t kLastCode = kMarkRun;

constexpr uint64_t mark_code(CellKind mark) { return static_cast<uint64_t>(mark) - 1; }
static_assert(mark_code(CellKind::kAbsent) == 0 && mark_code(CellKind::kHeld) == 2);

Status corrupt(const char* what) {
  return {Code::kCorrupt, std::string("packed history block: ") + what};
}

bool add(int64_t& number, int64_t change, int64_t largest) {
  return !__builtin_add_overflow(number, change, &number) && number >= -largest &&
         number <= largest;
}

}  // namespace

void TimeColumn::append(int64_t time_ms) {
  CHECK(rows_ == 0 || time_ms > last_ms_, "times of a block ascend");
  CHECK(time_ms >= -kLargestTimeMs && time_ms <= kLargestTimeMs, "a time of this age");
  if (rows_ == 0) {
    first_ms_ = time_ms;
    write_varint(bytes_, zigzag(time_ms));
  } else {
    const int64_t step_ms = time_ms - last_ms_;
    write_varint(bytes_, zigzag(step_ms - step_ms_));
    step_ms_ = step_ms;
  }
  last_ms_ = time_ms;
  ++rows_;
}

void CellColumn::append(Cell cell, uint64_t times) {
  if (times == 0) return;
  const bool is_value = cell.kind == CellKind::kValue;
  if (is_value || cell.kind == CellKind::kAbsent) samples_ += times;
  if (cell.kind != CellKind::kGap) is_blank_ = false;
  if (is_value && cell.quantum != previous_) {
    CHECK(cell.quantum >= -kLargestQuantum && cell.quantum <= kLargestQuantum,
          "a quantum is what catalog::quantize gives");
    write_run(bytes_, run_, run_mark_, run_length_);
    write_varint(bytes_, kLastCode + zigzag(cell.quantum - previous_));
    previous_ = cell.quantum;
    run_ = Run::kNone;
    run_length_ = 0;
    if (--times == 0) return;
  }
  const Run run = is_value ? Run::kRepeat : Run::kMark;
  if (run_ != run || (run == Run::kMark && run_mark_ != cell.kind)) {
    write_run(bytes_, run_, run_mark_, run_length_);
    run_ = run;
    run_mark_ = cell.kind;
    run_length_ = 0;
  }
  run_length_ += times;
}

void CellColumn::write_to(Bytes& out) const {
  out.insert(out.end(), bytes_.begin(), bytes_.end());
  write_run(out, run_, run_mark_, run_length_);
}

void CellColumn::write_run(Bytes& out, Run run, CellKind mark, uint64_t length) {
  if (length == 0) return;
  if (run == Run::kMark) {
    write_varint(out, kMarkRun);
    write_varint(out, (length - 1) << 2 | mark_code(mark));
  } else if (length == 1) {
    write_varint(out, kRepeatOnce);
  } else {
    write_varint(out, kRepeatRun);
    write_varint(out, length - 2);
  }
}

Bytes pack_block(const TimeColumn& times, std::span<const PackedColumn> columns) {
  CHECK(times.rows() > 0 && times.rows() <= kMaxBlockRows, "a block has rows");
  Bytes cells;
  Bytes directory;
  uint64_t next_id = 0;
  for (const PackedColumn& column : columns) {
    CHECK(column.id >= next_id, "columns of a block ascend by id");
    const size_t before = cells.size();
    column.cells->write_to(cells);
    write_varint(directory, column.id - next_id);
    write_varint(directory, cells.size() - before);
    next_id = uint64_t{column.id} + 1;
  }
  Bytes head;
  write_varint(head, times.rows());
  write_varint(head, columns.size());
  write_varint(head, times.bytes().size());

  Bytes block;
  block.reserve(head.size() + directory.size() + times.bytes().size() + cells.size());
  const std::span<const uint8_t> parts[] = {head, directory, times.bytes(), cells};
  for (const auto part : parts) {
    block.insert(block.end(), part.begin(), part.end());
  }
  return block;
}

Result<BlockView> BlockView::open(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t time_size = 0;
  if (!reader.read(rows) || rows == 0 || rows > kMaxBlockRows) return corrupt("number of rows");
  // A column takes two bytes of the directory at least.
  if (!reader.read(columns) || columns > reader.left() / 2) return corrupt("number of columns");
  if (!reader.read(time_size) || time_size > reader.left()) return corrupt("size of times");

  BlockView view;
  view.rows_ = rows;
  view.columns_.reserve(columns);
  std::vector<size_t> sizes;
  sizes.reserve(columns);
  uint64_t next_id = 0;
  uint64_t total = time_size;
  for (uint64_t i = 0; i < columns; ++i) {
    constexpr uint64_t kLargestId = std::numeric_limits<uint32_t>::max();
    uint64_t step = 0;
    uint64_t size = 0;
    if (!reader.read(step) || step > kLargestId || next_id + step > kLargestId) {
      return corrupt("id of a column");
    }
    if (!reader.read(size) || size > bytes.size()) return corrupt("size of a column");
    view.columns_.push_back({.id = static_cast<uint32_t>(next_id + step)});
    sizes.push_back(size);
    next_id += step + 1;
    total += size;
  }
  if (total != reader.left()) return corrupt("sizes do not add up");
  view.times_ = reader.take(time_size);
  for (size_t i = 0; i < sizes.size(); ++i) view.columns_[i].bytes = reader.take(sizes[i]);
  return view;
}

const BlockView::Column* BlockView::find(uint32_t id) const {
  const auto at = std::ranges::lower_bound(columns_, id, {}, &Column::id);
  return at == columns_.end() || at->id != id ? nullptr : &*at;
}

Status BlockView::read_times(std::vector<int64_t>& out) const {
  out.clear();
  out.reserve(rows_);
  ByteReader reader(times_);
  int64_t time_ms = 0;
  int64_t step_ms = 0;
  for (size_t row = 0; row < rows_; ++row) {
    uint64_t token = 0;
    if (!reader.read(token)) return corrupt("times end early");
    int64_t& changed = row == 0 ? time_ms : step_ms;
    // A step is at most from one end of time to the other.
    if (!add(changed, unzigzag(token), row == 0 ? kLargestTimeMs : 2 * kLargestTimeMs)) {
      return corrupt("a time out of range");
    }
    if (row > 0 && (step_ms <= 0 || !add(time_ms, step_ms, kLargestTimeMs))) {
      return corrupt("times that do not ascend");
    }
    out.push_back(time_ms);
  }
  return reader.at_end() ? Status() : corrupt("times go on");
}

Status BlockView::read_cells(const Column& column, std::vector<Cell>& out) const {
  out.clear();
  out.reserve(rows_);
  ByteReader reader(column.bytes);
  int64_t quantum = 0;
  while (out.size() < rows_) {
    uint64_t token = 0;
    uint64_t length = 1;
    Cell cell{.kind = CellKind::kValue};
    if (!reader.read(token)) return corrupt("a column ends early");
    if (token > kLastCode) {
      if (!add(quantum, unzigzag(token - kLastCode), kLargestQuantum)) {
        return corrupt("a number out of range");
      }
    } else if (token != kRepeatOnce) {
      uint64_t argument = 0;
      if (!reader.read(argument)) return corrupt("a column ends early");
      if (token == kMarkRun && (argument & 3) == 3) return corrupt("an unknown mark");
      if (token == kMarkRun) cell.kind = static_cast<CellKind>(1 + (argument & 3));
      length = token == kMarkRun ? (argument >> 2) : argument;
      if (length >= rows_) return corrupt("a run beyond the rows");
      length += token == kMarkRun ? 1 : 2;
    }
    if (length > rows_ - out.size()) return corrupt("a run beyond the rows");
    if (cell.kind == CellKind::kValue) cell.quantum = quantum;
    out.insert(out.end(), length, cell);
  }
  return reader.at_end() ? Status() : corrupt("a column goes on");
}

}  // namespace gpusight::store
