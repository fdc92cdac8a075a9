#include "collect/nvml/event_lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/log.h"
#include "catalog/event_kind.h"
#include "collect/nvml/slow_lane.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;

constexpr unsigned kWaitMs = 1000;
constexpr int kEventsAPoll = 64;
constexpr Duration kFrequentPause = std::chrono::seconds(10);
constexpr Duration kStormPause = std::chrono::milliseconds(100);

// What else than XID errors and changes of MIG the driver tells of.
struct EventRow {
  uint64_t mask;
  EventKind kind;
  catalog::Severity severity;
  std::string_view what = {};
  bool is_frequent = false;
};
using enum catalog::Severity;
constexpr EventRow kRows[] = {
    {kEventSingleBit, EventKind::kMemoryError, kInfo, "single_bit", true},
    {kEventDoubleBit, EventKind::kMemoryError, kError, "double_bit"},
    {kEventSingleBitStorm, EventKind::kMemoryError, kWarning, "single_bit_storm", true},
    {kEventPoison, EventKind::kMemoryError, kWarning, "poison"},
    {kEventFatalPoison, EventKind::kMemoryError, kError, "fatal_poison"},
    {kEventRetirement, EventKind::kMemoryRetirement, kWarning, "done"},
    {kEventRetirementFailure, EventKind::kMemoryRetirement, kError, "failed"},
    {kEventUnavailable, EventKind::kRecoveryAction, kError, "unavailable"},
    {kEventRecoveryAction, EventKind::kRecoveryAction, kError, "recovery_action"},
    {kEventPerformanceState, EventKind::kPerformanceState, kInfo, {}, true},
    {kEventClock, EventKind::kClockChange, kInfo, {}, true},
    {kEventPowerSource, EventKind::kPowerSource, kInfo},
};

const EventRow* find_row(uint64_t mask) {
  const auto row = std::ranges::find(kRows, mask, &EventRow::mask);
  return row == std::end(kRows) ? nullptr : &*row;
}

// What is worth registering: XID errors and MIG always, the rest if the device says it has it.
std::vector<uint64_t> masks_of(CallMeter& call, const NvmlApi& api, Handle gpu) {
  std::vector<uint64_t> masks{kEventXid, kEventMigChange};
  unsigned long long supported = 0;
  if (call(api.supported_events, gpu, &supported) != Return::kSuccess) return masks;
  for (const EventRow& row : kRows) {
    if ((supported & row.mask) != 0) masks.push_back(row.mask);
  }
  return masks;
}

// Which device and mask the driver chokes on; such a set cannot be used any more.
using Choked = std::set<std::pair<const SharedGpu*, uint64_t>>;

enum class Registered : uint8_t { kDone, kStartAgain };

// Each mask by itself: one that a device does not support must not cost the others.
Registered register_gpu(CallMeter& call, const NvmlApi& api, EventSet set, SharedGpu& gpu,
                        Choked& choked, unsigned& done) {
  for (const uint64_t mask : masks_of(call, api, gpu.gpu.handle)) {
    if (choked.contains({&gpu, mask})) continue;
    const Return code =
        call(api.register_events, gpu.gpu.handle, static_cast<unsigned long long>(mask), set);
    if (code == Return::kUnknown) {
      choked.emplace(&gpu, mask);
      if (mask == kEventXid) gpu.no_events = reason_of(code);
      return Registered::kStartAgain;
    }
    done += code == Return::kSuccess;
    if (mask != kEventXid) continue;
    gpu.no_events.reset();
    if (code != Return::kSuccess) gpu.no_events = reason_of(code);
  }
  return Registered::kDone;
}

model::Event xid_event(const std::string& uuid, int64_t code) {
  const std::string number = std::to_string(code);
  const std::string_view name = catalog::xid_name(static_cast<uint64_t>(code));
  return {.kind = EventKind::kXid,
          .severity = catalog::xid_severity(static_cast<uint64_t>(code)),
          .uuid = uuid,
          .code = code,
          .fields = {{"xid", number}},
          .arguments = {number, name.empty() ? "unknown" : std::string(name)}};
}

