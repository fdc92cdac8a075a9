#include "collect/nvml/slow_lane.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;
using catalog::MetricId;

constexpr uint64_t kCallsForNames = 6;       // at least, where there are any
constexpr uint64_t kCallsForInstances = 10;  // likewise
constexpr uint64_t kCallsAnInstance = 2;
constexpr unsigned kProcessNameBytes = 256;
constexpr Duration kRingPause = std::chrono::milliseconds(500);
constexpr Duration kRingPeriod = std::chrono::seconds(4);  // with the pause below five seconds

}  // namespace

model::Event mig_event(const std::string& uuid) {
  return {.kind = EventKind::kMigChange,
          .severity = catalog::event_kind(EventKind::kMigChange).severity,
          .uuid = uuid};
}

SlowLane::SlowLane(const LaneContext& context, std::span<const std::unique_ptr<SharedGpu>> gpus,
                   size_t place)
    : context_(context),
      shared_(*gpus[place]),
      info_{.name = "nvml/" + shared_.gpu.device.uuid + "/slow",
            .cadence = LaneCadence::kSlow,
            .uuids = uuids_of(shared_.gpu)},
      mig_(shared_.gpu),
      topology_(context, gpus, place),
      readings_(*context.api, shared_, context.disabled) {
  const auto driver = parse_driver_version(shared_.gpu.device.driver);
  for (const MigDevice& mig : shared_.gpu.instances) {
    const auto in_the_same =
        std::ranges::count_if(shared_.gpu.instances, [&](const MigDevice& other) {
          return other.device.gpu_instance == mig.device.gpu_instance;
        });
    Instance instance{.uuid = mig.device.uuid};
    // The driver tells of GPU instances; what several devices share is nobody's own.
    if (mig.device.gpu_instance && in_the_same == 1 && !context.disabled.has_all(gpm_metrics())) {
      instance.activity = std::make_unique<GpmReader>(*context.api, driver, GpmPart::kUnits,
                                                      *mig.device.gpu_instance);
    }
    instances_.push_back(std::move(instance));
  }
}

void SlowLane::read_instances(Conversation& gpu) {
  const size_t count = instances_.size();
  const size_t first = next_instance_;
  for (size_t i = 0; i < count; ++i) {
    Instance& instance = instances_[(first + i) % count];
    gpu.report().about(instance.uuid);
    if (gpu.has_room_for(kCallsAnInstance)) {
      next_instance_ = (first + i + 1) % count;
      read_instance(gpu, instance);
      continue;
    }
    Gathering found(gpu.report());
    for (const model::Sample& sample : instance.last) {
      found.keep(sample.metric, sample.value, sample.label);
    }
    for (const MetricId metric : gpm_metrics()) found.put(metric, {Return::kNotReady, 0});
    found.finish(gpm_metrics());
  }
}

void SlowLane::read_instance(Conversation& gpu, Instance& instance) {
  Report& report = gpu.report();
  Gathering found(report);
  const size_t before = report.samples().size();
  if (instance.activity != nullptr) instance.activity->read(gpu, found);
  found.finish(gpm_metrics());
  const auto made = report.samples().subspan(before);
  instance.last.assign(made.begin(), made.end());
}

// From the kernel, not the driver: nothing of it wakes a device.
void SlowLane::read_sleep(Gathering& found) const {
  if (context_.kernel_files == KernelFiles::kOfOthers) return;
  const std::string& address = shared_.gpu.device.pci;
  if (!platform::pci_power(context_.root, address).may_sleep) return;
  const platform::PciTimes times = platform::pci_times(context_.root, address);
  if (times.awake) found.put(MetricId::kGpuAwakeSeconds, {Return::kSuccess, seconds(*times.awake)});
  if (times.asleep) {
    found.put(MetricId::kGpuAsleepSeconds, {Return::kSuccess, seconds(*times.asleep)});
  }
  found.report().holders(context_.holders->of(shared_.gpu.device, found.report().now()));
}

