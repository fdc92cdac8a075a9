#include "collect/nvml/fast_lane.h"

#include <algorithm>
#include <cmath>

#include "platform/proc.h"

#include "collect/nvml/field_tables.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Reason;

// Rings are worth draining about once a second; a shorter tick has current values in between.
constexpr Duration kDrainEvery = std::chrono::seconds(1);
// The driver's average is over about a second.
constexpr Duration kAverageWindow = std::chrono::seconds(1);
constexpr Duration kForgetEvery = std::chrono::minutes(1);
constexpr Duration kTurnEvery = std::chrono::seconds(1);
// The three lists of processes.
constexpr uint64_t kInstanceProcessCalls = 3;
constexpr uint64_t kMemoryCalls = 1;  // another one where the newer form is found to be missing
constexpr uint32_t kFastBatch = 0;
// Each fan costs a call: a board with more has them read in turns.
constexpr unsigned kFansATick = 3;
constexpr size_t kRingsAShortTick = 1;
constexpr MetricId kMemoryMetrics[] = {MetricId::kGpuMemoryUsed, MetricId::kGpuMemoryFree,
                                       MetricId::kGpuMemoryReserved, MetricId::kGpuMemoryTotal};

bool is_utilization(Ring ring) {
  return ring == Ring::kGpuUtilization || ring == Ring::kMemoryUtilization;
}

bool belongs_to(const model::Process& process, const model::Device& instance) {
  return process.gpu_instance == instance.gpu_instance &&
         (!process.compute_instance || process.compute_instance == instance.compute_instance);
}

}  // namespace

uint64_t FastLane::most_calls(Duration interval) {
  constexpr double kShort = 0.1;
  const double part = std::clamp((seconds(interval) - kShort) / (1 - kShort), 0.0, 1.0);
  return kMostCallsShort + static_cast<uint64_t>(part * (kMostCalls - kMostCallsShort));
}

FastLane::FastLane(const LaneContext& context, SharedGpu& shared, const CallMeter* opening)
    : context_(context),
      shared_(shared),
      opening_(opening),
      info_{.name = "nvml/" + shared.gpu.device.uuid + "/fast",
            .cadence = LaneCadence::kFast,
            .uuids = uuids_of(shared.gpu)},
      fields_(kFastBatch, wanted(fast_fields(), context.disabled),
              parse_driver_version(shared.gpu.device.driver)),
      ring_reader_(*context.clock, shared.driver_clock,
                   std::max<Duration>(context.interval, kDrainEvery)),
      throttle_(shared.gpu.device, *shared.known),
      watch_(shared.gpu.device.uuid),
      processes_(context_.root, shared.names, shared.accounts),
      shares_(*context.clock, shared.driver_clock),
      activity_(*context.api, parse_driver_version(shared.gpu.device.driver), GpmPart::kUnits),
      turns_(turns(), context.disabled) {
  for (const MigDevice& mig : shared.gpu.instances) {
    instances_.push_back({&mig, {}, ProcessReader(context_.root, shared.names, shared.accounts)});
  }
}

// In the order in which they are taken when all have waited alike.
std::vector<Turn> FastLane::turns() {
  std::vector<Turn> turns = {
      {read_temperature, {MetricId::kGpuTemperature}},
      {[this](auto& talk, auto& found) { read_throttle(talk, found); }, {MetricId::kGpuThrottle}},
      {[this](auto& talk, auto& found) { read_processes(talk, found); }, process_metrics()},
      {[this](auto& talk, auto& found) { activity_.read(talk, found); },
       {gpm_metrics().begin(), gpm_metrics().end()}},
      {read_margin, {MetricId::kGpuTemperatureMargin}},
      {read_performance_state, {MetricId::kGpuPerformanceState}},
  };
  for (size_t clock = 0; clock < kClockCount; ++clock) {
    turns.push_back(
        {[this, clock](auto& talk, auto& found) { read_clock(talk, found, rings_, clock); },
         {MetricId::kGpuClock}});
  }
  for (const MetricId engine :
       {MetricId::kGpuEncoderUtilization, MetricId::kGpuDecoderUtilization}) {
    turns.push_back(
        {[engine](auto& talk, auto& found) { read_engine_utilization(talk, found, engine); },
         {engine}});
  }
  // As many fans as there is room for.
  turns.push_back({[this](auto& talk, auto& found) {
                     unsigned some = kFansATick;
                     while (some > 1 && !talk.has_room_for(some)) --some;
                     fans_.read(talk, found, some);
                   },
                   {MetricId::kGpuFanSpeed}});
  return turns;
}

