// Rolling up: the samples of one series, in time order, become rows of a tier. Numbers are quanta,
// so that what is rolled up on packing and what a query rolls up on the fly are the same.
//
// Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "store/chunk_codec.h"

namespace gpusight::store {

struct RolledRow {
  int64_t time_ms = 0;  // samples in (time_ms - resolution, time_ms]
  // kStateValue, or the state of a row that has only absent samples; then the numbers are 0.
  CellState state = kStateValue;
  int64_t min = 0;
  int64_t max = 0;
  int64_t first = 0;
  int64_t last = 0;
  // An hour of large counters adds up to more than 64 bits hold.
  __extension__ __int128 sum = 0;
  int64_t count = 0;
  int64_t increase = 0;  // from the last sample before this row; resets count from 0
};

class Roller {
 public:
  // `before`: the last value of the row before the first sample, for the increase.
  Roller(int64_t resolution_ms, std::optional<int64_t> before)
      : resolution_ms_(resolution_ms), before_(before) {}

  // Times ascend. Gaps and held cells say nothing.
  void add(int64_t time_ms, CellState state, int64_t number);
  // No more samples: the last row is done.
  void finish();
  // Rows done so far; they are then forgotten here.
  std::vector<RolledRow> take() { return std::exchange(rows_, {}); }

 private:
  const int64_t resolution_ms_;
  std::optional<int64_t> before_;
  std::optional<RolledRow> open_;
  std::vector<RolledRow> rows_;
};

}  // namespace gpusight::store
