// Event sets: Xid errors of the scenario, delivered to whoever registered before they happened.
#include <time.h>

#include <algorithm>
#include <cmath>

#include "call.h"
#include "events.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr std::uint64_t kSetMark = 0x6ULL << 40;
constexpr std::uint64_t kSupported = nvmlEventTypeSingleBitEccError |
                                     nvmlEventTypeDoubleBitEccError | nvmlEventTypePState |
                                     nvmlEventTypeXidCriticalError | nvmlEventTypeClock;
constexpr std::uint64_t kSupportedGeForce =
    nvmlEventTypePState | nvmlEventTypeXidCriticalError | nvmlEventTypeClock;
// The real call sleeps in the kernel until something happens: what waiting costs here is to be near
// that.
constexpr std::uint64_t kPollMs = 50;

struct Event {
  std::size_t gpu = 0;
  std::uint64_t type = 0;
  std::uint64_t data = 0;
};

nvmlEventSet_t set_handle(std::size_t at) {
  return reinterpret_cast<nvmlEventSet_t>(kSetMark | (at + 1) << 4);
}

// The set behind a handle; null for anything else. Under events_mutex().
EventSet* find_set(nvmlEventSet_t handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  auto& sets = library().event_sets();
  if (bits >> 40 != kSetMark >> 40) return nullptr;
  const std::size_t at = (bits & 0xFFFFFFFFFF) >> 4;
  return at == 0 || at > sets.size() ? nullptr : sets[at - 1].get();
}

// The first event that this set has not had yet.
bool next_event(EventSet& set, const Plan& plan, double t, Event* event) {
  for (const LiveFault& one : plan.faults) {
    if (one.fault.kind != FaultKind::kXid) continue;
    const double at = std::isinf(one.fault.at) ? 0 : one.fault.at;
    for (const Registration& wanted : set.registrations) {
      if ((wanted.types & nvmlEventTypeXidCriticalError) == 0 || !one.hits_gpu(wanted.gpu))
        continue;
      if (at > t || at < wanted.since) continue;
      // One whose line was taken out meanwhile is still the same event.
      std::string_view identity = one.identity;
      if (identity.starts_with(kEnded)) identity.remove_prefix(kEnded.size());
      std::string key(identity);
      key += '@' + std::to_string(at) + '@' + std::to_string(wanted.gpu);
      const auto& had = set.delivered;
      if (std::find(had.begin(), had.end(), key) != had.end()) continue;
      set.delivered.push_back(std::move(key));
      *event = {wanted.gpu, nvmlEventTypeXidCriticalError, one.fault.code};
      return true;
    }
  }
  return false;
}

// Looks now and then until there is an event or the time is over.
nvmlReturn_t wait_for_event(Fn fn, nvmlEventSet_t handle, unsigned timeout_ms, Event* event) {
  {
    Call call(fn);
    if (const nvmlReturn_t code = call.enter_system(); code != NVML_SUCCESS) return code;
  }
  for (std::uint64_t waited = 0;;) {
    const std::shared_ptr<const Plan> plan = library().plan();
    if (plan == nullptr || !library().initialised()) return NVML_ERROR_UNINITIALIZED;
    {
      const std::lock_guard lock(library().events_mutex());
      EventSet* set = find_set(handle);
      if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
      if (next_event(*set, *plan, library().now(*plan), event)) return NVML_SUCCESS;
    }
    if (waited >= timeout_ms) return NVML_ERROR_TIMEOUT;
    const std::uint64_t rest_ms = std::min<std::uint64_t>(kPollMs, timeout_ms - waited);
    const timespec rest{0, static_cast<long>(rest_ms) * 1000000L};
    nanosleep(&rest, nullptr);
    waited += rest_ms;
  }
}

std::uint64_t supported_types(const Board& board) {
  return board.ecc == Ecc::kNone ? kSupportedGeForce : kSupported;
}

}  // namespace

std::size_t open_event_sets(Library& library) {
  const std::lock_guard lock(library.events_mutex());
  const auto& sets = library.event_sets();
  return static_cast<std::size_t>(
      std::count_if(sets.begin(), sets.end(), [](const auto& set) { return set != nullptr; }));
}

}  // namespace gpusight::sim

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  return on_system(Fn::nvmlEventSetCreate, set != nullptr, [&](Call&) {
    const std::lock_guard lock(library().events_mutex());
    auto& sets = library().event_sets();
    sets.push_back(std::make_shared<EventSet>());
    sets.back()->generation = library().generation();
    *set = set_handle(sets.size() - 1);
    return kSuccess;
  });
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t handle) {
  return on_system(Fn::nvmlEventSetFree, true, [&](Call&) -> nvmlReturn_t {
    const std::lock_guard lock(library().events_mutex());
    EventSet* set = find_set(handle);
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (auto& one : library().event_sets()) {
      if (one.get() == set) one.reset();
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* types) {
  return on_gpu(Fn::nvmlDeviceGetSupportedEventTypes, device, types != nullptr, [&](Call& call) {
    call.put(types, static_cast<unsigned long long>(supported_types(call.board())));
    return kSuccess;
  });
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t handle) {
  return on_gpu(Fn::nvmlDeviceRegisterEvents, device, true, [&](Call& call) -> nvmlReturn_t {
    if ((types & ~supported_types(call.board())) != 0) return NVML_ERROR_NOT_SUPPORTED;
    const std::lock_guard lock(library().events_mutex());
    EventSet* set = find_set(handle);
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    set->registrations.push_back({.gpu = call.gpu(), .types = types, .since = call.t()});
    return NVML_SUCCESS;
  });
}

// The oldest form: the first 24 bytes of the event only.
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t handle, nvmlEventData_t* data,
                              unsigned int timeout_ms) {
  if (data == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  Event event;
  const nvmlReturn_t code = wait_for_event(Fn::nvmlEventSetWait, handle, timeout_ms, &event);
  if (code != NVML_SUCCESS) return code;
  data->device = make_handle({library().generation(), event.gpu, std::nullopt});
  data->eventType = event.type;
  data->eventData = event.data;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t handle, nvmlEventData_t* data,
                                 unsigned int timeout_ms) {
  if (data == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  Event event;
  const nvmlReturn_t code = wait_for_event(Fn::nvmlEventSetWait_v2, handle, timeout_ms, &event);
  if (code != NVML_SUCCESS) return code;
  data->device = make_handle({library().generation(), event.gpu, std::nullopt});
  data->eventType = event.type;
  data->eventData = event.data;
  data->gpuInstanceId = 0xFFFFFFFF;
  data->computeInstanceId = 0xFFFFFFFF;
  return NVML_SUCCESS;
}
