// Confidential computing: whether the machine can, does, and what memory it protects.
#include <algorithm>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kProduction = 2;  // environment: 0 unavailable, 1 simulation
constexpr unsigned kSevSnp = 3;      // of the processor
constexpr std::uint64_t kMib = 1 << 20;

bool board_can(const Board& board) { return board.confidential_computing; }

// Whether the machine runs that way; only one whose boards all can does.
bool machine_does(const Scenario& scenario) {
  return scenario.confidential_computing && !scenario.gpus.empty() &&
         std::all_of(scenario.gpus.begin(), scenario.gpus.end(),
                     [](const GpuSpec& gpu) { return board_can(*gpu.board); });
}

bool machine_can(const Scenario& scenario) {
  return std::any_of(scenario.gpus.begin(), scenario.gpus.end(),
                     [](const GpuSpec& gpu) { return board_can(*gpu.board); });
}

// Data-centre boards before Hopper answer too: that they cannot.
bool answers(const Scenario& scenario) {
  return std::any_of(scenario.gpus.begin(), scenario.gpus.end(), [](const GpuSpec& gpu) {
    return gpu.board->architecture >= NVML_DEVICE_ARCH_AMPERE;
  });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t* caps) {
  return on_system(Fn::nvmlSystemGetConfComputeCapabilities, caps != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!answers(call.scenario())) return NVML_ERROR_NOT_SUPPORTED;
                     caps->cpuCaps = machine_does(call.scenario()) ? kSevSnp : 0;
                     caps->gpusCaps = machine_can(call.scenario()) ? 1 : 0;
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* state) {
  return on_system(
      Fn::nvmlSystemGetConfComputeState, state != nullptr, [&](Call& call) -> nvmlReturn_t {
        if (!answers(call.scenario())) return NVML_ERROR_NOT_SUPPORTED;
        const bool on = machine_does(call.scenario());
        *state = {
            .environment = on ? kProduction : 0U, .ccFeature = on ? 1U : 0U, .devToolsMode = 0};
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t* settings) {
  return on_system(Fn::nvmlSystemGetConfComputeSettings, settings != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!call.takes<nvmlSystemConfComputeSettings_t>(settings->version, 1)) {
                       return call.version_mismatch();
                     }
                     if (!machine_can(call.scenario())) return NVML_ERROR_NOT_SUPPORTED;
                     const bool on = machine_does(call.scenario());
                     settings->environment = on ? kProduction : 0;
                     settings->ccFeature = on ? 1 : 0;
                     settings->devToolsMode = 0;
                     settings->multiGpuMode = 0;
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlSystemGetConfComputeGpusReadyState(unsigned int* ready) {
  return on_system(Fn::nvmlSystemGetConfComputeGpusReadyState, ready != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!machine_does(call.scenario())) return NVML_ERROR_NOT_SUPPORTED;
                     call.put(ready, 1U);
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlSystemGetConfComputeKeyRotationThresholdInfo(
    nvmlConfComputeGetKeyRotationThresholdInfo_t* info) {
  return on_system(
      Fn::nvmlSystemGetConfComputeKeyRotationThresholdInfo, info != nullptr,
      [&](Call& call) -> nvmlReturn_t {
        if (!call.takes<nvmlConfComputeGetKeyRotationThresholdInfo_t>(info->version, 1)) {
          return call.version_mismatch();
        }
        if (!machine_does(call.scenario())) return NVML_ERROR_NOT_SUPPORTED;
        info->attackerAdvantage = NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MAX;
        return NVML_SUCCESS;
      });
}

// In KiB.
nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device,
                                                 nvmlConfComputeMemSizeInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetConfComputeMemSizeInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!board_can(call.board())) return NVML_ERROR_NOT_SUPPORTED;
                  const std::uint64_t all = call.model().memory_total() / 1024;
                  const bool on = machine_does(call.scenario());
                  *info = {.protectedMemSizeKib = on ? all : 0,
                           .unprotectedMemSizeKib = on ? 0 : all};
                  return NVML_SUCCESS;
                });
}

// 0 everywhere where nothing is protected.
nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device,
                                                          nvmlMemory_t* memory) {
  return on_gpu(Fn::nvmlDeviceGetConfComputeProtectedMemoryUsage, device, memory != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().unified_memory) return NVML_ERROR_NOT_SUPPORTED;
                  const bool on = machine_does(call.scenario()) && board_can(call.board());
                  const std::uint64_t total = on ? call.model().memory_total() / kMib * kMib : 0;
                  const std::uint64_t used =
                      on ? std::min(total, call.model().memory_used(call.t())) : 0;
                  *memory = {.total = total, .free = total - used, .used = used};
                  return NVML_SUCCESS;
                });
}
