#include "store/head.h"

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/annotations.h"
#include "store/head_group.h"
#include "store/head_read.h"

namespace gpusight::store {

using catalog::Cadence;
using catalog::Scope;

class Head::Impl {
 public:
  explicit Impl(Options options) : options_(options) {}

  void append(const model::Snapshot& snapshot) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    tick_ = {.wall_ms = unix_milliseconds(snapshot.wall), .mono = snapshot.mono};
    series_count_ = 0;
    for (auto& [key, group] : groups_) {
      dropped_samples_ += group.begin(tick_);
      series_count_ += group.series_count();
    }
    for (const model::DeviceSnapshot& device : snapshot.devices) {
      append_subject(Scope::kDevice, device.device->uuid, device.samples);
    }
    append_subject(Scope::kHost, {}, snapshot.host);
    append_subject(Scope::kSelf, {}, snapshot.self);
    for (auto& [key, group] : groups_) {
      if (!group.is_committed()) group.commit_end();
    }
    std::erase_if(groups_, [](const auto& entry) { return entry.second.series_count() == 0; });
  }

  // Immutable copies, as they are at one moment between two ticks, of the groups that may have
  // matching series.
  std::vector<GroupView> views(std::span<const model::Matcher> matchers) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::vector<GroupView> views;
    for (const auto& [key, group] : groups_) {
      if (may_match(key, matchers)) views.push_back(group.view());
    }
    return views;
  }

  HeadFootprint footprint() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    HeadFootprint footprint;
    for (const auto& [key, group] : groups_) {
      footprint.series += group.series_count();
      footprint.samples += group.samples();
      footprint.packed_bytes += group.packed_bytes();
    }
    return footprint;
  }

  uint64_t refused_series() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return refused_series_;
  }
  uint64_t dropped_samples() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return dropped_samples_;
  }

 private:
  void append_subject(Scope scope, std::string_view uuid, const model::Samples& samples)
      REQUIRES(mutex_) {
    SubjectGroups groups{find(scope, uuid, Cadence::kFast), find(scope, uuid, Cadence::kSlow)};
    // The second of two devices with one uuid says nothing.
    for (const Group* group : groups) {
      if (group != nullptr && group->is_committed()) return;
    }
    for (const model::Sample& sample : samples) append_sample(scope, uuid, sample, groups);
    for (Group* group : groups) {
      if (group != nullptr) group->commit();
    }
  }

  using SubjectGroups = std::array<Group*, 2>;  // by Cadence; nullptr while it has no series

  void append_sample(Scope scope, std::string_view uuid, const model::Sample& sample,
                     SubjectGroups& groups) REQUIRES(mutex_) {
    const catalog::MetricRow& row = catalog::metric(sample.metric);
    Group*& group = groups[static_cast<size_t>(row.cadence)];
    const std::optional<double> number = sample.value.fresh_number();
    if (!number) {
      const bool is_gap = sample.value.presence() == model::Presence::kStale;
      if (is_gap && group != nullptr) group->stage_gap(sample.metric, sample.label);
      return;
    }
    const std::optional<int64_t> quantum = catalog::quantize(row, *number);
    if (!quantum) {
      ++dropped_samples_;
      return;
    }
    const bool may_add = series_count_ < options_.max_series;
    if (group == nullptr && may_add) group = &add(scope, uuid, row.cadence);
    const size_t before = group == nullptr ? 0 : group->series_count();
    if (group == nullptr || !group->stage_value(sample.metric, sample.label, *quantum,
                                                sample.value.read_at(), may_add)) {
      ++refused_series_;
      return;
    }
    series_count_ += group->series_count() - before;
  }

  Group* find(Scope scope, std::string_view uuid, Cadence cadence) REQUIRES(mutex_) {
    const auto at = groups_.find({scope, std::string(uuid), cadence});
    return at == groups_.end() ? nullptr : &at->second;
  }

  Group& add(Scope scope, std::string_view uuid, Cadence cadence) REQUIRES(mutex_) {
    const GroupKey key{scope, std::string(uuid), cadence};
    Group& group = groups_.try_emplace(key, key, options_.span).first->second;
    group.begin(tick_);
    return group;
  }

  const Options options_;
  mutable Mutex mutex_;
  std::map<GroupKey, Group> groups_ GUARDED_BY(mutex_);
  Tick tick_ GUARDED_BY(mutex_);
  size_t series_count_ GUARDED_BY(mutex_) = 0;
  uint64_t refused_series_ GUARDED_BY(mutex_) = 0;
  uint64_t dropped_samples_ GUARDED_BY(mutex_) = 0;
};

namespace {

// Each label set of the series that match and have samples in [start, end].
Status for_each_series(std::span<const GroupView> views, std::span<const model::Matcher> matchers,
                       int64_t start_ms, int64_t end_ms, std::stop_token stop,
                       const std::function<void(const model::Labels&)>& visit) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  const Window window{.start_ms = start_ms == kFirst ? kFirst : start_ms - 1, .end_ms = end_ms};
  const auto set = TRY(select_series(views, matchers, window, std::move(stop)));
  while (const auto cursor = TRY(set->next())) visit(cursor->labels());
  return {};
}

}  // namespace

Head::Head(Options options) : impl_(std::make_unique<Impl>(options)) {}
Head::~Head() = default;

void Head::append(const model::Snapshot& snapshot) { impl_->append(snapshot); }

std::vector<HeadGroup> Head::groups(int64_t since_ms) const {
  std::vector<HeadGroup> groups;
  for (const GroupView& view : impl_->views({})) {
    if (std::optional<HeadGroup> group = unpack_group(view, since_ms)) {
      groups.push_back(std::move(*group));
    }
  }
  return groups;
}

HeadFootprint Head::footprint() const { return impl_->footprint(); }
uint64_t Head::refused_series() const { return impl_->refused_series(); }
uint64_t Head::dropped_samples() const { return impl_->dropped_samples(); }

Result<std::unique_ptr<model::SeriesSet>> Head::select(std::span<const model::Matcher> matchers,
                                                       const model::SelectHints& hints,
                                                       std::stop_token stop) const {
  return select_series(impl_->views(matchers), matchers,
                       {.start_ms = hints.start_ms, .end_ms = hints.end_ms}, std::move(stop));
}

Result<std::vector<std::string>> Head::label_names(std::span<const model::Matcher> matchers,
                                                   int64_t start_ms, int64_t end_ms,
                                                   std::stop_token stop) const {
  std::set<std::string> names;
  TRY(for_each_series(impl_->views(matchers), matchers, start_ms, end_ms, std::move(stop),
                      [&](const model::Labels& labels) {
                        for (const auto& [name, value] : labels) names.insert(name);
                      }));
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::string>> Head::label_values(std::string_view name,
                                                    std::span<const model::Matcher> matchers,
                                                    int64_t start_ms, int64_t end_ms,
                                                    std::stop_token stop) const {
  std::set<std::string> values;
  TRY(for_each_series(impl_->views(matchers), matchers, start_ms, end_ms, std::move(stop),
                      [&](const model::Labels& labels) {
                        for (const auto& [label, value] : labels) {
                          if (label == name) values.insert(value);
                        }
                      }));
  return std::vector<std::string>(values.begin(), values.end());
}

}  // namespace gpusight::store
