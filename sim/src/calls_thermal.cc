// Temperatures and fans.
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kLowestFanPercent = 30;

int celsius(const Call& call) {
  return static_cast<int>(std::lround(call.model().temperature(call.t())));
}

// One number of one fan.
template <class Body>
nvmlReturn_t fan_number(Fn fn, nvmlDevice_t device, unsigned fan, unsigned* out, Body body) {
  return on_gpu(fn, device, out != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (call.board().fans == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (fan >= call.board().fans) return NVML_ERROR_INVALID_ARGUMENT;
    call.put(out, static_cast<unsigned>(body(call)));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t threshold(const Call& call, unsigned type, unsigned* out) {
  const Board& b = call.board();
  // Boards that speak of distances to their limits have no absolute ones.
  if (b.temperature_limits) return NVML_ERROR_NOT_SUPPORTED;
  switch (type) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
      call.put(out, static_cast<unsigned>(b.shutdown_celsius));
      return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
      call.put(out, static_cast<unsigned>(b.slowdown_celsius));
      return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX:
      if (!b.memory_temperature) return NVML_ERROR_NOT_SUPPORTED;
      call.put(out, static_cast<unsigned>(b.memory_max_celsius));
      return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX:
      call.put(out, static_cast<unsigned>(b.gpu_max_celsius));
      return NVML_SUCCESS;
    default: return type <= 7 ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                      unsigned int* temperature) {
  return on_gpu(Fn::nvmlDeviceGetTemperature, device, temperature != nullptr && sensor == 0,
                [&](Call& call) {
                  call.put(temperature, static_cast<unsigned>(celsius(call)));
                  return kSuccess;
                });
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t* temperature) {
  return on_gpu(Fn::nvmlDeviceGetTemperatureV, device, temperature != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (temperature->version != version_of<nvmlTemperature_t>(1)) {
                    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
                  }
                  if (temperature->sensorType != 0) return NVML_ERROR_INVALID_ARGUMENT;
                  call.put(&temperature->temperature, celsius(call));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                               nvmlTemperatureThresholds_t type,
                                               unsigned int* temperature) {
  return on_gpu(Fn::nvmlDeviceGetTemperatureThreshold, device, temperature != nullptr,
                [&](Call& call) { return threshold(call, type, temperature); });
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t* margin) {
  return on_gpu(Fn::nvmlDeviceGetMarginTemperature, device, margin != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (margin->version != version_of<nvmlMarginTemperature_t>(1)) {
                    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
                  }
                  if (!call.board().temperature_limits) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(&margin->marginTemperature,
                           call.board().gpu_max_celsius - celsius(call));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int index,
                                          nvmlGpuThermalSettings_t* settings) {
  return on_gpu(Fn::nvmlDeviceGetThermalSettings, device, settings != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (index != 0 && index != NVML_THERMAL_TARGET_ALL) {
                    return NVML_ERROR_INVALID_ARGUMENT;
                  }
                  settings->count = 1;
                  settings->sensor[0] = {.controller = 1,
                                         .defaultMinTemp = 0,
                                         .defaultMaxTemp = 127,
                                         .currentTemp = celsius(call),
                                         .target = static_cast<int>(NVML_THERMAL_TARGET_GPU)};
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int* count) {
  return number_if(
      Fn::nvmlDeviceGetNumFans, device, count, [](const Board& b) { return b.fans > 0; },
      [](Call& call) { return call.board().fans; });
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int* speed) {
  return fan_number(Fn::nvmlDeviceGetFanSpeed, device, 0, speed,
                    [](Call& call) { return call.model().fan_percent(call.t()); });
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int* speed) {
  return fan_number(Fn::nvmlDeviceGetFanSpeed_v2, device, fan, speed,
                    [](Call& call) { return call.model().fan_percent(call.t()); });
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan,
                                         unsigned int* speed) {
  return fan_number(Fn::nvmlDeviceGetTargetFanSpeed, device, fan, speed,
                    [](Call& call) { return call.model().fan_percent(call.t()); });
}

nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned int fan,
                                              nvmlFanControlPolicy_t* policy) {
  return fan_number(Fn::nvmlDeviceGetFanControlPolicy_v2, device, fan, policy,
                    [](Call&) { return NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW; });
}

nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, unsigned int* least,
                                         unsigned int* most) {
  return on_gpu(Fn::nvmlDeviceGetMinMaxFanSpeed, device, least != nullptr && most != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().fans == 0) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(least, kLowestFanPercent, "minSpeed");
                  call.put(most, 100U, "maxSpeed");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetFanSpeedRPM, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (info->version != version_of<nvmlFanSpeedInfo_t>(1)) {
                    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
                  }
                  if (call.board().fans == 0) return NVML_ERROR_NOT_SUPPORTED;
                  if (info->fan >= call.board().fans) return NVML_ERROR_INVALID_ARGUMENT;
                  const unsigned percent = call.model().fan_percent(call.t());
                  // The fans of one board never turn quite alike.
                  const unsigned rpm = percent * call.board().fan_max_rpm / 100;
                  call.put(&info->speed, rpm == 0 ? 0U : rpm + info->fan * 17);
                  return NVML_SUCCESS;
                });
}
