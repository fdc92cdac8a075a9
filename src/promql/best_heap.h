// The best few of many series by their values, for topk and bottomk.
//
// Which of equal values stay depends on the shape of the heap; this one grows and sinks as that of
// Prometheus's engine does, so that the same series stay. Internal to promql; one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gpusight::promql {

class BestHeap {
 public:
  enum class Order : uint8_t { kGreatestFirst, kLeastFirst };
  struct Entry {
    double value = 0;
    size_t series = 0;
  };
  explicit BestHeap(Order order) : order_(order) {}

  void restart(size_t size) {
    size_ = size;
    entries_.clear();
  }

  // Gives the series that is not among the best for it: this one, one that was until now, or none.
  std::optional<size_t> offer(Entry entry) {
    if (entries_.size() < size_) {
      entries_.push_back(entry);
      rise();
      return std::nullopt;
    }
    if (size_ == 0 || !beats(entry.value, entries_.front().value)) return entry.series;
    const size_t out = std::exchange(entries_.front(), entry).series;
    sink();
    return out;
  }

  // From best to worst; NaN last. Nothing may be offered until the next restart().
  std::span<const Entry> sorted() {
    std::ranges::stable_sort(
        entries_, [&](const Entry& a, const Entry& b) { return beats(a.value, b.value); });
    return entries_;
  }

 private:
  bool beats(double a, double b) const {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return order_ == Order::kGreatestFirst ? a > b : a < b;
  }
  // The worst is on top. NaN is worse than anything, another NaN included.
  bool worse(size_t i, size_t j) const {
    return std::isnan(entries_[i].value) || beats(entries_[j].value, entries_[i].value);
  }

  void rise() {
    size_t at = entries_.size() - 1;
    while (at > 0) {
      const size_t parent = (at - 1) / 2;
      if (!worse(at, parent)) break;
      std::swap(entries_[at], entries_[parent]);
      at = parent;
    }
  }

  void sink() {
    size_t at = 0;
    for (size_t child = 1; child < entries_.size(); child = 2 * at + 1) {
      if (child + 1 < entries_.size() && worse(child + 1, child)) ++child;
      if (!worse(child, at)) break;
      std::swap(entries_[at], entries_[child]);
      at = child;
    }
  }

  Order order_;
  size_t size_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace gpusight::promql