// The lists say how much memory is in use where the driver does not.
std::vector<MetricId> FastLane::process_metrics() const {
  if (!shared_.gpu.has_unified_memory) return {MetricId::kGpuProcesses};
  return {MetricId::kGpuProcesses, MetricId::kGpuMemoryUsed, MetricId::kGpuMemoryTotal};
}

void FastLane::report_opening(Report& report) {
  if (opening_ == nullptr) return;
  for (uint64_t i = 0; i < opening_->calls(); ++i) {
    report.count_call(i == 0 ? opening_->time() : Duration{});
  }
  opening_ = nullptr;
}

Verdict FastLane::poll(Report& report) {
  report_opening(report);
  const Gpu& gpu = shared_.gpu;
  PollFate fate;
  Conversation talk(*context_.api, gpu.handle, gpu.device.uuid, memory_, fate, report);
  const bool is_all_at_once = context_.pace == Pace::kAtOnce && !has_polled_;
  if (!is_all_at_once) fate.most_calls = report.calls() + most_calls(context_.interval);
  has_polled_ = true;
  report.about(gpu.device.uuid);
  report.state(model::DeviceState::kActive);
  read_gpu(talk);
  read_instances(talk, fate);
  forget_names(report);
  if (!fate.is_over()) return Verdict::kGood;
  meter_.reset();
  give_up(report, gpu.device.uuid, fate, fast_metrics());
  for (const MigDevice& mig : gpu.instances) {
    give_up(report, mig.device.uuid, fate, instance_metrics());
  }
  return fate.verdict();
}

void FastLane::read_gpu(Conversation& talk) {
  Report& report = talk.report();
  const uint64_t calls_before = report.calls();
  report.set(MetricId::kGpuUp, 1);
  report.set(MetricId::kGpuAsleep, 0);
  if (shared_.no_events) report.absent(MetricId::kGpuXidErrors, *shared_.no_events);
  has_read_processes_ = false;
  if (context_.disabled.has(MetricId::kGpuProcesses)) report.processes_absent(Reason::kDisabled);
  Gathering found(report, &context_.disabled);
  read_fields(talk, found);
  if (!shared_.gpu.mig_enabled) read_utilization(talk, found, rings_);
  if (!shared_.gpu.has_unified_memory && wants_memory()) read_memory(talk, found);
  // Half a tick early is on time.
  const Duration pause =
      context_.interval < kTurnEvery ? kTurnEvery - context_.interval / 2 : Duration{};
  turns_.take(talk, found, pause);
  // That it answers is said only of a device that was asked something.
  if (report.calls() == calls_before) read_performance_state(talk, found);
  watch_.look(found);
  found.finish(fast_metrics(), turns_.unasked());
}

bool FastLane::wants_memory() const { return !context_.disabled.has_all(kMemoryMetrics); }

// All rings at every tick; where ticks are short one at a time, each about once a second.
void FastLane::drain_rings(Conversation& talk) {
  if (context_.interval > kLongestDrain) {
    rings_ = shared_.inbox.take();
    return;
  }
  const MonoTime now = talk.report().now();
  const bool is_short = context_.interval < kDrainEvery;
  size_t drained = 0;
  for (size_t i = 0; i < kRingCount && (!is_short || drained < kRingsAShortTick); ++i) {
    const auto ring = static_cast<Ring>(i);
    if (shared_.gpu.mig_enabled && is_utilization(ring)) continue;
    if (context_.disabled.has(ring_metric(ring))) continue;
    // Half a tick early is on time.
    if (drained_at_[i] && now - *drained_at_[i] + context_.interval / 2 < kDrainEvery) continue;
    drained_at_[i] = now;
    rings_[i] = ring_reader_.drain_one(talk, ring);
    ++drained;
  }
}

