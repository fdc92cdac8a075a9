// How a Snapshot is made from what the Board holds.
#include <algorithm>

#include "sample/board.h"

namespace gpusight::sample {

using catalog::MetricId;
using catalog::MetricRow;
using catalog::Scope;
using model::DeviceState;
using model::Reason;
using model::Value;

namespace {

constexpr Duration kAbsentAfter = std::chrono::seconds(10);
// Where ticks are shorter, a lane may read in turns what need not be read every time.
constexpr Duration kFastPeriod = std::chrono::seconds(1);

std::optional<Reason> reason_of(DeviceState state) {
  if (state == DeviceState::kLost) return Reason::kLost;
  if (state == DeviceState::kAsleep) return Reason::kAsleep;
  if (state == DeviceState::kReleased) return Reason::kDisabled;
  return std::nullopt;
}

// The samples from `first` on are of one metric.
void sort_labels(model::Samples& samples, size_t first) {
  std::stable_sort(
      samples.begin() + static_cast<std::ptrdiff_t>(first), samples.end(),
      [](const model::Sample& a, const model::Sample& b) { return a.label < b.label; });
}

bool is_absent(const model::Samples& samples, size_t first) {
  return std::any_of(samples.begin() + static_cast<std::ptrdiff_t>(first), samples.end(),
                     [](const model::Sample& s) { return s.value.is_absent(); });
}

// What grew old because its device does not answer.
void say_busy(model::Samples& samples) {
  for (model::Sample& sample : samples) {
    if (sample.value.is_fresh() || sample.value.reason() != Reason::kStale) continue;
    sample.value =
        sample.value.is_absent() ? Value::absent(Reason::kBusy) : sample.value.stale(Reason::kBusy);
  }
}

// Processes whose memory is not known come last.
double memory_for_views(const model::Process& p) { return p.memory_bytes.number().value_or(-1); }

}  // namespace

Value Board::aged(const Value& value, collect::LaneCadence cadence, const Now& now) const {
  if (value.is_absent()) return value;
  const Duration most = cadence == collect::LaneCadence::kSlow ? kSlowPeriod : kFastPeriod;
  const Duration period = std::max(most, options_.interval);
  const Duration age = now.mono - value.read_at();
  // Half a period of grace: an answer may come late in one tick and early in the next.
  if (age <= period + period / 2) return value;
  if (age > std::max(3 * period, kAbsentAfter)) return Value::absent(Reason::kStale);
  return value.stale(Reason::kStale);
}

struct Board::Cursor {
  const LaneBlock* block = nullptr;
  size_t next = 0;
};

std::vector<Board::Cursor> Board::cursors_of(const Subject& subject) const {
  std::vector<Cursor> cursors;
  for (const auto& [lane, block] : subject.blocks) cursors.push_back({&block});
  return cursors;
}

void Board::append_metric(model::Samples& samples, MetricId metric, std::vector<Cursor>& cursors,
                          const Now& now) const {
  const size_t first = samples.size();
  size_t lanes = 0;
  for (auto& [block, next] : cursors) {
    const model::Samples& from = block->samples;
    while (next < from.size() && from[next].metric < metric) ++next;
    lanes += next < from.size() && from[next].metric == metric;
    for (; next < from.size() && from[next].metric == metric; ++next) {
      samples.push_back({metric, from[next].label, aged(from[next].value, block->cadence, now)});
    }
  }
  if (lanes > 1) sort_labels(samples, first);
}

model::Samples Board::build_host(const Now& now) const {
  model::Samples samples;
  std::vector<Cursor> cursors = cursors_of(host_);
  for (const MetricId metric : catalog::metrics_of(Scope::kHost)) {
    append_metric(samples, metric, cursors, now);
  }
  return samples;
}

DeviceState Board::shown_state(const DeviceEntry& entry) const {
  if (entry.state != DeviceState::kActive) return entry.state;
  if (!entry.device->parent.empty()) {
    const auto parent = devices_.find(entry.device->parent);
    if (parent != devices_.end() && parent->second.state != DeviceState::kActive) {
      return parent->second.state;
    }
  }
  const auto source = sources_.find(entry.source);
  const bool pending =
      source != sources_.end() && source->second.pending.contains(entry.device->uuid);
  return pending ? DeviceState::kBusy : DeviceState::kActive;
}

Reason Board::reason_for_missing(const MetricRow& row, const model::Samples& samples,
                                 const DeviceEntry& entry, DeviceState state) const {
  const auto source = sources_.find(entry.source);
  const bool declared = source != sources_.end() && source->second.declares.contains(row.id);
  if (!declared) return Reason::kNotSupported;
  if (options_.disabled.has(row.id)) return Reason::kDisabled;
  if (const auto whole = reason_of(state)) return *whole;
  if (entry.readings.blocks.empty()) {
    return state == DeviceState::kBusy ? Reason::kBusy : Reason::kWarmingUp;
  }
  if (row.mean_row) {
    // A tick without samples of the driver has a value and no companions; without a value, its
    // reason.
    const auto mean = std::ranges::lower_bound(samples, *row.mean_row, {}, &model::Sample::metric);
    const bool absent =
        mean != samples.end() && mean->metric == *row.mean_row && mean->value.is_absent();
    return absent ? mean->value.reason() : Reason::kUnknown;
  }
  return entry.device->kind == model::DeviceKind::kMig ? Reason::kNotSupported : Reason::kUnknown;
}

// What the board itself knows, whatever the lanes say.
std::optional<double> Board::own_number(MetricId metric, const DeviceEntry& entry,
                                        DeviceState state) const {
  // Of one that was let go of nobody knows: it may be in the middle of a reset.
  if (metric == MetricId::kGpuUp && state == DeviceState::kReleased) return std::nullopt;
  if (metric == MetricId::kGpuUp) return state == DeviceState::kLost ? 0 : 1;
  if (metric == MetricId::kGpuAsleep) return state == DeviceState::kAsleep ? 1 : 0;
  const bool is_counted = entry.device->kind == model::DeviceKind::kGpu;
  if (!is_counted || options_.disabled.has(metric)) return std::nullopt;
  const auto count = entry.event_counts.find(metric);
  if (count == entry.event_counts.end()) return std::nullopt;
  return static_cast<double>(count->second);
}

// What is known of XID errors beside how many they are, where they can be counted at all.
void Board::append_xids(model::Samples& samples, MetricId metric, const DeviceEntry& entry,
                        const Now& now) const {
  const bool by_code = metric == MetricId::kGpuXidCodeErrors || metric == MetricId::kGpuXidLastTime;
  if (!by_code && metric != MetricId::kGpuXidLast) return;
  if (options_.disabled.has(metric)) return;
  const model::Value* total = model::find_sample(samples, MetricId::kGpuXidErrors);
  if (entry.device->kind != model::DeviceKind::kGpu || total == nullptr || total->is_absent())
    return;
  const auto put = [&](double number, std::string label) {
    samples.push_back({metric, std::move(label), Value::fresh(number, now.mono, {}, 0)});
  };
  if (!by_code) return put(static_cast<double>(entry.last_xid), "");
  const size_t first = samples.size();
  for (const auto& [code, seen] : entry.xids) {
    const double at = static_cast<double>(unix_milliseconds(seen.at)) / 1000;
    put(metric == MetricId::kGpuXidLastTime ? at : static_cast<double>(seen.count),
        std::to_string(code));
  }
  sort_labels(samples, first);
}

// Every device metric of the catalogue stands in the snapshot: with a value, or with its reason.
model::Samples Board::build_readings(const DeviceEntry& entry, DeviceState state,
                                     const Now& now) const {
  const std::span<const MetricId> metrics = catalog::metrics_of(Scope::kDevice);
  std::vector<Cursor> cursors;
  if (!reason_of(state)) cursors = cursors_of(entry.readings);
  size_t most = metrics.size();
  for (const Cursor& cursor : cursors) most += cursor.block->samples.size();
  model::Samples samples;
  samples.reserve(most);
  for (const MetricId metric : metrics) {
    const size_t first = samples.size();
    append_metric(samples, metric, cursors, now);
    // A lane that says why something cannot be counted is believed.
    if (const auto own = own_number(metric, entry, state); own && !is_absent(samples, first)) {
      samples.resize(first);
      samples.push_back({metric, "", Value::fresh(*own, now.mono, {}, 0)});
    }
    if (samples.size() == first) append_xids(samples, metric, entry, now);
    if (samples.size() > first) continue;
    const Reason reason = reason_for_missing(catalog::metric(metric), samples, entry, state);
    samples.push_back({metric, "", Value::absent(reason)});
  }
  if (state == DeviceState::kBusy) say_busy(samples);
  return samples;
}

model::DeviceSnapshot Board::build_device(const DeviceEntry& entry, const Now& now) const {
  model::DeviceSnapshot device{
      .device = entry.device, .state = shown_state(entry), .state_since = entry.state_since};
  device.samples = build_readings(entry, device.state, now);
  const std::optional<Reason> whole = reason_of(device.state);
  const Duration patience = std::max(3 * options_.interval, kAbsentAfter);
  if (!whole && entry.processes_at && now.mono - *entry.processes_at <= patience) {
    device.processes_known = true;
    device.processes = entry.processes;
    std::ranges::stable_sort(device.processes, std::ranges::greater{}, memory_for_views);
  } else {
    device.processes_reason = whole                    ? *whole
                              : entry.processes_absent ? *entry.processes_absent
                              : entry.processes_at     ? Reason::kStale
                                                       : Reason::kWarmingUp;
  }
  const Duration slow_patience = 3 * std::max(kSlowPeriod, options_.interval);
  if (!whole && entry.sessions_at && now.mono - *entry.sessions_at <= slow_patience) {
    device.sessions = entry.sessions;
  }
  // Looked for once a minute.
  constexpr Duration kHoldersPatience = std::chrono::minutes(3);
  if (!whole && now.mono - entry.holders_at <= kHoldersPatience) device.holders = entry.holders;
  return device;
}

model::Samples Board::build_self(const Now& now, const SelfReadings& self) const {
  model::Samples samples;
  const auto put = [&](MetricId metric, double number, std::string label = {}) {
    const MetricRow& row = catalog::metric(metric);
    const auto quantum = catalog::quantize(row, number);
    samples.push_back({metric, std::move(label),
                       quantum ? Value::fresh(catalog::value_of(row, *quantum), now.mono, {}, 0)
                               : Value::absent(Reason::kImplausible)});
  };
  if (self.known) {
    put(MetricId::kSelfCpu, self.cpu_seconds);
    put(MetricId::kSelfMemory, self.resident_bytes);
  }
  put(MetricId::kSelfTicks, static_cast<double>(sequence_));
  put(MetricId::kSelfTicksLate, static_cast<double>(late_ticks_));
  put(MetricId::kSelfDropped, static_cast<double>(self.dropped_samples));
  for (const auto& [place, source] : sources_) {
    put(MetricId::kSelfDriverCalls, static_cast<double>(source.calls), source.name);
    put(MetricId::kSelfDriverSeconds, seconds(source.call_time), source.name);
    put(MetricId::kSelfImplausible, static_cast<double>(source.implausible), source.name);
    put(MetricId::kSelfGenerations, static_cast<double>(source.generations), source.name);
    for (const auto& [lane, took] : source.lane_took) {
      put(MetricId::kSelfLaneSeconds, seconds(took), lane);
    }
    if (!source.declares.contains(MetricId::kGpuUp)) continue;  // it has no devices
    put(MetricId::kSelfReleased, source.status.phase == model::SourcePhase::kReleased ? 1 : 0,
        source.name);
  }
  std::ranges::stable_sort(samples, [](const model::Sample& a, const model::Sample& b) {
    return std::tie(a.metric, a.label) < std::tie(b.metric, b.label);
  });
  return samples;
}

const std::vector<const Board::DeviceEntry*>& Board::order() const {
  if (!order_.empty()) return order_;
  std::vector<model::Device> devices;
  for (const auto& [uuid, entry] : devices_) devices.push_back(*entry.device);
  model::sort_for_views(devices);
  for (const model::Device& device : devices) order_.push_back(&devices_.at(device.uuid));
  return order_;
}

model::Snapshot Board::build(const Now& now, const SelfReadings& self, bool late) {
  ++sequence_;
  if (late) ++late_ticks_;
  for (model::Event& event : event_limit_.left_out(now)) events_.push_back(std::move(event));
  model::Snapshot snapshot{.sequence = sequence_,
                           .wall = now.wall,
                           .mono = now.mono,
                           .interval = options_.interval,
                           .host_name = options_.host_name};
  snapshot.devices.reserve(devices_.size());
  for (const DeviceEntry* entry : order()) snapshot.devices.push_back(build_device(*entry, now));
  snapshot.host = build_host(now);
  snapshot.self = build_self(now, self);
  for (const auto& [place, source] : sources_) {
    snapshot.sources.push_back(source.status);
    snapshot.simulated = snapshot.simulated || source.status.simulated;
    if (source.topology != nullptr) snapshot.topology = source.topology;
  }
  return snapshot;
}

}  // namespace gpusight::sample
