#include "collect/nvml/fast_lane.h"

#include <algorithm>

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Reason;

// Rings are worth draining about once a second; a shorter tick has current values in between.
constexpr Duration kDrainEvery = std::chrono::seconds(1);
// The driver's average is over about a second.
constexpr Duration kAverageWindow = std::chrono::seconds(1);
constexpr Duration kForgetEvery = std::chrono::minutes(1);
// The three lists of processes.
constexpr uint64_t kInstanceProcessCalls = 3;

bool belongs_to(const model::Process& process, const model::Device& instance) {
  return process.gpu_instance == instance.gpu_instance &&
         (!process.compute_instance || process.compute_instance == instance.compute_instance);
}

}  // namespace

FastLane::FastLane(const LaneContext& context, SharedGpu& shared, const CallMeter* opening)
    : context_(context),
      shared_(shared),
      opening_(opening),
      info_{.name = "nvml/" + shared.gpu.device.uuid + "/fast",
            .cadence = LaneCadence::kFast,
            .uuids = uuids_of(shared.gpu)},
      ring_reader_(*context.clock, std::max<Duration>(context.interval, kDrainEvery)),
      throttle_(shared.gpu.device, *shared.known),
      processes_(context_.root, shared.names) {
  for (const MigDevice& mig : shared.gpu.instances) {
    instances_.push_back({&mig, {}, ProcessReader(context_.root, shared.names)});
  }
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
  const uint64_t calls_before = report.calls();
  report.about(gpu.device.uuid);
  report.state(model::DeviceState::kActive);
  read_gpu(talk);
  read_instances(talk, fate, calls_before);
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
  report.set(MetricId::kGpuUp, 1);
  report.set(MetricId::kGpuAsleep, 0);
  if (shared_.no_events) report.absent(MetricId::kGpuXidErrors, *shared_.no_events);
  const RingSummaries summaries = rings(talk);
  if (shared_.gpu.mig_enabled) {
    no_utilization(report, Reason::kNotSupported);
  } else {
    read_utilization(talk, summaries);
  }
  read_memory(talk);
  read_temperature(talk);
  const Fields fields = read_fields(talk);
  put_memory_temperature(report, fields.memory_celsius);
  read_power(talk, fields, summaries);
  read_clocks(talk, summaries);
  fans_.read(talk);
  read_pcie_link(talk);
  read_performance_state(talk);
  read_throttle(talk);
  put_processes(report, processes_.read(talk));
}

RingSummaries FastLane::rings(Conversation& talk) {
  if (context_.interval > kLongestDrain) return shared_.inbox.take();
  const MonoTime now = talk.report().now();
  // Half a tick early is on time.
  if (drained_at_ && now - *drained_at_ + context_.interval / 2 < kDrainEvery) return {};
  drained_at_ = now;
  return ring_reader_.drain(talk, !shared_.gpu.mig_enabled);
}

void FastLane::read_power(Conversation& talk, const Fields& fields, const RingSummaries& rings) {
  Report& report = talk.report();
  Reading average = fields.average_watts;
  Reading instant = fields.instant_watts;
  Reading& usage = power_usage_is_average(shared_.gpu) ? average : instant;
  if (!usage.ok() && is_unsupported(usage.code)) {
    usage = ask_number(talk, Query::kPowerUsage, talk.api().power_usage);
    usage.number /= 1000;
  }
  put(report, MetricId::kGpuPowerAverage, average, kAverageWindow);
  put(report, MetricId::kGpuPowerInstant, instant);

  Reading energy = fields.energy_joules;
  if (!energy.ok() && is_unsupported(energy.code)) {
    unsigned long long millijoules = 0;
    energy.code = talk.ask(Query::kEnergy, 0, talk.api().energy, &millijoules);
    energy.number = static_cast<double>(millijoules) / 1000;
  }
  put(report, MetricId::kGpuEnergy, energy);
  std::optional<PowerMeter::Reading> metered;
  if (energy.ok()) {
    metered = meter_.update(energy.number, report.now());
  } else {
    meter_.reset();
  }
  const auto& ring = rings[static_cast<size_t>(Ring::kPower)];
  if (metered) {
    report.set(MetricId::kGpuPower, metered->watts, metered->window);
  } else if (average.ok()) {
    report.set(MetricId::kGpuPower, average.number, kAverageWindow);
  } else if (ring) {
    report.set(MetricId::kGpuPower, ring->mean() / 1000, ring->window);
  } else {
    put(report, MetricId::kGpuPower, instant);  // a board that knows nothing but the moment
  }
  if (ring) {
    report.set_range(MetricId::kGpuPower, ring->lowest / 1000, ring->highest / 1000, ring->window);
  }
}

void FastLane::read_throttle(Conversation& talk) {
  unsigned long long bits = 0;
  const Return code = talk.ask(Query::kClockReasons, 0, talk.api().clock_reasons, &bits);
  if (code == Return::kSuccess) {
    throttle_.update(bits, talk.report());
  } else {
    talk.report().absent(MetricId::kGpuThrottle, reason_of(code));
  }
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

void FastLane::read_instances(Conversation& parent, PollFate& fate, uint64_t calls_before) {
  if (instances_.empty() || fate.is_over()) return;
  Report& report = parent.report();
  for (Instance& instance : instances_) {
    const model::Device& device = instance.mig->device;
    Conversation talk(*context_.api, instance.mig->handle, device.uuid, instance.memory, fate,
                      report);
    report.about(device.uuid);
    report.state(model::DeviceState::kActive);
    report.set(MetricId::kGpuUp, 1);
    report.set(MetricId::kGpuAsleep, 0);
    no_utilization(report, Reason::kNotSupported);
    read_memory(talk);
  }
  if (share_out_processes(report)) return;
  // Each list costs calls: as many instances as the tick has room for, the others next time.
  size_t done = 0;
  do {
    read_instance_processes(instances_[next_instance_++ % instances_.size()], fate, report);
    ++done;
  } while (done < instances_.size() &&
           report.calls() - calls_before + kInstanceProcessCalls <= kMostCalls);
  for (size_t i = 0; i < instances_.size() - done; ++i) {
    const Instance& waiting = instances_[(next_instance_ + i) % instances_.size()];
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
  listed_pids_.clear();
}

}  // namespace gpusight::collect::nvml
