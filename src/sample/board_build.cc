// How a Snapshot is made from what the Board holds.
#include <algorithm>

#include "sample/board.h"

namespace gpusight::sample {

using catalog::Kind;
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

bool sample_before(const model::Sample& a, const model::Sample& b) {
  return std::tie(a.metric, a.label) < std::tie(b.metric, b.label);
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

// In no order yet.
model::Samples Board::build_samples(const Subject& subject, const Now& now) const {
  model::Samples samples;
  for (const auto& [lane, block] : subject.blocks) {
    for (const model::Sample& sample : block.samples) {
      samples.push_back({sample.metric, sample.label, aged(sample.value, block.cadence, now)});
    }
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

// What is known of XID errors beside how many they are, where they can be counted at all.
void Board::put_xids(model::Samples& samples, const DeviceEntry& entry, const Now& now) const {
  const auto total = std::ranges::find(samples, MetricId::kGpuXidErrors, &model::Sample::metric);
  if (total == samples.end() || total->value.is_absent()) return;
  const auto put = [&](MetricId metric, double number, std::string label) {
    if (options_.disabled.has(metric)) return;
    samples.push_back({metric, std::move(label), Value::fresh(number, now.mono, {}, 0)});
  };
  put(MetricId::kGpuXidLast, static_cast<double>(entry.last_xid), "");
  for (const auto& [code, seen] : entry.xids) {
    put(MetricId::kGpuXidCodeErrors, static_cast<double>(seen.count), std::to_string(code));
    put(MetricId::kGpuXidLastTime, static_cast<double>(unix_milliseconds(seen.at)) / 1000,
        std::to_string(code));
  }
}

// Every device metric of the catalogue stands in the snapshot: with a value, or with its reason.
void Board::complete(model::Samples& samples, const DeviceEntry& entry, DeviceState state,
                     const Now& now) const {
  const std::optional<Reason> whole = reason_of(state);
  if (whole) samples.clear();
  if (state == DeviceState::kBusy) {
    for (model::Sample& sample : samples) {
      if (sample.value.is_fresh()) continue;
      if (sample.value.reason() != Reason::kStale) continue;
      sample.value = sample.value.is_absent() ? Value::absent(Reason::kBusy)
                                              : sample.value.stale(Reason::kBusy);
    }
  }
  const auto own = [&](MetricId metric, double number) {
    std::erase_if(samples, [&](const model::Sample& s) { return s.metric == metric; });
    samples.push_back({metric, "", Value::fresh(number, now.mono, {}, 0)});
  };
  // Of one that was let go of nobody knows: it may be in the middle of a reset.
  if (state != DeviceState::kReleased) own(MetricId::kGpuUp, state == DeviceState::kLost ? 0 : 1);
  own(MetricId::kGpuAsleep, state == DeviceState::kAsleep ? 1 : 0);
  for (const auto& [metric, count] : entry.event_counts) {
    if (options_.disabled.has(metric)) continue;
    const bool told = std::ranges::any_of(
        samples, [&](const model::Sample& s) { return s.metric == metric && s.value.is_absent(); });
    if (!told && entry.device->kind == model::DeviceKind::kGpu) {
      own(metric, static_cast<double>(count));
    }
  }
  if (entry.device->kind == model::DeviceKind::kGpu) put_xids(samples, entry, now);
  std::ranges::stable_sort(samples, sample_before);
  std::vector<model::Sample> missing;
  for (const MetricRow& row : catalog::metrics()) {
    if (row.scope != Scope::kDevice) continue;
    const auto there = std::ranges::lower_bound(samples, row.id, {}, &model::Sample::metric);
    if (there != samples.end() && there->metric == row.id) continue;
    missing.push_back({row.id, "", Value::absent(reason_for_missing(row, samples, entry, state))});
  }
  const auto present = static_cast<std::ptrdiff_t>(samples.size());
  samples.insert(samples.end(), std::make_move_iterator(missing.begin()),
                 std::make_move_iterator(missing.end()));
  std::ranges::inplace_merge(samples, samples.begin() + present, sample_before);
}

model::DeviceSnapshot Board::build_device(const DeviceEntry& entry, const Now& now) const {
  model::DeviceSnapshot device{
      .device = entry.device, .state = shown_state(entry), .state_since = entry.state_since};
  device.samples = build_samples(entry.readings, now);
  complete(device.samples, entry, device.state, now);
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
  if (!whole) device.holders = entry.holders;
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
  std::ranges::stable_sort(samples, sample_before);
  return samples;
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
  std::vector<model::Device> order;
  for (const auto& [uuid, entry] : devices_) order.push_back(*entry.device);
  model::sort_for_views(order);
  for (const model::Device& device : order) {
    snapshot.devices.push_back(build_device(devices_.at(device.uuid), now));
  }
  snapshot.host = build_samples(host_, now);
  std::ranges::stable_sort(snapshot.host, sample_before);
  snapshot.self = build_self(now, self);
  for (const auto& [place, source] : sources_) {
    snapshot.sources.push_back(source.status);
    snapshot.simulated = snapshot.simulated || source.status.simulated;
    if (source.topology != nullptr) snapshot.topology = source.topology;
  }
  return snapshot;
}

}  // namespace gpusight::sample
