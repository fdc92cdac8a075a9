// Events of the driver itself: a GPU bound to it or taken from it.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "call.h"
#include "events.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr std::uint64_t kSetMark = 0xAULL << 40;
constexpr std::uint64_t kUnbind = 1;
constexpr std::uint64_t kBind = 2;

nvmlSystemEventSet_t set_handle(std::size_t at) {
  return reinterpret_cast<nvmlSystemEventSet_t>(kSetMark | (at + 1) << 4);
}

// The set behind a handle; null for anything else. Under events_mutex().
EventSet* find_set(nvmlSystemEventSet_t handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  auto& sets = library().event_sets();
  if (bits >> 40 != kSetMark >> 40) return nullptr;
  const std::size_t at = (bits & 0xFFFFFFFFFF) >> 4;
  if (at == 0 || at > sets.size() || sets[at - 1] == nullptr) return nullptr;
  return sets[at - 1]->of_system ? sets[at - 1].get() : nullptr;
}

// As the driver numbers GPUs outside of NVML: from the PCI address.
unsigned gpu_id(const GpuSpec& gpu) { return gpu.pci_domain << 16 | gpu.pci_bus << 8; }

// A GPU that is lost has been taken from the driver, and is bound again when it comes back.
bool next_event(EventSet& set, const Plan& plan, double t, nvmlSystemEventData_v1_t* data) {
  for (const LiveFault& one : plan.faults) {
    if (one.fault.kind != FaultKind::kGpuLost) continue;
    for (std::size_t gpu = 0; gpu < plan.scenario->gpus.size(); ++gpu) {
      if (!one.hits_gpu(gpu)) continue;
      for (const std::uint64_t type : {kUnbind, kBind}) {
        const double at = type == kUnbind ? one.fault.at : one.fault.until;
        std::string key = one.identity + '@' + std::to_string(gpu) + '@' + std::to_string(type);
        const bool due = !std::isinf(at) && at <= t && at >= set.registrations.front().since;
        const bool wanted = (set.registrations.front().types & type) != 0;
        const bool had =
            std::find(set.delivered.begin(), set.delivered.end(), key) != set.delivered.end();
        if (!due || !wanted || had) continue;
        set.delivered.push_back(std::move(key));
        *data = {.eventType = type, .gpuId = gpu_id(plan.scenario->gpus[gpu])};
        return true;
      }
    }
  }
  return false;
}

nvmlReturn_t wait_on(nvmlSystemEventSetWaitRequest_v1_t* request) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(request->timeoutms);
  for (;;) {
    const std::shared_ptr<const Plan> plan = library().plan();
    if (plan == nullptr || !library().initialised()) return NVML_ERROR_UNINITIALIZED;
    {
      const std::lock_guard lock(library().events_mutex());
      EventSet* set = find_set(request->set);
      if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
      request->numEvent = 0;
      while (!set->registrations.empty() && request->numEvent < request->dataSize &&
             next_event(*set, *plan, library().now(*plan), &request->data[request->numEvent])) {
        ++request->numEvent;
      }
      if (request->numEvent > 0) return NVML_SUCCESS;
    }
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return NVML_ERROR_TIMEOUT;
    library().rest(*plan, std::min(left, kLongestRest));
  }
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t* request) {
  return on_system(Fn::nvmlSystemEventSetCreate, request != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!call.takes<nvmlSystemEventSetCreateRequest_t>(request->version, 1)) {
                       return call.version_mismatch();
                     }
                     const std::lock_guard lock(library().events_mutex());
                     auto& sets = library().event_sets();
                     sets.push_back(std::make_shared<EventSet>());
                     sets.back()->generation = library().generation();
                     sets.back()->of_system = true;
                     request->set = set_handle(sets.size() - 1);
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t* request) {
  return on_system(Fn::nvmlSystemEventSetFree, request != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!call.takes<nvmlSystemEventSetFreeRequest_t>(request->version, 1)) {
      return call.version_mismatch();
    }
    const std::lock_guard lock(library().events_mutex());
    EventSet* set = find_set(request->set);
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (auto& one : library().event_sets()) {
      if (one.get() == set) one.reset();
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t* request) {
  return on_system(Fn::nvmlSystemRegisterEvents, request != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!call.takes<nvmlSystemRegisterEventRequest_t>(request->version, 1)) {
                       return call.version_mismatch();
                     }
                     if ((request->eventTypes & ~(kUnbind | kBind)) != 0) {
                       return NVML_ERROR_NOT_SUPPORTED;
                     }
                     const std::lock_guard lock(library().events_mutex());
                     EventSet* set = find_set(request->set);
                     if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                     set->registrations = {
                         {.gpu = 0, .types = request->eventTypes, .since = call.t(), .last = {}}};
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t* request) {
  {
    Call call(Fn::nvmlSystemEventSetWait);
    if (const nvmlReturn_t code = call.enter_system(); code != NVML_SUCCESS) return code;
    if (request == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!call.takes<nvmlSystemEventSetWaitRequest_t>(request->version, 1)) {
      return call.version_mismatch();
    }
    if (request->data == nullptr || request->dataSize == 0) return NVML_ERROR_INVALID_ARGUMENT;
  }
  return wait_on(request);
}
