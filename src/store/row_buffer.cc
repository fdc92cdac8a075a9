#include "store/row_buffer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gpusight::store {
namespace {

using catalog::Cadence;
using catalog::MetricId;
using catalog::Scope;

// A series without a value for so long is let go: sensors and network interfaces come and go, and
// every one of them would be written as absent for ever.
constexpr Duration kLetGoAfter = std::chrono::hours(1);

bool is_sample(CellState state) { return state == kStateValue || is_absent(state); }

uint64_t samples_in(const ChunkColumn& column, size_t from) {
  return static_cast<uint64_t>(std::ranges::count_if(
      column.states.begin() + static_cast<ptrdiff_t>(from), column.states.end(), is_sample));
}

auto place_of(std::vector<RowGroup::Series>& series, MetricId metric, std::string_view label) {
  return std::ranges::lower_bound(
      series, std::pair(metric, label), {},
      [](const RowGroup::Series& s) { return std::pair(s.metric, std::string_view(s.label)); });
}

}  // namespace

void RowGroup::begin() {
  is_committed_ = false;
  for (Series& series : series_) series.next = absent_state(model::Reason::kUnknown);
}

RowGroup::Series* RowGroup::find(MetricId metric, std::string_view label) {
  const auto at = place_of(series_, metric, label);
  return at != series_.end() && at->metric == metric && at->label == label ? &*at : nullptr;
}

bool RowGroup::stage_value(MetricId metric, std::string_view label, int64_t quantum,
                           MonoTime read_at, bool may_add) {
  Series* series = find(metric, label);
  if (series == nullptr) {
    if (!may_add) return false;
    Series added{.metric = metric, .label = std::string(label)};
    added.column.numbers.assign(times_ms_.size(), 0);
    added.column.states.assign(times_ms_.size(), kStateGap);
    series = &*series_.insert(place_of(series_, metric, label), std::move(added));
  }
  series->next = kStateValue;
  series->next_number = quantum;
  series->next_read_at = read_at;
  return true;
}

void RowGroup::stage_gap(MetricId metric, std::string_view label) {
  if (Series* series = find(metric, label)) series->next = kStateGap;
}

void RowGroup::stage_absent(MetricId metric, std::string_view label, model::Reason reason) {
  if (Series* series = find(metric, label)) series->next = absent_state(reason);
  if (!label.empty()) return;
  for (auto at = place_of(series_, metric, {}); at != series_.end() && at->metric == metric; ++at) {
    if (is_absent(at->next)) at->next = absent_state(reason);
  }
}

void RowGroup::commit(int64_t wall_ms, MonoTime mono) {
  is_committed_ = true;
  has_ended_ = false;
  resolve_staged();
  if (is_row_due()) write_row(wall_ms, mono);
}

void RowGroup::commit_end(int64_t wall_ms, MonoTime mono) {
  is_committed_ = true;
  resolve_staged();
  if (!std::exchange(has_ended_, true) && is_row_due()) write_row(wall_ms, mono);
}

// Said before and nothing new: a reading that was written already, or still absent for the same
// reason. It is held.
void RowGroup::resolve_staged() {
  if (cadence_ == Cadence::kFast) return;
  for (Series& series : series_) {
    const bool is_known = series.next == kStateValue && series.last == kStateValue &&
                          series.next_read_at == series.read_at;
    const bool is_still_absent = is_absent(series.next) && series.next == series.last;
    if (is_known || is_still_absent) series.next = kStateHeld;
  }
}

bool RowGroup::is_row_due() const {
  if (cadence_ == Cadence::kFast) return !series_.empty();
  return std::ranges::any_of(series_, [](const Series& series) { return is_sample(series.next); });
}

void RowGroup::write_row(int64_t wall_ms, MonoTime mono) {
  times_ms_.push_back(wall_ms);
  for (Series& series : series_) {
    series.column.states.push_back(series.next);
    series.column.numbers.push_back(series.next_number);
    if (is_sample(series.next)) series.last = series.next;
    if (series.next != kStateValue) continue;
    series.read_at = series.next_read_at;
    series.last_value = mono;
  }
}

uint64_t RowGroup::forget_from(int64_t wall_ms) {
  const auto keep =
      static_cast<size_t>(std::ranges::lower_bound(times_ms_, wall_ms) - times_ms_.begin());
  uint64_t forgotten = 0;
  times_ms_.resize(keep);
  for (Series& series : series_) {
    forgotten += samples_in(series.column, keep);
    series.column.numbers.resize(keep);
    series.column.states.resize(keep);
    // What the last rows said is gone with them: everything is news again.
    series.last = kStateGap;
  }
  has_ended_ = false;
  return forgotten;
}

