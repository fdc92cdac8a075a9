#include "store/head_restore.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/metric.h"
#include "model/snapshot.h"

namespace gpusight::store {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kStepMs = 60'000;

std::string_view label_named(const model::Labels& labels, std::string_view name) {
  const auto at = std::ranges::find(labels, name, [](const auto& label) { return label.first; });
  return at == labels.end() ? std::string_view() : at->second;
}

// Makes snapshots of recorded samples and appends them.
class Replay {
 public:
  Replay(Head& head, MonoTime mono, WallTime wall)
      : head_(head), mono_(mono), wall_ms_(unix_milliseconds(wall)) {}

  // One step: its samples in any order, then the ticks that they make.
  void add(const model::Labels& labels, std::span<const RecordedSample> samples) {
    State* state = state_of(labels);
    if (state == nullptr) return;
    for (const RecordedSample& sample : samples) {
      ticks_[sample.time_ms].push_back({.state = state, .value = value_of(sample)});
    }
  }
  void append_ticks() {
    for (const auto& [time_ms, readings] : ticks_) append_tick(time_ms, readings);
    ticks_.clear();
  }

 private:
  // A series with its newest value.
  struct State {
    bool is_slow = false;
    model::Value value;
    int64_t time_ms = 0;  // of that value
  };
  using States = std::map<std::pair<catalog::MetricId, std::string>, State>;
  struct Reading {
    State* state;
    model::Value value;
  };

  MonoTime mono_of(int64_t time_ms) const { return mono_ - milliseconds(wall_ms_ - time_ms); }

  model::Value value_of(const RecordedSample& sample) const {
    if (!sample.number) return model::Value::absent(sample.reason);
    return model::Value::fresh(*sample.number, mono_of(sample.time_ms), {}, 0);
  }

  // nullptr: of no metric that there is.
  State* state_of(const model::Labels& labels) {
    const catalog::MetricRow* metric = catalog::find_metric(label_named(labels, "__name__"));
    if (metric == nullptr) return nullptr;
    State& state = states_of(
        metric->scope,
        label_named(labels, "uuid"))[{metric->id, std::string(label_named(labels, metric->label))}];
    state.is_slow = metric->cadence == catalog::Cadence::kSlow;
    return &state;
  }
  States& states_of(catalog::Scope scope, std::string_view uuid) {
    if (scope == catalog::Scope::kHost) return host_;
    if (scope == catalog::Scope::kSelf) return self_;
    Subject& subject = devices_[std::string(uuid)];
    if (subject.device == nullptr) {
      auto device = std::make_shared<model::Device>();
      device->uuid = uuid;
      subject.device = std::move(device);
    }
    return subject.states;
  }

  void append_tick(int64_t time_ms, std::span<const Reading> readings) {
    for (const Reading& reading : readings) {
      reading.state->value = reading.value;
      reading.state->time_ms = time_ms;
    }
    model::Snapshot snapshot{.wall = WallTime(milliseconds(time_ms)), .mono = mono_of(time_ms)};
    for (const auto& [uuid, subject] : devices_) {
      model::Samples samples = samples_of(subject.states, time_ms);
      // The marks of a device that has gone are the head's to make.
      const bool is_there = std::ranges::any_of(
          samples, [](const model::Sample& sample) { return !sample.value.is_absent(); });
      if (!is_there) continue;
      snapshot.devices.push_back({.device = subject.device, .samples = std::move(samples)});
    }
    snapshot.host = samples_of(host_, time_ms);
    snapshot.self = samples_of(self_, time_ms);
    head_.append(snapshot);
  }

  // A slow reading stands until the next one. A fast one that was not recorded in this tick had
  // gone stale, which leaves a gap and no mark; where there was none before it either, its device
  // was not there.
  static model::Samples samples_of(const States& states, int64_t time_ms) {
    model::Samples samples;
    for (const auto& [key, state] : states) {
      if (state.time_ms == 0) continue;  // its first is yet to come
      const bool is_old = !state.is_slow && state.time_ms != time_ms;
      if (is_old && state.value.is_absent()) continue;
      samples.push_back(
          {key.first, key.second, is_old ? state.value.stale(model::Reason::kStale) : state.value});
    }
    return samples;
  }

  struct Subject {
    std::shared_ptr<const model::Device> device;
    States states;
  };

  Head& head_;
  const MonoTime mono_;
  const int64_t wall_ms_;
  std::map<std::string, Subject> devices_;  // by uuid
  States host_;
  States self_;
  std::map<int64_t, std::vector<Reading>> ticks_;  // of this step
};

}  // namespace

Status restore_head(Head& head, const History& history, MonoTime mono, WallTime wall,
                    Duration span) {
  Replay replay(head, mono, wall);
  const int64_t end_ms = unix_milliseconds(wall);
  for (int64_t from_ms = unix_milliseconds(wall - span); from_ms < end_ms; from_ms += kStepMs) {
    TRY(history.for_each_sample({}, from_ms, std::min(from_ms + kStepMs, end_ms),
                                [&](const model::Labels& labels, auto samples) {
                                  replay.add(labels, samples);
                                  return true;
                                }));
    replay.append_ticks();
  }
  return {};
}

}  // namespace gpusight::store