model::Event xid_event(const std::string& uuid, const EventData& data) {
  model::Event event = xid_event(uuid, static_cast<int64_t>(data.data));
  if (data.gpu_instance != kNotAMigInstance) {
    event.fields.emplace_back("gpu_instance", std::to_string(data.gpu_instance));
  }
  if (data.compute_instance != kNotAMigInstance) {
    event.fields.emplace_back("compute_instance", std::to_string(data.compute_instance));
  }
  return event;
}

void add_field(model::Event& event, std::string_view name, std::string text) {
  if (!text.empty()) event.fields.emplace_back(name, std::move(text));
}

// An error as the kernel module wrote it down.
model::Event logged_event(const std::string& uuid, const NvrmMessage& message) {
  model::Event event = xid_event(uuid, message.code);
  if (message.kind == NvrmMessage::Kind::kNvswitch) {
    event.kind = EventKind::kNvswitchError;
    event.severity = catalog::event_kind(event.kind).severity;
    event.fields = {{"sxid", std::to_string(message.code)}, {"pci", message.pci}};
    event.arguments = {message.pci, std::to_string(message.code), message.text};
  }
  if (message.pid) add_field(event, "pid", std::to_string(*message.pid));
  add_field(event, "process", message.process);
  add_field(event, "text", message.text);
  return event;
}

// Lines that the kernel had overwritten before they were read.
model::Event left_out_event(const std::string& lines) {
  constexpr const char* kWhat = "kernel_log";
  return {.kind = EventKind::kEventsLeftOut,
          .severity = catalog::event_kind(EventKind::kEventsLeftOut).severity,
          .fields = {{"count", lines}, {"what", kWhat}},
          .arguments = {lines, kWhat}};
}

}  // namespace

std::unique_ptr<DriverEvents> DriverEvents::create(
    CallMeter& call, const NvmlApi& api, std::span<const std::unique_ptr<SharedGpu>> gpus) {
  const bool can_wait = api.event_wait_v2 != nullptr || api.event_wait_v1 != nullptr;
  Choked choked;
  for (;;) {
    EventSet set = nullptr;
    const Return created = can_wait ? call(api.event_set_create, &set) : Return::kFunctionNotFound;
    if (created != Return::kSuccess) {
      for (const auto& gpu : gpus) gpu->no_events = reason_of(created);
      return nullptr;
    }
    std::unique_ptr<DriverEvents> events(new DriverEvents(api, set));
    bool start_again = false;
    unsigned any = 0;  // registered
    for (const auto& gpu : gpus) {
      start_again = register_gpu(call, api, set, *gpu, choked, any) == Registered::kStartAgain;
      if (start_again) break;
    }
    if (start_again) continue;  // one more is excluded each time, so this ends
    return any > 0 ? std::move(events) : nullptr;
  }
}

DriverEvents::~DriverEvents() {
  if (api_.event_set_free != nullptr) api_.event_set_free(set_);
}

EventLane::EventLane(const LaneContext& context, std::span<const std::unique_ptr<SharedGpu>> gpus,
                     std::unique_ptr<DriverEvents> events)
    : context_(context),
      info_{.name = "nvml/events", .cadence = LaneCadence::kEvents},
      events_(std::move(events)) {
  for (const auto& gpu : gpus) {
    known_ = gpu->known;
    uuid_by_pci_[gpu->gpu.device.pci] = gpu->gpu.device.uuid;
    uuids_.emplace_back(gpu->gpu.handle, gpu->gpu.device.uuid);
    for (const MigDevice& mig : gpu->gpu.instances) {
      uuids_.emplace_back(mig.handle, gpu->gpu.device.uuid);
    }
  }
}

Return EventLane::wait(EventData& data, unsigned timeout_ms, Report& report) {
  const NvmlApi& api = *context_.api;
  const MonoTime start = report.now();
  Return code = Return::kSuccess;
  if (api.event_wait_v2 != nullptr) {
    code = api.event_wait_v2(events_->set(), &data, timeout_ms);
  } else {
    EventDataV1 old{};
    code = api.event_wait_v1(events_->set(), &old, timeout_ms);
    data = {.device = old.device,
            .type = old.type,
            .data = old.data,
            .gpu_instance = kNotAMigInstance,
            .compute_instance = kNotAMigInstance};
  }
  // Waiting is what the call is for: as time in the driver only what exceeds it counts.
  const Duration took = report.now() - start;
  const Duration asked = std::chrono::milliseconds(timeout_ms);
  report.count_call(code == Return::kTimeout && took <= asked * 2 ? Duration{} : took);
  return code;
}

