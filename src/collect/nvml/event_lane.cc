#include "collect/nvml/event_lane.h"

#include <fmt/format.h>

#include <set>
#include <thread>

#include "base/log.h"
#include "catalog/event_kind.h"
#include "collect/nvml/slow_lane.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;

constexpr unsigned kWaitMs = 500;
constexpr int kEventsAPoll = 64;
constexpr uint64_t kMasks[] = {kEventXid, kEventMigChange};

// Which device and mask the driver chokes on; such a set cannot be used any more.
using Choked = std::set<std::pair<const SharedGpu*, uint64_t>>;

enum class Registered : uint8_t { kDone, kStartAgain };

// Each mask by itself: one that a device does not support must not cost the others.
Registered register_gpu(CallMeter& call, const NvmlApi& api, EventSet set, SharedGpu& gpu,
                        Choked& choked) {
  for (const uint64_t mask : kMasks) {
    if (choked.contains({&gpu, mask})) continue;
    const Return code =
        call(api.register_events, gpu.gpu.handle, static_cast<unsigned long long>(mask), set);
    if (code == Return::kUnknown) {
      choked.emplace(&gpu, mask);
      if (mask == kEventXid) gpu.no_events = reason_of(code);
      return Registered::kStartAgain;
    }
    if (mask != kEventXid) continue;
    gpu.no_events.reset();
    if (code != Return::kSuccess) gpu.no_events = reason_of(code);
  }
  return Registered::kDone;
}

model::Event xid_event(const std::string& uuid, const EventData& data) {
  const std::string number = std::to_string(data.data);
  const std::string_view name = catalog::xid_name(data.data);
  model::Event event{.kind = EventKind::kXid,
                     .severity = catalog::event_kind(EventKind::kXid).severity,
                     .uuid = uuid,
                     .code = static_cast<int64_t>(data.data),
                     .fields = {{"xid", number}},
                     .arguments = {number, name.empty() ? "unknown" : std::string(name)}};
  if (data.gpu_instance != kNotAMigInstance) {
    event.fields.emplace_back("gpu_instance", std::to_string(data.gpu_instance));
  }
  if (data.compute_instance != kNotAMigInstance) {
    event.fields.emplace_back("compute_instance", std::to_string(data.compute_instance));
  }
  return event;
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
    bool any = false;
    for (const auto& gpu : gpus) {
      start_again = register_gpu(call, api, set, *gpu, choked) == Registered::kStartAgain;
      if (start_again) break;
      any |= !gpu->no_events;
    }
    if (start_again) continue;  // one more is excluded each time, so this ends
    return any ? std::move(events) : nullptr;
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

bool EventLane::tell(const EventData& data, Report& report) {
  const std::string uuid = uuid_of(data.device);
  if (data.type == kEventXid) report.event(xid_event(uuid, data));
  if (data.type != kEventMigChange) return true;
  report.event(mig_event(uuid));
  return false;
}

Verdict EventLane::poll(Report& report) {
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
  return Verdict::kGood;
}

}  // namespace gpusight::collect::nvml
