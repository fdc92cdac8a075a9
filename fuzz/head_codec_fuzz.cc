// Packed blocks: any bytes open or are refused, and what opens reads within its bounds.
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "store/head_codec.h"

using namespace gpusight::store;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto block = BlockView::open({data, size});
  if (!block.ok()) return 0;
  CHECK(block->rows() <= kMaxBlockRows, "a block of more rows than there can be");
  std::vector<int64_t> times;
  if (block->read_times(times).ok()) {
    CHECK(times.size() == block->rows(), "times and rows differ");
    for (size_t i = 1; i < times.size(); ++i) CHECK(times[i - 1] < times[i], "times go back");
  }
  std::vector<Cell> cells;
  for (const BlockView::Column& column : block->columns()) {
    if (block->read_cells(column, cells).ok()) {
      CHECK(cells.size() == block->rows(), "cells and rows differ");
    }
  }
  return 0;
}