Verdict SlowLane::poll(Report& report) {
  const Gpu& gpu = shared_.gpu;
  PollFate fate;
  Conversation talk(*context_.api, gpu.handle, gpu.device.uuid, memory_, fate, report);
  report.about(gpu.device.uuid);
  const bool is_all_at_once = context_.pace == Pace::kAtOnce && !std::exchange(has_polled_, true);
  const uint64_t most_calls = is_all_at_once ? UINT64_MAX : report.calls() + kMostCalls;
  fate.most_calls = most_calls;
  Gathering found(report, &context_.disabled);
  read_sleep(found);
  const bool divided_anew = mig_.has_changed(talk, found);
  if (!divided_anew) read_all(talk, found, most_calls);
  if (fate.is_over()) {
    give_up(report, gpu.device.uuid, fate, slow_metrics());
    for (const Instance& instance : instances_) {
      give_up(report, instance.uuid, fate, gpm_metrics());
    }
    return fate.verdict();
  }
  if (!divided_anew) return Verdict::kGood;
  // Handles of MIG devices may by now name others: everything is listed again.
  report.event(mig_event(gpu.device.uuid));
  return Verdict::kGenerationLost;
}

// What comes last has some calls kept for it.
void SlowLane::read_all(Conversation& talk, Gathering& found, uint64_t most_calls) {
  const bool is_bounded = most_calls != UINT64_MAX;
  uint64_t& allowed = talk.fate().most_calls;
  if (!talk.fate().is_over()) {
    const uint64_t now = talk.report().calls();
    topology_.read(talk.report(), is_bounded ? now + TopologyReader::kMostCalls : most_calls);
  }
  const std::vector<uint32_t> names = shared_.names.wanted();
  const uint64_t for_names = is_bounded ? std::min<uint64_t>(kCallsForNames, names.size()) : 0;
  const uint64_t for_instances =
      is_bounded ? std::min(kCallsForInstances, kCallsAnInstance * instances_.size()) : 0;
  const uint64_t for_accounts = is_bounded ? shared_.accounts.wanted_calls() : 0;
  allowed = most_calls - for_names - for_instances - for_accounts;
  readings_.read(talk, found);
  shared_.accounts.set_on(found.number(MetricId::kGpuAccountingMode) == 1);
  if (const auto on = found.number(MetricId::kGpuConfidential)) shared_.is_confidential = *on == 1;
  allowed = most_calls - for_names - for_accounts;
  read_instances(talk);
  allowed = most_calls - for_names;
  talk.report().about(shared_.gpu.device.uuid);
  shared_.accounts.read(talk, shared_.driver_clock, *context_.clock);
  allowed = most_calls;
  look_up(names, talk);
}

void SlowLane::look_up(const std::vector<uint32_t>& pids, Conversation& talk) {
  if (context_.api->process_name == nullptr || talk.fate().is_over()) return;
  Report& report = talk.report();
  for (const uint32_t pid : pids) {
    if (!talk.has_room_for(1)) return;  // the others next time
    char name[kProcessNameBytes + 1] = {};
    const MonoTime start = report.now();
    const Return code = context_.api->process_name(pid, name, kProcessNameBytes);
    report.count_call(report.now() - start);
    if (code == Return::kGpuIsLost || ends_generation(code)) return;
    // A process without a name is not asked about again.
    shared_.names.answer(pid, code == Return::kSuccess ? clean_text(name) : "");
  }
}

RingLane::RingLane(const LaneContext& context, SharedGpu& shared)
    : context_(context),
      shared_(shared),
      info_{.name = "nvml/" + shared.gpu.device.uuid + "/rings",
            .cadence = LaneCadence::kEvents,
            .uuids = {shared.gpu.device.uuid}},
      reader_(*context.clock, shared.driver_clock, kRingPeriod) {}

Verdict RingLane::poll(Report& report) {
  if (drained_at_ && report.now() - *drained_at_ < kRingPeriod) {
    std::this_thread::sleep_for(kRingPause);
    return Verdict::kGood;
  }
  drained_at_ = report.now();
  PollFate fate;
  Conversation talk(*context_.api, shared_.gpu.handle, shared_.gpu.device.uuid, memory_, fate,
                    report);
  shared_.inbox.put(reader_.drain(talk, !shared_.gpu.mig_enabled, context_.disabled));
  // What a lost device means for its values is the fast lane's to say.
  return fate.verdict();
}

}  // namespace gpusight::collect::nvml
