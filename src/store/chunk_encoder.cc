#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "store/chunk_codec.h"
#include "store/column_format.h"
#include "store/lean_finder.h"
#include "store/number_codec.h"

namespace gpusight::store {
namespace {

using column_format::Lean;

bool is_blank(const ChunkColumn& column) {
  return !column.states.empty() &&
         std::ranges::all_of(column.states, [](CellState s) { return s == kStateGap; });
}

// The places behind the decimal point of all of these doubles, where they have few.
std::optional<size_t> decimal_places(std::span<const int64_t> bits) {
  constexpr double kLargest =
      9007199254740992.0;  // 2^53: whole numbers beyond it are not all there
  size_t places = 0;
  for (const int64_t one : bits) {
    const double number = std::bit_cast<double>(one);
    for (;; ++places) {
      if (places == std::size(column_format::kPowersOfTen)) return std::nullopt;
      const double whole = std::round(number * column_format::kPowersOfTen[places]);
      if (!(std::fabs(whole) <= kLargest)) return std::nullopt;
      if (column_format::from_decimal(static_cast<int64_t>(whole), places) == one) break;
    }
  }
  return places;
}

// A number that is right with few places may be wrong with more, so all are seen again.
bool to_decimals(std::span<const int64_t> bits, size_t places, std::vector<int64_t>& out) {
  out.clear();
  for (const int64_t one : bits) {
    const double whole =
        std::round(std::bit_cast<double>(one) * column_format::kPowersOfTen[places]);
    if (!(std::fabs(whole) <= 9007199254740992.0)) return false;
    out.push_back(static_cast<int64_t>(whole));
    if (column_format::from_decimal(out.back(), places) != one) return false;
  }
  return true;
}

}  // namespace

class ChunkEncoder::Impl {
 public:
  void pack(std::span<const int64_t> times_ms, std::span<const ColumnToPack> columns,
            PackedChunk& out);
  void pack_times(std::span<const int64_t> times_ms, Bytes& out);
  void pack_column(const ChunkColumn& column, Bytes& out);

 private:
  std::span<const int64_t> values_of(const ChunkColumn& column);
  void begin(uint8_t flags, size_t rows, Bytes& out);
  void finish(Bytes& out);
  void pack_alone(const ChunkColumn& column, std::span<const int64_t> values, Bytes& out);
  void pack_leaning(const ChunkColumn& column, const Lean& lean, Bytes& out);
  void write_states(std::span<const CellState> states, Bytes& out);

  NumberEncoder numbers_;
  LeanFinder finder_;
  std::vector<int64_t> values_;
  std::vector<int64_t> converted_;
};

ChunkEncoder::ChunkEncoder() : impl_(std::make_unique<Impl>()) {}
ChunkEncoder::~ChunkEncoder() = default;
void ChunkEncoder::pack(std::span<const int64_t> times_ms, std::span<const ColumnToPack> columns,
                        PackedChunk& out) {
  impl_->pack(times_ms, columns, out);
}
void ChunkEncoder::pack_times(std::span<const int64_t> times_ms, Bytes& out) {
  impl_->pack_times(times_ms, out);
}
void ChunkEncoder::pack_column(const ChunkColumn& column, Bytes& out) {
  impl_->pack_column(column, out);
}

void ChunkEncoder::Impl::pack(std::span<const int64_t> times_ms,
                              std::span<const ColumnToPack> columns, PackedChunk& out) {
  pack_times(times_ms, out.times);
  size_t used = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& [id, column] = columns[i];
    CHECK(column->rows() == times_ms.size(), "a column has as many rows as there are times");
    CHECK(i == 0 || columns[i - 1].id < id, "ids of columns ascend");
    if (is_blank(*column)) continue;
    if (out.columns.size() == used) out.columns.emplace_back();
    PackedChunk::Column& packed = out.columns[used++];
    packed.id = id;
    const auto values = values_of(*column);
    if (const auto lean = finder_.find(*column, values, numbers_)) {
      pack_leaning(*column, *lean, packed.bytes);
    } else {
      pack_alone(*column, values, packed.bytes);
      finder_.offer(id, *column, values);
    }
  }
  finder_.clear();
  out.columns.resize(used);
}

void ChunkEncoder::Impl::pack_times(std::span<const int64_t> times_ms, Bytes& out) {
  CHECK(!times_ms.empty() && times_ms.size() <= kMaxChunkRows, "a chunk has rows");
  CHECK(std::ranges::adjacent_find(times_ms, std::greater_equal()) == times_ms.end(),
        "times of a chunk ascend");
  begin(0, times_ms.size(), out);
  numbers_.write(times_ms, out);
  finish(out);
}

void ChunkEncoder::Impl::pack_column(const ChunkColumn& column, Bytes& out) {
  pack_alone(column, values_of(column), out);
}

// The numbers of the rows that have one.
std::span<const int64_t> ChunkEncoder::Impl::values_of(const ChunkColumn& column) {
  CHECK(column.rows() > 0 && column.rows() <= kMaxChunkRows, "a column has rows");
  if (column.states.empty()) return column.numbers;
  CHECK(column.states.size() == column.rows(), "a column has a state for each row or none");
  values_.clear();
  for (size_t i = 0; i < column.rows(); ++i) {
    if (column.states[i] == kStateValue) values_.push_back(column.numbers[i]);
  }
  return values_;
}

void ChunkEncoder::Impl::begin(uint8_t flags, size_t rows, Bytes& out) {
  out.clear();
  out.push_back(column_format::kVersion);
  out.push_back(flags);
  write_varint(out, rows);
}

void ChunkEncoder::Impl::finish(Bytes& out) {
  const uint32_t sum = column_format::checksum(out);
  for (size_t k = 0; k < column_format::kChecksumBytes; ++k) {
    out.push_back(static_cast<uint8_t>(sum >> (8 * k)));
  }
}

void ChunkEncoder::Impl::write_states(std::span<const CellState> states, Bytes& out) {
  converted_.clear();
  for (const CellState state : states) {
    CHECK(state <= kStateHeld || is_absent(state), "a state that there is");
    converted_.push_back(state);
  }
  numbers_.write(converted_, out);
}

void ChunkEncoder::Impl::pack_alone(const ChunkColumn& column, std::span<const int64_t> values,
                                    Bytes& out) {
  uint8_t flags = 0;
  const bool is_doubles = column.form == ChunkColumn::Form::kDoubles;
  const auto places = is_doubles ? decimal_places(values) : std::nullopt;
  std::vector<int64_t> whole;
  const bool is_decimals = places && to_decimals(values, *places, whole);
  if (is_doubles) flags |= column_format::kDoubles;
  if (is_decimals) flags |= column_format::kDecimals;
  if (values.size() < column.rows()) flags |= column_format::kHasStates;
  begin(flags, column.rows(), out);
  if (values.size() < column.rows()) write_states(column.states, out);
  if (is_decimals) {
    out.push_back(static_cast<uint8_t>(*places));
    numbers_.write(whole, out);
  } else if (is_doubles) {
    for (const int64_t bits : values) whole.push_back(column_format::ordered(bits));
    numbers_.write(whole, out);
  } else {
    numbers_.write(values, out);
  }
  finish(out);
}

void ChunkEncoder::Impl::pack_leaning(const ChunkColumn& column, const Lean& lean, Bytes& out) {
  begin(column_format::kLeans | (lean.is_sum ? column_format::kLeansOnSum : 0), column.rows(), out);
  write_varint(out, lean.id);
  write_varint(out, zigzag(lean.factor));
  numbers_.write(finder_.rest(), out);
  finish(out);
}

}  // namespace gpusight::store
