#include "collect/nvml/turns.h"

#include <algorithm>

namespace gpusight::collect::nvml {

Turns::Turns(std::vector<Turn> turns) {
  entries_.reserve(turns.size());
  for (Turn& turn : turns) entries_.push_back({.read = std::move(turn)});
  for (Entry& entry : entries_) order_.push_back(&entry);
}

void Turns::take(Conversation& talk, Gathering& found, const Budget& budget) {
  Report& report = talk.report();
  for (Entry* entry : order_) {
    const bool is_first = !entry->taken_at;
    const bool is_due = is_first || report.now() - *entry->taken_at >= budget.pause;
    if (is_first || (is_due && report.calls() + entry->cost <= budget.most_calls)) {
      const size_t before = report.samples().size();
      const uint64_t calls_before = report.calls();
      entry->read(talk, found);
      entry->taken_at = report.now();
      entry->cost = report.calls() - calls_before;
      const std::span<const model::Sample> made = report.samples().subspan(before);
      entry->last.assign(made.begin(), made.end());
    } else {
      for (const model::Sample& sample : entry->last) {
        found.keep(sample.metric, sample.value, sample.label);
      }
    }
  }
  std::ranges::stable_sort(order_, {}, &Entry::taken_at);
}

}  // namespace gpusight::collect::nvml