void FastLane::read_fields(Conversation& talk, Gathering& found) {
  const std::span<const Reading> readings = fields_.read(talk, &shared_.driver_clock);
  drain_rings(talk);  // by the driver's clock, of which the fields tell
  Reading average;
  Reading instant;
  Reading energy;
  for (size_t i = 0; i < readings.size(); ++i) {
    switch (fields_.rows()[i].metric) {
      case MetricId::kGpuMemoryTemperature:
        put_temperature(found, MetricId::kGpuMemoryTemperature, readings[i]);
        break;
      case MetricId::kGpuPowerAverage: average = readings[i]; break;
      case MetricId::kGpuPowerInstant: instant = readings[i]; break;
      case MetricId::kGpuEnergy: energy = readings[i]; break;
      default: found.put(fields_.rows()[i].metric, readings[i]); break;
    }
  }
  shared_.pcie_counters =
      found.has(MetricId::kGpuPcieTransmit) ? PcieCounters::kThere : PcieCounters::kNone;
  read_power(talk, found, average, instant, energy);
}

// What the fields did not say is asked by the calls that older drivers have.
void FastLane::read_power(Conversation& talk, Gathering& found, Reading average, Reading instant,
                          Reading energy) {
  Reading& usage = power_usage_is_average(shared_.gpu) ? average : instant;
  const MetricId usage_is =
      power_usage_is_average(shared_.gpu) ? MetricId::kGpuPowerAverage : MetricId::kGpuPowerInstant;
  if (found.wants(usage_is) && !usage.ok() && is_unsupported(usage.code)) {
    usage = ask_number(talk, Query::kPowerUsage, talk.api().power_usage);
    usage.number /= 1000;
  }
  if (found.wants(MetricId::kGpuEnergy) && !energy.ok() && is_unsupported(energy.code)) {
    unsigned long long millijoules = 0;
    energy.code = talk.ask(Query::kEnergy, 0, talk.api().energy, &millijoules);
    energy.number = static_cast<double>(millijoules) / 1000;
  }
  put_power(found, average, instant, energy);
}

void FastLane::put_power(Gathering& found, const Reading& average, const Reading& instant,
                         const Reading& energy) {
  found.put(MetricId::kGpuPowerAverage, average, {}, kAverageWindow);
  found.put(MetricId::kGpuPowerInstant, instant);
  found.put(MetricId::kGpuEnergy, energy);
  std::optional<PowerMeter::Reading> metered;
  if (energy.ok() && std::isfinite(energy.number)) {
    metered = meter_.update(energy.number, found.report().now());
  } else {
    meter_.reset();
  }
  const auto ring = take(rings_, Ring::kPower);
  // An energy counter that stands still, and a power of 0, are no reading of a board that answers.
  if (metered && metered->watts > 0) {
    found.put(MetricId::kGpuPower, {Return::kSuccess, metered->watts}, {}, metered->window);
  } else if (average.ok() && average.number > 0) {
    found.put(MetricId::kGpuPower, average, {}, kAverageWindow);
  } else if (ring) {
    found.put(MetricId::kGpuPower, {Return::kSuccess, ring->mean() / 1000}, {}, ring->window);
  } else {
    found.put(MetricId::kGpuPower, instant);  // a board that knows nothing but the moment
  }
  if (!ring) return;
  found.report().set_range(MetricId::kGpuPower, ring->lowest / 1000, ring->highest / 1000,
                           ring->window);
}

void FastLane::read_throttle(Conversation& talk, Gathering& found) {
  unsigned long long bits = 0;
  Return code = talk.ask(Query::kClockReasons, 0, talk.api().clock_reasons, &bits);
  // A library may have the newer name and a kernel module that does not know it.
  if (is_unsupported(code)) {
    code = talk.ask(Query::kClockReasons, 1, talk.api().throttle_reasons, &bits);
  }
  if (code == Return::kSuccess) return throttle_.update(bits, found);
  found.put(MetricId::kGpuThrottle, {code, 0});
}

