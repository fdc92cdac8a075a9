// Finds the column of a chunk that another one follows from: the same number once more, or
// something that it grows by, times a factor. Not thread-safe; used by chunk_encoder.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/chunk_codec.h"
#include "store/column_format.h"
#include "store/number_codec.h"

namespace gpusight::store {

class LeanFinder {
 public:
  // Forgets what was offered: a chunk begins or ends.
  void clear() { size_ = 0; }
  // A column that later ones may lean on, with the numbers of the rows that have one. The column
  // must stay where it is until clear(); `values` are the column's own numbers or are copied.
  void offer(uint32_t id, const ChunkColumn& column, std::span<const int64_t> values);
  // What this column had best lean on, if that makes it shorter than it is alone; rest() is then
  // what is left of its numbers.
  std::optional<column_format::Lean> find(const ChunkColumn& column,
                                          std::span<const int64_t> values, NumberEncoder& numbers);
  std::span<const int64_t> rest() const { return rest_; }

 private:
  struct Offer {
    uint32_t id = 0;
    const ChunkColumn* column = nullptr;
    std::span<const int64_t> values;
    std::vector<int64_t> copied;
  };
  struct Fit {
    const Offer* offer = nullptr;
    column_format::Lean lean;
    double unexplained = 1;  // the share of the variance that is left
  };

  Fit fit_level(const Offer& offer, std::span<const int64_t> values) const;
  Fit fit_sum(const Offer& offer, std::span<const int64_t> values) const;
  void take_away(const Fit& fit, std::span<const int64_t> values, std::vector<int64_t>& out) const;

  std::vector<Offer> offers_;  // the first size_ of them, as a ring
  size_t size_ = 0;
  size_t next_ = 0;
  std::vector<int64_t> rest_;
  std::vector<int64_t> other_rest_;
};

}  // namespace gpusight::store
