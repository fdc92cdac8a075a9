#include "collect/nvml/slow_lane.h"

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;
using catalog::MetricId;

constexpr unsigned kMostMigDevices = 64;
constexpr size_t kNamesAPoll = 64;
constexpr uint64_t kCallsForNames = 6;      // at least
constexpr uint64_t kCallsForReadings = 24;  // at least
constexpr unsigned kProcessNameBytes = 256;
constexpr Duration kRingPause = std::chrono::milliseconds(500);
constexpr Duration kRingPeriod = std::chrono::seconds(4);  // with the pause below five seconds

}  // namespace

model::Event mig_event(const std::string& uuid) {
  return {.kind = EventKind::kMigChange,
          .severity = catalog::event_kind(EventKind::kMigChange).severity,
          .uuid = uuid};
}

SlowLane::SlowLane(const LaneContext& context, SharedGpu& shared)
    : context_(context),
      shared_(shared),
      info_{.name = "nvml/" + shared.gpu.device.uuid + "/slow",
            .cadence = LaneCadence::kSlow,
            .uuids = uuids_of(shared.gpu)},
      readings_(*context.api, shared) {
  const auto driver = parse_driver_version(shared.gpu.device.driver);
  for (const MigDevice& mig : shared.gpu.instances) {
    const auto in_the_same =
        std::ranges::count_if(shared.gpu.instances, [&](const MigDevice& other) {
          return other.device.gpu_instance == mig.device.gpu_instance;
        });
    Instance instance{.uuid = mig.device.uuid};
    // The driver tells of GPU instances; what several devices share is nobody's own.
    if (mig.device.gpu_instance && in_the_same == 1) {
      instance.activity = std::make_unique<GpmReader>(*context.api, driver, GpmPart::kUnits,
                                                      *mig.device.gpu_instance);
    }
    instances_.push_back(std::move(instance));
  }
}

void SlowLane::read_instances(Conversation& gpu) {
  for (Instance& instance : instances_) {
    gpu.report().about(instance.uuid);
    Gathering found(gpu.report());
    if (instance.activity != nullptr) instance.activity->read(gpu, found);
    found.finish(gpm_metrics());
  }
}

// From the kernel, not the driver: nothing of it wakes a device.
void SlowLane::read_power_times(Gathering& found) const {
  if (context_.kernel_files == KernelFiles::kOfOthers) return;
  const std::string& address = shared_.gpu.device.pci;
  if (!platform::pci_power(context_.root, address).may_sleep) return;
  const platform::PciTimes times = platform::pci_times(context_.root, address);
  if (times.awake) found.put(MetricId::kGpuAwakeSeconds, {Return::kSuccess, seconds(*times.awake)});
  if (times.asleep) {
    found.put(MetricId::kGpuAsleepSeconds, {Return::kSuccess, seconds(*times.asleep)});
  }
}

Verdict SlowLane::poll(Report& report) {
  const Gpu& gpu = shared_.gpu;
  PollFate fate;
  Conversation talk(*context_.api, gpu.handle, gpu.device.uuid, memory_, fate, report);
  report.about(gpu.device.uuid);
  const uint64_t most_calls = report.calls() + SlowReadings::kMostCalls;
  Gathering found(report);
  read_power_times(found);
  const bool divided_anew = mig_has_changed(talk, found, fate);
  // A GPU in very many parts costs more than that for these alone; the rest still has its turns.
  const uint64_t kept_back = std::min(most_calls, kCallsForNames + 2 * instances_.size());
  readings_.read(talk, found, std::max(most_calls - kept_back, report.calls() + kCallsForReadings));
  read_instances(talk);
  look_up_names(report, std::max(most_calls, report.calls() + kCallsForNames));
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

bool SlowLane::mig_has_changed(Conversation& talk, Gathering& found, PollFate& fate) {
  unsigned mode = 0;
  unsigned pending = 0;
  const Return code = talk.ask(Query::kMigMode, 0, talk.api().mig_mode, &mode, &pending);
  found.put(MetricId::kGpuMigMode, {code, static_cast<double>(mode)});
  found.put(MetricId::kGpuMigModePending, {code, static_cast<double>(pending)});
  if (code != Return::kSuccess) return false;
  if ((mode == 1) != shared_.gpu.mig_enabled) return true;
  if (mode != 1) return false;
  const auto now = instances_now(talk, fate);
  if (!now) return false;
  std::vector<std::string> before;
  for (const MigDevice& mig : shared_.gpu.instances) before.push_back(mig.device.uuid);
  return !std::ranges::is_permutation(before, *now);
}

std::optional<std::vector<std::string>> SlowLane::instances_now(Conversation& talk,
                                                                PollFate& fate) {
  const NvmlApi& api = talk.api();
  unsigned most = 0;
  const Return counted = talk.ask(Query::kMigHandle, 0xFFFF, api.mig_max_devices, &most);
  if (counted != Return::kSuccess) return std::nullopt;
  std::vector<std::string> uuids;
  for (unsigned i = 0; i < std::min(most, kMostMigDevices); ++i) {
    Handle handle = nullptr;
    const Return code = talk.ask(Query::kMigHandle, i, api.mig_handle, i, &handle);
    if (code == Return::kNotFound) continue;
    if (code != Return::kSuccess) return std::nullopt;
    HandleMemory nothing;
    const std::string none;
    Conversation instance(api, handle, none, nothing, fate, talk.report());
    char text[kUuidBytes + 1] = {};
    // A list with gaps would look like a change.
    if (instance.ask(Query::kUuid, 0, api.uuid, text, kUuidBytes) != Return::kSuccess) {
      return std::nullopt;
    }
    uuids.push_back(clean_text(text));
  }
  return uuids;
}

void SlowLane::look_up_names(Report& report, uint64_t most_calls) {
  if (context_.api->process_name == nullptr) return;
  std::vector<uint32_t> pids = shared_.names.wanted();
  if (pids.size() > kNamesAPoll) pids.resize(kNamesAPoll);
  for (const uint32_t pid : pids) {
    if (report.calls() >= most_calls) return;  // the others next time
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
  shared_.inbox.put(reader_.drain(talk, !shared_.gpu.mig_enabled));
  // What a lost device means for its values is the fast lane's to say.
  return fate.verdict();
}

}  // namespace gpusight::collect::nvml
