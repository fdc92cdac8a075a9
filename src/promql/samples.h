// What range functions look at: samples of one series after another, from a range selector or a
// subquery, and the window that slides over them.
//
// Internal to promql; belongs to the query's thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/evaluation.h"
#include "promql/row.h"
#include "promql/steps.h"

namespace gpusight::promql {

class SampleSource {
 public:
  SampleSource(Instants instants, int64_t range_ms) : instants_(instants), range_ms_(range_ms) {}
  virtual ~SampleSource() = default;

  // Goes to the next series and fills labels and drop_name of `row`; false at the end.
  virtual Result<bool> next_series(Row& row) = 0;
  // The next stretch of that series; empty at its end. Valid until the next call.
  virtual Result<model::Stretch> next_stretch() = 0;
  // 0: stretches have values; else rows rolled up over so many milliseconds.
  virtual int64_t resolution_ms() const { return 0; }
  virtual std::string_view tier() const { return "raw"; }

  // The window of step i is (instants.at(i) - range_ms, instants.at(i)].
  const Instants& instants() const { return instants_; }
  int64_t range_ms() const { return range_ms_; }

 private:
  Instants instants_;
  int64_t range_ms_;
};

// The first index from `from` on whose time is after `bound`: near ones are found fast.
inline size_t first_after(std::span<const int64_t> times_ms, size_t from, int64_t bound) {
  size_t low = from;
  size_t stride = 1;
  while (low + stride <= times_ms.size() && times_ms[low + stride - 1] <= bound) {
    low += stride;
    stride *= 2;
  }
  const auto end =
      times_ms.begin() + static_cast<ptrdiff_t>(std::min(low + stride, times_ms.size()));
  const auto begin = times_ms.begin() + static_cast<ptrdiff_t>(low);
  return static_cast<size_t>(std::upper_bound(begin, end, bound) - times_ms.begin());
}

inline bool is_stale(double value) { return model::is_stale_marker(value); }
inline bool is_stale(const model::Rollup& row) { return model::is_stale_marker(row.last); }

// A window that only moves forward over the samples of a series. Samples stay where the cursor has
// them; only where a window reaches over the border of two stretches, or stale markers are among
// its samples, is what it holds copied. T is double or model::Rollup.
template <typename T>
class SlidingWindow {
 public:
  explicit SlidingWindow(Evaluation& evaluation) : charge_(evaluation) {}

  // To be called when `source` has gone to another series.
  void restart() {
    own_times_.clear();
    own_values_.clear();
    stretch_times_ = {};
    stretch_values_ = {};
    is_own_ = ended_ = false;
    low_ = high_ = taken_ = tail_ = 0;
  }

  // Moves to (start, end]; neither lies before that of the last call for this series.
  Status move_to(SampleSource& source, int64_t start_ms, int64_t end_ms) {
    TRY(settle(start_ms, end_ms));
    while (taken_or_high() == stretch_times_.size() && !ended_) {
      TRY(refill(source));
      TRY(settle(start_ms, end_ms));
    }
    return {};
  }

  std::span<const int64_t> times_ms() const {
    return (is_own_ ? std::span<const int64_t>(own_times_) : stretch_times_)
        .subspan(low_, high_ - low_);
  }
  std::span<const T> values() const {
    return (is_own_ ? std::span<const T>(own_values_) : stretch_values_)
        .subspan(low_, high_ - low_);
  }

 private:
  // How far into the stretch it has looked.
  size_t taken_or_high() const { return is_own_ ? taken_ : high_; }

  Status settle(int64_t start_ms, int64_t end_ms) {
    if (is_own_) {
      low_ = first_after(own_times_, low_, start_ms);
      if (low_ < tail_ || has_stale_) {
        TRY(take(end_ms));
        low_ = first_after(own_times_, low_, start_ms);
        high_ = first_after(own_times_, std::max(low_, high_), end_ms);
        return {};
      }
      // What was of the stretches before is over: the rest lies in the stretch itself.
      low_ = high_ = taken_ - (own_times_.size() - low_);
      is_own_ = false;
    }
    low_ = first_after(stretch_times_, low_, start_ms);
    high_ = first_after(stretch_times_, std::max(low_, high_), end_ms);
    return {};
  }

  Status refill(SampleSource& source) {
    keep_tail();
    const model::Stretch stretch = TRY(source.next_stretch());
    stretch_times_ = stretch.times_ms;
    stretch_values_ = values_of(stretch);
    taken_ = 0;
    ended_ = stretch_times_.empty();
    has_stale_ = any_stale(stretch_values_);
    return {};
  }

  // Before the cursor moves on: what the window still needs goes among its own, the rest goes.
  void keep_tail() {
    if (is_own_) {
      own_times_.erase(own_times_.begin(), own_times_.begin() + static_cast<ptrdiff_t>(low_));
      own_values_.erase(own_values_.begin(), own_values_.begin() + static_cast<ptrdiff_t>(low_));
    } else {
      const auto low = static_cast<ptrdiff_t>(low_);
      own_times_.assign(stretch_times_.begin() + low, stretch_times_.end());
      own_values_.assign(stretch_values_.begin() + low, stretch_values_.end());
    }
    tail_ = own_times_.size();
    high_ -= low_;
    low_ = 0;
    is_own_ = true;
  }

  // Of the stretch what lies in the window goes among its own, too.
  Status take(int64_t end_ms) {
    const size_t end = first_after(stretch_times_, taken_, end_ms);
    const size_t capacity = own_times_.capacity() + own_values_.capacity();
    const size_t needed = own_times_.size() + (end - taken_);
    if (needed > own_times_.capacity()) {
      // A window over many stretches would else be copied with each of them.
      own_times_.reserve(std::max(needed, 2 * own_times_.capacity()));
      own_values_.reserve(own_times_.capacity());
    }
    for (; taken_ < end; ++taken_) {
      if (has_stale_ && is_stale(stretch_values_[taken_])) continue;
      own_times_.push_back(stretch_times_[taken_]);
      own_values_.push_back(stretch_values_[taken_]);
    }
    const size_t grown = own_times_.capacity() + own_values_.capacity() - capacity;
    return charge_.add(grown * std::max(sizeof(T), sizeof(int64_t)));
  }

  static std::span<const T> values_of(const model::Stretch& stretch) {
    if constexpr (std::is_same_v<T, double>) {
      return stretch.values;
    } else {
      return stretch.rollups;
    }
  }

  static bool any_stale(std::span<const T> values) {
    bool any = false;
    for (const T& value : values) any |= is_stale(value);
    return any;
  }

  Charge charge_;
  std::span<const int64_t> stretch_times_;  // as the cursor has it
  std::span<const T> stretch_values_;
  std::vector<int64_t> own_times_;  // without stale markers
  std::vector<T> own_values_;
  bool is_own_ = false;     // the window is in own_times_ and own_values_, else in the stretch
  bool has_stale_ = false;  // the stretch
  bool ended_ = false;
  size_t tail_ = 0;   // so many of its own are of stretches before
  size_t taken_ = 0;  // so many of the stretch are among its own, or were stale
  size_t low_ = 0;    // the window is [low_, high_)
  size_t high_ = 0;
};

}  // namespace gpusight::promql
