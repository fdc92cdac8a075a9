// Clocks, performance states and what holds them back.
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kClockTypes = 4;  // graphics, SM, memory, video

unsigned current_clock(const Call& call, unsigned type) {
  if (type == NVML_CLOCK_MEM) return call.model().memory_mhz(call.t());
  if (type == NVML_CLOCK_VIDEO) return call.model().video_mhz(call.t());
  return call.model().graphics_mhz(call.t());
}

unsigned highest_clock(const Call& call, unsigned type) {
  if (type == NVML_CLOCK_MEM) return call.board().max_memory_mhz;
  if (type == NVML_CLOCK_VIDEO) return call.board().max_video_mhz;
  return call.board().max_graphics_mhz;
}

nvmlReturn_t application_clock(const Call& call, unsigned type, unsigned* out) {
  if (!call.driver_older_than("590")) return NVML_ERROR_DEPRECATED;
  if (call.board().application_graphics_mhz == 0) return NVML_ERROR_NOT_SUPPORTED;
  if (type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
  call.put(out, type == NVML_CLOCK_MEM ? call.board().max_memory_mhz
                                       : call.board().application_graphics_mhz);
  return NVML_SUCCESS;
}

// Parts without a memory of their own have no clock for it.
bool has_clock(const Call& call, unsigned type) {
  return type != NVML_CLOCK_MEM || call.board().max_memory_mhz > 0;
}

nvmlReturn_t clock_by_id(const Call& call, unsigned type, unsigned id, unsigned* out) {
  switch (id) {
    case NVML_CLOCK_ID_CURRENT:
      if (!has_clock(call, type)) return NVML_ERROR_NOT_SUPPORTED;
      call.put(out, current_clock(call, type));
      return NVML_SUCCESS;
    case NVML_CLOCK_ID_APP_CLOCK_TARGET:
    case NVML_CLOCK_ID_APP_CLOCK_DEFAULT: return application_clock(call, type, out);
    case NVML_CLOCK_ID_CUSTOMER_BOOST_MAX:
      if (type == NVML_CLOCK_MEM || call.board().application_graphics_mhz == 0) {
        return NVML_ERROR_NOT_SUPPORTED;
      }
      call.put(out, highest_clock(call, type));
      return NVML_SUCCESS;
    default: return NVML_ERROR_INVALID_ARGUMENT;
  }
}

std::uint64_t reasons(const Call& call) {
  const std::uint64_t held = call.model().throttle_reasons(call.t());
  return call.model().idle(call.t()) ? held | nvmlClocksEventReasonGpuIdle : held;
}

nvmlReturn_t current_reasons(Fn fn, nvmlDevice_t device, unsigned long long* out) {
  return one_number(fn, device, out, [](Call& call) { return reasons(call); });
}

nvmlReturn_t supported_reasons(Fn fn, nvmlDevice_t device, unsigned long long* out) {
  return one_number(fn, device, out,
                    [](Call& call) { return call.board().has_display ? 0x1EDULL : 0x1FFULL; });
}

// The policies have holes in their numbers.
std::optional<Held> held_by(unsigned policy) {
  constexpr Held kFirst[] = {Held::kPower, Held::kThermal, Held::kSyncBoost,
                             Held::kBoard, Held::kIdle,    Held::kReliability};
  if (policy < std::size(kFirst)) return kFirst[policy];
  if (policy == NVML_PERF_POLICY_TOTAL_APP_CLOCKS) return Held::kApplication;
  if (policy == NVML_PERF_POLICY_TOTAL_BASE_CLOCKS) return Held::kBase;
  return std::nullopt;
}

template <class Body>
nvmlReturn_t clock_number(Fn fn, nvmlDevice_t device, unsigned type, unsigned* out, Body body) {
  return on_gpu(fn, device, out != nullptr && type < kClockTypes,
                [&](Call& call) { return body(call); });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned int* clock) {
  return clock_number(Fn::nvmlDeviceGetClockInfo, device, type, clock, [&](Call& call) {
    return clock_by_id(call, type, NVML_CLOCK_ID_CURRENT, clock);
  });
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned int* clock) {
  return clock_number(Fn::nvmlDeviceGetMaxClockInfo, device, type, clock,
                      [&](Call& call) -> nvmlReturn_t {
                        if (!has_clock(call, type)) return NVML_ERROR_NOT_SUPPORTED;
                        call.put(clock, highest_clock(call, type));
                        return NVML_SUCCESS;
                      });
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type,
                                                unsigned int* clock) {
  return clock_number(Fn::nvmlDeviceGetMaxCustomerBoostClock, device, type, clock, [&](Call& call) {
    return clock_by_id(call, type, NVML_CLOCK_ID_CUSTOMER_BOOST_MAX, clock);
  });
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                unsigned int* clock) {
  return clock_number(Fn::nvmlDeviceGetClock, device, type, clock,
                      [&](Call& call) { return clock_by_id(call, type, id, clock); });
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned int* clock) {
  return clock_number(Fn::nvmlDeviceGetApplicationsClock, device, type, clock,
                      [&](Call& call) { return application_clock(call, type, clock); });
}

nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                                   unsigned int* clock) {
  return clock_number(Fn::nvmlDeviceGetDefaultApplicationsClock, device, type, clock,
                      [&](Call& call) { return application_clock(call, type, clock); });
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* out) {
  return current_reasons(Fn::nvmlDeviceGetCurrentClocksThrottleReasons, device, out);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* out) {
  return current_reasons(Fn::nvmlDeviceGetCurrentClocksEventReasons, device, out);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device,
                                                         unsigned long long* out) {
  return supported_reasons(Fn::nvmlDeviceGetSupportedClocksThrottleReasons, device, out);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device,
                                                      unsigned long long* out) {
  return supported_reasons(Fn::nvmlDeviceGetSupportedClocksEventReasons, device, out);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) {
  return one_number(Fn::nvmlDeviceGetPerformanceState, device, state,
                    [](Call& call) { return call.model().performance_state(call.t()); });
}

nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
                                             nvmlGpuDynamicPstatesInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetDynamicPstatesInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
                  const GpuModel& model = call.model();
                  const double shares[] = {model.busy(call.t(), 1), model.memory_busy(call.t(), 1),
                                           model.decoder(call.t(), 1), 0};
                  info->flags = 1;
                  for (auto& one : info->utilization) one = {};
                  for (unsigned i = 0; i < std::size(shares); ++i) {
                    info->utilization[i].bIsPresent = 1;
                    info->utilization[i].percentage =
                        static_cast<unsigned>(std::lround(shares[i] * 100));
                  }
                  return NVML_SUCCESS;
                });
}

// Time held back since the driver was loaded.
nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy,
                                          nvmlViolationTime_t* time) {
  return on_gpu(
      Fn::nvmlDeviceGetViolationStatus, device, time != nullptr, [&](Call& call) -> nvmlReturn_t {
        const std::optional<Held> by = held_by(policy);
        if (!by) return NVML_ERROR_INVALID_ARGUMENT;
        const double held = call.model().held_seconds(*by, call.t());
        time->referenceTime = library().stamp_us(call.t());
        call.put<unsigned long long>(&time->violationTime, static_cast<std::uint64_t>(held * 1e9),
                                     "violationTime");
        return NVML_SUCCESS;
      });
}
