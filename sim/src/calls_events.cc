// Event sets: what happens to GPUs in the scenario, delivered to whoever registered before.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "call.h"
#include "events.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr std::uint64_t kSetMark = 0x6ULL << 40;
// The tables' name of this one differs from its siblings'.
constexpr std::uint64_t kMigChange = nvmlEventMigConfigChange;
constexpr std::uint64_t kAlways =
    nvmlEventTypePState | nvmlEventTypeXidCriticalError | nvmlEventTypeClock;
constexpr std::uint64_t kWithEcc = nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError;
// Errors that come faster than this make one event a second.
constexpr double kMostErrorEvents = 1;

struct Event {
  std::size_t gpu = 0;
  std::uint64_t type = 0;
  std::uint64_t data = 0;
  unsigned gpu_instance = kAllParts;  // all = of the GPU as a whole
  unsigned compute_instance = kAllParts;
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

// Something that happens at an instant; `key` tells it from all others of the set.
struct Occurrence {
  std::string key;
  std::uint64_t type = 0;
  std::uint64_t data = 0;
  double at = 0;
  unsigned gpu_instance = kAllParts;
  unsigned compute_instance = kAllParts;
};

std::string key_of(const LiveFault& one, double at, std::size_t gpu) {
  // One whose line was taken out meanwhile is still the same event.
  std::string_view identity = one.identity;
  if (identity.starts_with(kEnded)) identity.remove_prefix(kEnded.size());
  return std::string(identity) + '@' + std::to_string(at) + '@' + std::to_string(gpu);
}

// Errors that count up: one event when they begin, then at most one a second.
void add_error_events(const LiveFault& one, std::size_t gpu, double since, double t,
                      std::vector<Occurrence>& out) {
  const Fault& fault = one.fault;
  const std::uint64_t type =
      fault.code == 1 ? nvmlEventTypeDoubleBitEccError : nvmlEventTypeSingleBitEccError;
  const double begin = std::isinf(fault.at) ? 0 : fault.at;
  if (fault.amount > 0) out.push_back({key_of(one, begin, gpu), type, 0, begin});
  if (fault.per_second <= 0) return;
  const double step = 1 / std::min(fault.per_second, kMostErrorEvents);
  // Nobody waits for more than the latest of them.
  constexpr double kMostAtOnce = 1000;
  const double latest = std::floor((std::min(t, fault.until) - begin) / step);
  const double first = std::max({1.0, std::ceil((since - begin) / step), latest - kMostAtOnce});
  for (double n = first; begin + n * step <= std::min(t, fault.until); ++n) {
    out.push_back({key_of(one, begin + n * step, gpu), type, 0, begin + n * step});
  }
}

std::vector<Occurrence> occurrences(const Plan& plan, const Registration& wanted, double t) {
  std::vector<Occurrence> all;
  for (const LiveFault& one : plan.faults) {
    if (!one.hits_gpu(wanted.gpu)) continue;
    const double at = std::isinf(one.fault.at) ? 0 : one.fault.at;
    const bool silent = one.fault.what == static_cast<unsigned>(XidWhere::kKernelLog);
    if (one.fault.kind == FaultKind::kXid && !silent) {
      all.push_back({key_of(one, at, wanted.gpu), nvmlEventTypeXidCriticalError, one.fault.code, at,
                     one.fault.part, one.fault.inner_part});
    }
    if (one.fault.kind == FaultKind::kRecoveryAction) {
      all.push_back(
          {key_of(one, at, wanted.gpu), nvmlEventTypeGpuRecoveryAction, one.fault.what, at});
    }
    if (one.fault.kind == FaultKind::kEccErrors) {
      add_error_events(one, wanted.gpu, wanted.since, t, all);
    }
  }
  return all;
}

// The state whose change is an event of that type.
std::uint64_t state_of(const GpuModel& model, std::uint64_t type, double t) {
  if (type == nvmlEventTypePState) return model.performance_state(t);
  if (type == nvmlEventTypeClock) return model.graphics_mhz(t);
  if (type == nvmlEventTypePowerSourceChange) {
    const Fault* other = model.conditions().active(FaultKind::kPowerSource, t);
    return other == nullptr ? NVML_POWER_SOURCE_AC : other->what;
  }
  std::uint64_t instances = model.spec().mig ? 1 : 0;
  for (unsigned slot = 0; slot < model.spec().max_instances; ++slot) {
    const InstanceSpec* one = model.instance_in_slot(slot, t);
    instances = instances << 8 | (one == nullptr ? 0xFF : one->gpu_instance & 0xFF);
  }
  return instances;
}

constexpr std::uint64_t kStateTypes[] = {nvmlEventTypePState, nvmlEventTypeClock,
                                         nvmlEventTypePowerSourceChange, kMigChange};

bool next_change(Registration& wanted, const Plan& plan, double t, Event* event) {
  std::optional<GpuModel> made;
  for (const std::uint64_t type : kStateTypes) {
    if ((wanted.types & type) == 0) continue;
    if (!made) made.emplace(*plan.scenario, wanted.gpu, plan.conditions);
    const GpuModel& model = *made;
    const std::uint64_t now = state_of(model, type, t);
    std::uint64_t& last = wanted.last[type];
    if (now == last) continue;
    last = now;
    *event = {wanted.gpu, type, type == kMigChange ? 0 : now};
    return true;
  }
  return false;
}

// The first event that this set has not had yet; without one, `next` becomes the instant of the
// next one that is planned, if that is earlier.
bool next_event(EventSet& set, const Plan& plan, double t, Event* event, double* next) {
  for (Registration& wanted : set.registrations) {
    for (Occurrence& one : occurrences(plan, wanted, t)) {
      if ((wanted.types & one.type) == 0 || one.at < wanted.since) continue;
      if (one.at > t) *next = std::min(*next, one.at);
      if (one.at > t) continue;
      const auto& had = set.delivered;
      if (std::find(had.begin(), had.end(), one.key) != had.end()) continue;
      set.delivered.push_back(std::move(one.key));
      *event = {wanted.gpu, one.type, one.data, one.gpu_instance, one.compute_instance};
      return true;
    }
    if (next_change(wanted, plan, t, event)) return true;
  }
  return false;
}

// Rests until there is an event or the time is over.
nvmlReturn_t wait_for_event(Fn fn, nvmlEventSet_t handle, unsigned timeout_ms, Event* event) {
  {
    Call call(fn);
    if (const nvmlReturn_t code = call.enter_system(); code != NVML_SUCCESS) return code;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const std::shared_ptr<const Plan> plan = library().plan();
    if (plan == nullptr || !library().initialised()) return NVML_ERROR_UNINITIALIZED;
    const double t = library().now(*plan);
    double next = t + kLongestRest;
    {
      const std::lock_guard lock(library().events_mutex());
      EventSet* set = find_set(handle);
      if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
      if (next_event(*set, *plan, t, event, &next)) return NVML_SUCCESS;
    }
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return NVML_ERROR_TIMEOUT;
    library().rest(*plan, std::min(left, next - t));
  }
}

std::uint64_t supported_types(const Call& call) {
  std::uint64_t types = kAlways;
  if (call.board().ecc != Ecc::kNone) types |= kWithEcc;
  if (call.board().has_battery) types |= nvmlEventTypePowerSourceChange;
  if (call.board().mig_capable()) types |= kMigChange;
  if (!call.driver_older_than("590")) types |= nvmlEventTypeGpuRecoveryAction;
  return types;
}

// The states as they are now, so that only what changes later is an event.
Registration registration(const Call& call, std::uint64_t types) {
  Registration wanted{.gpu = call.gpu(), .types = types, .since = call.t(), .last = {}};
  for (const std::uint64_t type : kStateTypes) {
    wanted.last[type] = state_of(call.model(), type, call.t());
  }
  return wanted;
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
    call.put(types, static_cast<unsigned long long>(supported_types(call)));
    return kSuccess;
  });
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t handle) {
  return on_gpu(Fn::nvmlDeviceRegisterEvents, device, true, [&](Call& call) -> nvmlReturn_t {
    if ((types & ~supported_types(call)) != 0) return NVML_ERROR_NOT_SUPPORTED;
    const std::lock_guard lock(library().events_mutex());
    EventSet* set = find_set(handle);
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    set->registrations.push_back(registration(call, types));
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
  data->gpuInstanceId = event.gpu_instance;
  data->computeInstanceId = event.compute_instance;
  return NVML_SUCCESS;
}
