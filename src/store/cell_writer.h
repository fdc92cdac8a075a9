// Putting single cells into chunks that are there already: for samples that come late and in any
// order, as an import brings them. Whatever lies in a window of merged chunks is read, joined with
// the new cells and written as merged chunks again.
//
// Not thread-safe; inside the transaction of the connection that writes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/compaction.h"

namespace gpusight::store {

struct NewCell {
  uint32_t column = 0;  // as chunks number them
  int64_t time_ms = 0;
  CellState state = kStateValue;
  int64_t number = 0;
  ChunkColumn::Form form = ChunkColumn::Form::kQuanta;  // what `number` is
};

// Cells of one group in one tier. A new cell takes the place of one that is there. A chunk that is
// damaged stays as it is. Sorts the cells.
Status put_cells(const Compactor& compactor, int64_t group, Tier tier, std::span<NewCell> cells);

}  // namespace gpusight::store
