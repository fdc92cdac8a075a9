#include "collect/nvml/turns.h"

#include <algorithm>

namespace gpusight::collect::nvml {

Turns::Turns(std::vector<Turn> turns, const catalog::MetricSet& disabled) {
  entries_.reserve(turns.size());
  for (Turn& turn : turns) {
    if (!disabled.has_all(turn.metrics)) entries_.push_back({.read = std::move(turn.read)});
  }
  for (Entry& entry : entries_) order_.push_back(&entry);
}

void Turns::take(Entry& entry, Conversation& talk, Gathering& found) {
  Report& report = talk.report();
  PollFate& fate = talk.fate();
  const size_t before = report.samples().size();
  const uint64_t calls_before = report.calls();
  // What was refused is asked again where that takes no call from what is known to be there.
  fate.again = talk.has_room_for(entry.cost + PollFate::kMostAgain) ? PollFate::kMostAgain : 0;
  fate.was_cut = false;
  entry.read(talk, found);
  if (fate.was_cut) {
    entry.cost = 1;  // more, but not known
    for (const model::Sample& sample : entry.last) {
      found.keep(sample.metric, sample.value, sample.label);
    }
  } else {
    entry.cost = report.calls() - calls_before;
    entry.taken_at = report.now();
  }
  const std::span<const model::Sample> made = report.samples().subspan(before);
  entry.last.assign(made.begin(), made.end());
}

model::Reason Turns::unasked() const {
  const bool all =
      std::ranges::all_of(entries_, [](const Entry& e) { return e.taken_at.has_value(); });
  return all ? model::Reason::kNotSupported : model::Reason::kWarmingUp;
}

void Turns::take(Conversation& talk, Gathering& found, Duration pause) {
  const MonoTime now = talk.report().now();
  for (Entry* entry : order_) {
    const bool is_due = !entry->taken_at || now - *entry->taken_at >= pause;
    if (is_due && talk.has_room_for(entry->cost)) {
      take(*entry, talk, found);
      continue;
    }
    for (const model::Sample& sample : entry->last) {
      found.keep(sample.metric, sample.value, sample.label);
    }
  }
  std::ranges::stable_sort(order_, {}, &Entry::taken_at);
}

}  // namespace gpusight::collect::nvml
