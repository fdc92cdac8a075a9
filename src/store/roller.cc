#include "store/roller.h"

#include <algorithm>

#include "store/tiers.h"

namespace gpusight::store {

void Roller::add(int64_t time_ms, CellState state, int64_t number) {
  if (state == kStateGap || state == kStateHeld) return;
  if (open_ && time_ms > open_->time_ms) finish();
  if (!open_) {
    open_ = RolledRow{.time_ms = window_end(time_ms, resolution_ms_), .state = state};
  }
  RolledRow& row = *open_;
  if (state != kStateValue) {
    if (row.count == 0) row.state = state;
    return;
  }
  if (row.count == 0) {
    row.state = kStateValue;
    row.min = row.max = row.first = number;
  }
  row.min = std::min(row.min, number);
  row.max = std::max(row.max, number);
  row.last = number;
  row.sum += number;
  ++row.count;
  if (before_) row.increase += number >= *before_ ? number - *before_ : number;
  before_ = number;
}

void Roller::finish() {
  if (open_) rows_.push_back(*open_);
  open_.reset();
}

}  // namespace gpusight::store
