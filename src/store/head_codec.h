// How the head packs samples: one block is a stretch of one subject's series of one cadence.
//
//   block  := rows:varint columns:varint time_size:varint
//             (id_step:varint size:varint){columns}      ids ascend; a step counts from the id
//             before time cells{columns}                        exactly as long as their sizes say
//   time   := first:zigzag (change of step:zigzag){rows-1}    milliseconds since 1970, ascending
//   cells  := token …                                  covering exactly `rows` rows
//   token  := 0                  the number before, once more
//           | 1 n:varint         the number before, n + 2 times
//           | 2 m:varint         a mark, (m >> 2) + 1 times: m & 3 is 0 absent, 1 gap, 2 held
//           | 2 + z, z > 0       the number before plus the zigzag number z
//
// Varint and zigzag are those of store/bytes.h. Numbers are whole multiples of the catalogue's
// resolution (catalog::quantize), within ±2^53; "the number before" is 0 at the start of a block,
// so that a block reads without its neighbours. A series without a column has gaps in every row.
//
// Plain values, not thread-safe. Reading trusts nothing: any bytes give a value or kCorrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/bytes.h"

namespace gpusight::store {

// More rows than any block has: bounds what a reader of hostile bytes allocates.
inline constexpr size_t kMaxBlockRows = 4096;
// What fits a double exactly, as catalog::quantize has it.
inline constexpr int64_t kLargestQuantum = int64_t{1} << 53;
// Times of more than this many milliseconds either side of 1970 are not times (285 000 years).
inline constexpr int64_t kLargestTimeMs = int64_t{1} << 53;

enum class CellKind : uint8_t {
  kValue,   // a number
  kAbsent,  // looked for and not there: a stale marker for readers
  kGap,     // nothing is known of this series at this time
  kHeld,    // what was said before still stands: the same reading, or still absent
};

struct Cell {
  CellKind kind = CellKind::kGap;
  int64_t quantum = 0;  // of a value, else 0

  bool operator==(const Cell&) const = default;
};

// Times are packed as they come; each is later than the one before.
class TimeColumn {
 public:
  void append(int64_t time_ms);

  size_t rows() const { return rows_; }
  int64_t first_ms() const { return first_ms_; }
  int64_t last_ms() const { return last_ms_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  size_t rows_ = 0;
  int64_t first_ms_ = 0;
  int64_t last_ms_ = 0;
  int64_t step_ms_ = 0;
};

class CellColumn {
 public:
  void append(Cell cell, uint64_t times = 1);
  // All rows so far, what is still being counted included.
  void write_to(Bytes& out) const;

  // Values and absent marks so far.
  uint64_t samples() const { return samples_; }
  // Nothing but gaps so far: the column may be left out of its block.
  bool is_blank() const { return is_blank_; }
  size_t allocated_bytes() const { return bytes_.capacity(); }

 private:
  enum class Run : uint8_t { kNone, kRepeat, kMark };
  static void write_run(Bytes& out, Run run, CellKind mark, uint64_t length);

  Bytes bytes_;
  int64_t previous_ = 0;
  uint64_t samples_ = 0;
  uint64_t run_length_ = 0;
  Run run_ = Run::kNone;
  CellKind run_mark_ = CellKind::kGap;
  bool is_blank_ = true;
};

struct PackedColumn {
  uint32_t id = 0;
  const CellColumn* cells = nullptr;
};
// `columns` by ascending id, each with as many rows as `times`, which has at least one.
Bytes pack_block(const TimeColumn& times, std::span<const PackedColumn> columns);

// A packed block opened for reading. The bytes must outlive it.
class BlockView {
 public:
  struct Column {
    uint32_t id = 0;
    std::span<const uint8_t> bytes;
  };

  static Result<BlockView> open(std::span<const uint8_t> bytes);

  size_t rows() const { return rows_; }
  std::span<const Column> columns() const { return columns_; }
  const Column* find(uint32_t id) const;  // nullptr when the block has no column for it

  // Both replace what `out` held.
  Status read_times(std::vector<int64_t>& out) const;
  Status read_cells(const Column& column, std::vector<Cell>& out) const;

 private:
  size_t rows_ = 0;
  std::span<const uint8_t> times_;
  std::vector<Column> columns_;
};

}  // namespace gpusight::store