// Memory that the device shares with the host: as large as that, and used by its processes as they
// say. One that does not say makes the sum unknown.
void FastLane::put_unified_memory(Gathering& found, const ProcessList& list) {
  if (!host_memory_bytes_) {
    const auto total = platform::read_memory_total(context_.root);
    if (total.ok()) host_memory_bytes_ = static_cast<double>(*total);
  }
  if (host_memory_bytes_) {
    found.put(MetricId::kGpuMemoryTotal, {Return::kSuccess, *host_memory_bytes_});
  }
  const auto* processes = std::get_if<std::vector<model::Process>>(&list);
  if (processes == nullptr) {
    return found.keep(MetricId::kGpuMemoryUsed, model::Value::absent(std::get<Reason>(list)));
  }
  double used = 0;
  for (const model::Process& process : *processes) {
    if (process.memory_bytes.is_absent()) {
      return found.keep(MetricId::kGpuMemoryUsed, process.memory_bytes);
    }
    used += *process.memory_bytes.number();
  }
  found.put(MetricId::kGpuMemoryUsed, {Return::kSuccess, used});
}

// What no process explains: of others' programs that are not listed, of the screen, of the time in
// which several ran at once and none was busy.
void FastLane::put_unattributed(Gathering& found, const ProcessList& list) {
  constexpr MetricId kMetric = MetricId::kGpuUnattributedUtilization;
  const auto device = found.number(MetricId::kGpuUtilization);
  if (!device) return;
  const auto* processes = std::get_if<std::vector<model::Process>>(&list);
  if (processes == nullptr) {
    return found.keep(kMetric, model::Value::absent(std::get<Reason>(list)));
  }
  double explained = 0;
  for (const model::Process& process : *processes) {
    if (process.utilization_ratio.is_absent())
      return found.keep(kMetric, process.utilization_ratio);
    explained += *process.utilization_ratio.number();
  }
  found.put(kMetric, {Return::kSuccess, std::max(0.0, *device - explained)});
}

void FastLane::read_processes(Conversation& talk, Gathering& found) {
  using enum ProcessReader::Protection;
  ProcessList list = processes_.read(talk, shared_.is_confidential ? kConfidential : kNone);
  // Half a list is none; the last one stands until there is a whole one.
  if (std::exchange(has_listed_processes_, true) && talk.fate().was_cut) return;
  auto* processes = std::get_if<std::vector<model::Process>>(&list);
  const bool has_shares = !shared_.gpu.mig_enabled && found.wants(MetricId::kGpuProcesses);
  if (processes != nullptr && has_shares) shares_.read(talk, *processes);
  if (shared_.gpu.has_unified_memory) put_unified_memory(found, list);
  if (!found.wants(MetricId::kGpuProcesses)) return;
  put_unattributed(found, list);
  put_processes(talk.report(), std::move(list));
  has_read_processes_ = true;
}

void FastLane::put_processes(Report& report, ProcessList list) {
  if (const auto* reason = std::get_if<Reason>(&list)) {
    report.processes_absent(*reason);
    report.absent(MetricId::kGpuProcesses, *reason);
    return;
  }
  auto& processes = std::get<std::vector<model::Process>>(list);
  report.set(MetricId::kGpuProcesses, static_cast<double>(processes.size()));
  report.processes(std::move(processes));
}

// The parent's list, when it says which instance each process is on, holds the instances' as well.
bool FastLane::share_out_processes(Report& report) {
  std::vector<model::Process> all;
  for (const Report::Subject& subject : report.subjects()) {
    if (subject.uuid == shared_.gpu.device.uuid && subject.processes) all = *subject.processes;
  }
  const bool tells = std::ranges::any_of(
      all, [](const model::Process& process) { return process.gpu_instance.has_value(); });
  if (!tells) return false;
  for (Instance& instance : instances_) {
    std::vector<model::Process> own;
    std::ranges::copy_if(all, std::back_inserter(own), [&](const model::Process& process) {
      return belongs_to(process, instance.mig->device);
    });
    report.about(instance.mig->device.uuid);
    put_processes(report, std::move(own));
    instance.count = report.newest();
  }
  return true;
}

