// How samples lie on disk: a chunk is a stretch of one group of series that share their times (one
// subject's metrics of one cadence, or one rolled-up tier of them). Its times are one byte string
// and each series is another, so that a query for one metric reads no more than the times and that
// series. FORMAT.md says what the bytes mean.
//
// A column holds, for each row, a number or a state that says why there is none. Numbers are whole
// multiples of the catalogue's resolution ("quanta"), or doubles where a metric has none; what goes
// in comes out the same, bit by bit, over the whole range of int64_t and of double (NaNs and the
// sign of zero included). A rolled-up series is one column for each of its parts (kRollupParts).
//
// Some columns follow from another one of the same chunk (energy grows by power; free memory is
// what is not used) and are packed as what is left when that is taken away. Such a column names the
// one it leans on, which never leans on another: reading a series reads at most two.
//
// Threads: ChunkEncoder and ChunkDecoder own scratch memory that grows with the rows of the largest
// chunk they saw (1 MB and 0.2 MB at 7200 rows, 7 MB and 1 MB at the most); use one per thread. The
// rest are plain values. Reading trusts nothing: any bytes give a value, kCorrupt, or kUnsupported
// where a newer version of the format wrote them; memory is bounded by kMaxChunkRows. Nothing here
// keeps a reference to the caller's memory after returning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/value.h"
#include "store/bytes.h"

namespace gpusight::store {

// More rows than any chunk has. Two hours of seconds (7200 rows) pack within 1 % of four, an hour
// within 4 %.
inline constexpr size_t kMaxChunkRows = size_t{1} << 16;

// What a row of a column is. These numbers are part of the format.
using CellState = uint8_t;
inline constexpr CellState kStateValue = 0;
inline constexpr CellState kStateGap = 1;      // nothing is known of this series at this time
inline constexpr CellState kStateHeld = 2;     // what was said before still stands
inline constexpr CellState kStateAbsent = 16;  // and above: absent, kStateAbsent + the reason
inline constexpr CellState absent_state(model::Reason reason) {
  return static_cast<CellState>(kStateAbsent + static_cast<uint8_t>(reason));
}
inline constexpr bool is_absent(CellState state) { return state >= kStateAbsent; }
// Of an absent state; kUnknown for a reason that a newer program wrote.
model::Reason reason_of(CellState state);

// Columns of a rolled-up series, in the order of model::Rollup: use e.g. series * 8 + part as id.
enum class RollupPart : uint8_t { kMin, kMax, kSum, kFirst, kLast, kCount, kIncrease };
inline constexpr size_t kRollupParts = 7;

struct ChunkColumn {
  enum class Form : uint8_t {
    kQuanta,   // numbers are what they say
    kDoubles,  // numbers are the bits of doubles (std::bit_cast)
  };
  Form form = Form::kQuanta;
  // One for each row. Where the state is not kStateValue, packing ignores the number and unpacking
  // repeats the last number before (the first one of the column before that; 0 if there is none).
  std::vector<int64_t> numbers;
  // Empty: every row is a value. Else one for each row: kStateValue, kStateGap, kStateHeld or at
  // least kStateAbsent. Unpacking leaves it empty whenever every row is a value.
  std::vector<CellState> states;

  size_t rows() const { return numbers.size(); }
  bool operator==(const ChunkColumn&) const = default;
};

struct ColumnToPack {
  uint32_t id = 0;  // the caller's: of a series, or of one part of a rolled-up one
  const ChunkColumn* column = nullptr;
};

struct PackedChunk {
  struct Column {
    uint32_t id = 0;
    Bytes bytes;
  };
  Bytes times;
  // In the order in which they came. A column of nothing but gaps is left out.
  std::vector<Column> columns;
};

class ChunkEncoder {
 public:
  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  // `times_ms` ascend, 1 to kMaxChunkRows of them; columns have as many rows and their ids ascend.
  // Replaces what `out` held and reuses its memory.
  void pack(std::span<const int64_t> times_ms, std::span<const ColumnToPack> columns,
            PackedChunk& out);
  // Parts of the above. pack_column alone makes a column that leans on no other.
  void pack_times(std::span<const int64_t> times_ms, Bytes& out);
  void pack_column(const ChunkColumn& column, Bytes& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  // Gives the bytes of another column of the same chunk; valid until it is called again.
  using Fetch = std::function<Result<std::span<const uint8_t>>(uint32_t id)>;

  // Both replace what `out` held and reuse its memory; after a failure it holds anything.
  Status unpack_times(std::span<const uint8_t> bytes, std::vector<int64_t>& times_ms);
  // `rows` as the chunk's times have it. `fetch` is called at most once, for a column that leans on
  // another.
  Status unpack_column(std::span<const uint8_t> bytes, size_t rows, const Fetch& fetch,
                       ChunkColumn& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The column that this one leans on, from its first bytes without unpacking; nullopt for none.
Result<std::optional<uint32_t>> leans_on(std::span<const uint8_t> bytes);

}  // namespace gpusight::store
