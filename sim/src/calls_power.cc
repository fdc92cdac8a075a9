// Power, energy and its limits.
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr double kAverageSeconds = 1;

unsigned milliwatts(double watts) { return static_cast<unsigned>(std::lround(watts * 1000)); }

template <class Body>
nvmlReturn_t limit(Fn fn, nvmlDevice_t device, unsigned* out, Body body) {
  return number_if(
      fn, device, out, [](const Board& b) { return b.default_limit_watts > 0; },
      [&](Call& call) { return milliwatts(body(call)); });
}

}  // namespace
}  // namespace gpusight::sim

// A one second mean on boards that have it, else the instant.
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* power) {
  return number_if(
      Fn::nvmlDeviceGetPowerUsage, device, power, [](const Board& b) { return b.power_reading; },
      [](Call& call) {
        const GpuModel& model = call.model();
        return milliwatts(call.board().average_power ? model.mean_power(call.t(), kAverageSeconds)
                                                     : model.power(call.t()));
      });
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* energy) {
  return number_if(
      Fn::nvmlDeviceGetTotalEnergyConsumption, device, energy,
      [](const Board& b) { return b.architecture >= NVML_DEVICE_ARCH_VOLTA; },
      [](Call& call) { return call.model().energy_mj(call.t()); });
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return on_gpu(Fn::nvmlDeviceGetPowerManagementMode, device, mode != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.driver_older_than("590")) return NVML_ERROR_DEPRECATED;
                  call.put(mode, NVML_FEATURE_ENABLED);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int* out) {
  return limit(Fn::nvmlDeviceGetPowerManagementLimit, device, out,
               [](Call& call) { return call.model().spec().power_limit_watts; });
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int* out) {
  return limit(Fn::nvmlDeviceGetEnforcedPowerLimit, device, out,
               [](Call& call) { return call.model().spec().power_limit_watts; });
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int* out) {
  return limit(Fn::nvmlDeviceGetPowerManagementDefaultLimit, device, out,
               [](Call& call) { return call.board().default_limit_watts; });
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int* least,
                                                          unsigned int* most) {
  return on_gpu(Fn::nvmlDeviceGetPowerManagementLimitConstraints, device,
                least != nullptr && most != nullptr, [&](Call& call) -> nvmlReturn_t {
                  if (call.board().default_limit_watts <= 0) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(least, milliwatts(call.board().min_limit_watts), "minLimit");
                  call.put(most, milliwatts(call.board().max_limit_watts), "maxLimit");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t* state) {
  return on_gpu(Fn::nvmlDeviceGetPowerState, device, state != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.driver_older_than("590")) return NVML_ERROR_DEPRECATED;
                  call.put(state, call.model().performance_state(call.t()));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetPowerSource(nvmlDevice_t device, nvmlPowerSource_t* source) {
  return one_number(Fn::nvmlDeviceGetPowerSource, device, source, [](Call& call) {
    const Fault* other = call.model().conditions().active(FaultKind::kPowerSource, call.t());
    return other == nullptr ? NVML_POWER_SOURCE_AC : other->what;
  });
}