// Without a call left: what was read last, or that it is still to come.
void FastLane::put_instance_memory(Instance& instance, bool has_room, PollFate& fate,
                                   Report& report) {
  const model::Device& device = instance.mig->device;
  Gathering found(report, &context_.disabled);
  if (!wants_memory()) return;
  if (!has_room) {
    for (const model::Sample& sample : instance.last_memory) {
      found.keep(sample.metric, sample.value, sample.label);
    }
    if (!instance.last_memory.empty()) return;
    for (const MetricId metric : kMemoryMetrics) found.put(metric, {Return::kNotReady, 0});
    return found.finish(kMemoryMetrics);
  }
  Conversation talk(*context_.api, instance.mig->handle, device.uuid, instance.memory, fate,
                    report);
  const size_t before = report.samples().size();
  read_memory(talk, found);
  found.finish(kMemoryMetrics);
  const auto made = report.samples().subspan(before);
  instance.last_memory.assign(made.begin(), made.end());
}

// As many as there is room for: the others keep what they had.
void FastLane::read_instances(Conversation& parent, PollFate& fate) {
  if (instances_.empty() || fate.is_over()) return;
  Report& report = parent.report();
  const bool told = has_read_processes_ && share_out_processes(report);
  const uint64_t reserved = has_read_processes_ && !told ? kInstanceProcessCalls : 0;
  const size_t count = instances_.size();
  const size_t first = next_memory_;
  for (size_t i = 0; i < count; ++i) {
    Instance& instance = instances_[(first + i) % count];
    report.about(instance.mig->device.uuid);
    report.state(model::DeviceState::kActive);
    report.set(MetricId::kGpuUp, 1);
    report.set(MetricId::kGpuAsleep, 0);
    no_utilization(report, Reason::kNotSupported);
    if (context_.disabled.has(MetricId::kGpuProcesses)) report.processes_absent(Reason::kDisabled);
    const bool has_room = parent.has_room_for(reserved + kMemoryCalls);
    put_instance_memory(instance, has_room, fate, report);
    if (has_room) next_memory_ = (first + i + 1) % count;
  }
  if (!told) read_processes_in_turns(parent, fate);
}

// Each list costs calls: as many instances as there is room for, the others next time.
void FastLane::read_processes_in_turns(Conversation& parent, PollFate& fate) {
  Report& report = parent.report();
  const size_t count = instances_.size();
  const size_t most = has_read_processes_ ? count : 0;
  size_t done = 0;
  while (done < most && parent.has_room_for(kInstanceProcessCalls)) {
    read_instance_processes(instances_[next_instance_++ % count], fate, report);
    ++done;
  }
  for (size_t i = 0; i < count - done; ++i) {
    const Instance& waiting = instances_[(next_instance_ + i) % count];
    if (!waiting.count) continue;
    report.about(waiting.mig->device.uuid);
    report.keep(MetricId::kGpuProcesses, *waiting.count);
  }
}

void FastLane::read_instance_processes(Instance& instance, PollFate& fate, Report& report) {
  const model::Device& device = instance.mig->device;
  Conversation talk(*context_.api, instance.mig->handle, device.uuid, instance.memory, fate,
                    report);
  ProcessList list = instance.processes.read(talk);
  if (auto* processes = std::get_if<std::vector<model::Process>>(&list)) {
    for (model::Process& process : *processes) {
      process.gpu_instance = device.gpu_instance;
      process.compute_instance = device.compute_instance;
    }
  }
  report.about(device.uuid);
  put_processes(report, std::move(list));
  instance.count = report.newest();
}

// Names of processes that have not been listed for a while are let go.
void FastLane::forget_names(const Report& report) {
  for (const Report::Subject& subject : report.subjects()) {
    if (!subject.processes) continue;
    for (const model::Process& process : *subject.processes) {
      listed_pids_.insert(static_cast<uint32_t>(process.pid));
    }
  }
  if (report.now() - forgot_at_ < kForgetEvery) return;
  forgot_at_ = report.now();
  shared_.names.keep(listed_pids_);
  shared_.accounts.keep(listed_pids_);
  listed_pids_.clear();
}

}  // namespace gpusight::collect::nvml