void RowGroup::clear(MonoTime now) {
  times_ms_.clear();
  for (Series& series : series_) {
    series.column.numbers.clear();
    series.column.states.clear();
  }
  std::erase_if(series_, [&](const Series& s) { return now - s.last_value > kLetGoAfter; });
}

void RowBuffer::append(const model::Snapshot& snapshot, int64_t last_ms) {
  wall_ms_ = unix_milliseconds(snapshot.wall);
  mono_ = snapshot.mono;
  if (wall_ms_ <= (empty() ? last_ms : std::max(last_ms, last_ms_))) forget_from(wall_ms_);
  series_count_ = 0;
  for (auto& [key, group] : groups_) {
    group.begin();
    series_count_ += group.series().size();
  }
  for (const model::DeviceSnapshot& device : snapshot.devices) {
    append_subject(Scope::kDevice, device.device->uuid, device.samples);
  }
  append_subject(Scope::kHost, {}, snapshot.host);
  append_subject(Scope::kSelf, {}, snapshot.self);
  for (auto& [key, group] : groups_) {
    if (!group.is_committed()) group.commit_end(wall_ms_, mono_);
  }
  last_ms_ = wall_ms_;
  ++rows_;
}

void RowBuffer::append_subject(Scope scope, std::string_view uuid, const model::Samples& samples) {
  const std::array<GroupKey, 2> keys = {GroupKey{scope, std::string(uuid), Cadence::kFast},
                                        GroupKey{scope, std::string(uuid), Cadence::kSlow}};
  std::array<RowGroup*, 2> groups{};
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto at = groups_.find(keys[i]);
    groups[i] = at == groups_.end() ? nullptr : &at->second;
    // The second of two devices with one uuid says nothing.
    if (groups[i] != nullptr && groups[i]->is_committed()) return;
  }
  for (const model::Sample& sample : samples) {
    const auto i = static_cast<size_t>(catalog::metric(sample.metric).cadence);
    append_sample(groups[i], keys[i], sample);
  }
  for (RowGroup* group : groups) {
    if (group != nullptr) group->commit(wall_ms_, mono_);
  }
}

void RowBuffer::append_sample(RowGroup*& group, const GroupKey& key, const model::Sample& sample) {
  const std::optional<double> number = sample.value.fresh_number();
  if (!number) {
    if (group == nullptr) return;
    if (sample.value.presence() == model::Presence::kStale) {
      group->stage_gap(sample.metric, sample.label);
    } else {
      group->stage_absent(sample.metric, sample.label, sample.value.reason());
    }
    return;
  }
  const std::optional<int64_t> quantum = catalog::quantize(catalog::metric(sample.metric), *number);
  if (!quantum) {
    ++dropped_samples_;
    return;
  }
  const bool may_add = series_count_ < max_series_;
  if (group == nullptr && may_add) {
    group = &groups_.try_emplace(key, key.cadence).first->second;
    group->begin();
  }
  const size_t before = group == nullptr ? 0 : group->series().size();
  if (group == nullptr ||
      !group->stage_value(sample.metric, sample.label, *quantum, sample.value.read_at(), may_add)) {
    ++refused_series_;
    return;
  }
  series_count_ += group->series().size() - before;
}

void RowBuffer::forget_from(int64_t wall_ms) {
  for (auto& [key, group] : groups_) dropped_samples_ += group.forget_from(wall_ms);
  cut_from_ = std::min(cut_from_, wall_ms);
}

void RowBuffer::clear() {
  for (auto& [key, group] : groups_) group.clear(mono_);
  std::erase_if(groups_, [](const auto& entry) { return entry.second.series().empty(); });
  rows_ = 0;
  cut_from_ = kNothingToCut;
}

// What is on disk after the cut stays overruled, and everything is news again.
void RowBuffer::give_up() {
  constexpr int64_t kEver = std::numeric_limits<int64_t>::min();
  for (auto& [key, group] : groups_) {
    dropped_samples_ += group.forget_from(kEver);
    group.clear(mono_);
  }
  rows_ = 0;
}

size_t RowBuffer::series_count() const {
  size_t count = 0;
  for (const auto& [key, group] : groups_) count += group.series().size();
  return count;
}

}  // namespace gpusight::store
