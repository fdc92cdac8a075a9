// Temperatures and fans.
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kLowestFanPercent = 30;
constexpr unsigned kThresholds = NVML_TEMPERATURE_THRESHOLD_GPS_CURR + 1;

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

// A threshold that the board does not have is 0.
nvmlReturn_t put_threshold(const Call& call, int celsius, unsigned* out) {
  if (celsius <= 0) return NVML_ERROR_NOT_SUPPORTED;
  call.put(out, static_cast<unsigned>(celsius));
  return NVML_SUCCESS;
}

nvmlReturn_t threshold(const Call& call, unsigned type, unsigned* out) {
  const Board& b = call.board();
  // The fan's target range lies below the current one.
  const int acoustic = b.acoustic_celsius;
  if (type >= kThresholds) return NVML_ERROR_INVALID_ARGUMENT;
  if (type == NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR) return put_threshold(call, acoustic, out);
  if (type == NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN) {
    return put_threshold(call, acoustic - 18, out);
  }
  if (type == NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX) {
    return put_threshold(call, acoustic > 0 ? acoustic + 8 : 0, out);
  }
  // Boards that speak of distances to their limits have no absolute ones.
  if (b.temperature_limits) return NVML_ERROR_NOT_SUPPORTED;
  switch (type) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN: return put_threshold(call, b.shutdown_celsius, out);
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN: return put_threshold(call, b.slowdown_celsius, out);
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX: return put_threshold(call, b.memory_max_celsius, out);
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX: return put_threshold(call, b.gpu_max_celsius, out);
    default: return NVML_ERROR_NOT_SUPPORTED;
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
                  if (!call.takes<nvmlTemperature_t>(temperature->version, 1)) {
                    return call.version_mismatch();
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
                  if (!call.takes<nvmlMarginTemperature_t>(margin->version, 1)) {
                    return call.version_mismatch();
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
                    [&](Call& call) { return call.model().fan_percent(call.t(), fan); });
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan,
                                         unsigned int* speed) {
  return fan_number(Fn::nvmlDeviceGetTargetFanSpeed, device, fan, speed,
                    [&](Call& call) { return call.model().fan_percent(call.t(), fan); });
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
                  if (!call.takes<nvmlFanSpeedInfo_t>(info->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (call.board().fans == 0) return NVML_ERROR_NOT_SUPPORTED;
                  if (info->fan >= call.board().fans) return NVML_ERROR_INVALID_ARGUMENT;
                  call.put(&info->speed, call.model().fan_rpm(call.t(), info->fan));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device, nvmlCoolerInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetCoolerInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlCoolerInfo_t>(info->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (call.board().fans == 0) return NVML_ERROR_NOT_SUPPORTED;
                  if (info->index >= call.board().fans) return NVML_ERROR_INVALID_ARGUMENT;
                  info->signalType = NVML_THERMAL_COOLER_SIGNAL_VARIABLE;
                  info->target = NVML_THERMAL_TARGET_GPU;
                  return NVML_SUCCESS;
                });
}