std::string EventLane::uuid_of(Handle handle) const {
  for (const auto& [known, uuid] : uuids_) {
    if (known == handle) return uuid;
  }
  return {};
}

std::string EventLane::uuid_at(const std::string& pci) const {
  const auto at = uuid_by_pci_.find(pci);
  if (at != uuid_by_pci_.end()) return at->second;
  const auto device = known_ == nullptr ? std::nullopt : known_->by_pci(pci);
  return device ? device->uuid : std::string();
}

bool EventLane::is_due(const model::Event& event, MonoTime now, uint64_t& more) {
  const auto [at, is_new] = frequent_.try_emplace({event.uuid, event.code});
  Frequent& known = at->second;
  if (!is_new && now - known.told_at < kFrequentPause) {
    ++known.more;
    return false;
  }
  known.told_at = now;
  more = std::exchange(known.more, 0);
  return true;
}

void EventLane::tell_xid(model::Event event, XidWay way, Report& report) {
  const bool may_be_known = context_.nvrm != nullptr;
  if (may_be_known && !context_.nvrm->merge().is_news(event.uuid, event.code, way, report.now())) {
    return;
  }
  report.event(std::move(event));
}

bool EventLane::tell(const EventData& data, Report& report) {
  const std::string uuid = uuid_of(data.device);
  if (data.type == kEventXid && data.data > uint64_t{kHighestXid}) {
    report.count_implausible();
    return true;
  }
  if (data.type == kEventXid) {
    tell_xid(xid_event(uuid, data), XidWay::kDriver, report);
    return true;
  }
  if (data.type == kEventMigChange) {
    report.event(mig_event(uuid));
    return false;
  }
  const EventRow* row = find_row(data.type);
  if (row == nullptr) return true;
  model::Event event{.kind = row->kind,
                     .severity = row->severity,
                     .uuid = uuid,
                     .code = static_cast<int64_t>(row->mask)};
  if (!row->what.empty()) {
    event.fields = {{"what", std::string(row->what)}};
    event.arguments = {std::string(row->what)};
  }
  uint64_t more = 0;
  if (row->is_frequent && !is_due(event, report.now(), more)) return true;
  if (more > 0) add_field(event, "untold_before", std::to_string(more));
  report.event(std::move(event));
  return true;
}

void EventLane::read_log(Report& report) {
  if (context_.nvrm == nullptr) return;
  for (const NvrmMessage& message : context_.nvrm->read()) {
    const bool is_xid = message.kind == NvrmMessage::Kind::kXid;
    model::Event event = logged_event(is_xid ? uuid_at(message.pci) : "", message);
    if (is_xid) {
      tell_xid(std::move(event), message.way, report);
    } else {
      report.event(std::move(event));
    }
  }
  if (const uint64_t lost = context_.nvrm->take_lost(); lost > 0) {
    report.event(left_out_event(std::to_string(lost)));
  }
}

Verdict EventLane::poll(Report& report) {
  read_log(report);
  if (events_ == nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kWaitMs));
    return Verdict::kGood;
  }
  for (int i = 0; i < kEventsAPoll; ++i) {
    EventData data{.gpu_instance = kNotAMigInstance, .compute_instance = kNotAMigInstance};
    const Return code = wait(data, i == 0 ? kWaitMs : 0, report);
    if (code == Return::kSuccess) {
      if (!tell(data, report)) return Verdict::kGenerationLost;
      continue;
    }
    if (code == Return::kTimeout) return Verdict::kGood;
    // A lost GPU, a dead library, or a driver that fails at once each time: this lane is polled
    // again as soon as it returns, and closing may have to wait for another one, so the point is
    // not to ask in a tight circle.
    std::this_thread::sleep_for(std::chrono::milliseconds(kWaitMs));
    // Which GPU is lost is for the fast lanes to say.
    return ends_generation(code) ? Verdict::kGenerationLost : Verdict::kGood;
  }
  // A storm: the driver keeps what comes meanwhile, or drops it, but nobody is kept busy by it.
  std::this_thread::sleep_for(kStormPause);
  return Verdict::kGood;
}

}  // namespace gpusight::collect::nvml
