// Error counters and repair state, and the fabric that boards of a switch belong to.
#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kRemapBanks = 640;  // banks with spare rows; all untouched

bool counts_errors(const Call& call) { return call.board().ecc == Ecc::kEnabled; }

bool remaps(const Call& call) { return call.board().row_remapping && !call.model().spec().mig; }

// Completed, healthy, a clique of one.
void fill_fabric(nvmlGpuFabricInfo_v2_t& info) {
  std::memset(info.clusterUuid, 0, sizeof info.clusterUuid);
  info.status = NVML_SUCCESS;
  info.cliqueId = 0;
  info.state = NVML_GPU_FABRIC_STATE_COMPLETED;
  info.healthMask = NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE
                    << NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current,
                                  nvmlEnableState_t* pending) {
  return on_gpu(Fn::nvmlDeviceGetEccMode, device, current != nullptr && pending != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().ecc == Ecc::kNone) return NVML_ERROR_NOT_SUPPORTED;
                  const unsigned mode = counts_errors(call) ? 1 : 0;
                  call.put(current, mode, "current");
                  call.put(pending, mode, "pending");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return number_if(
      Fn::nvmlDeviceGetDefaultEccMode, device, mode,
      [](const Board& b) { return b.ecc != Ecc::kNone; }, [](Call&) { return 1U; });
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                         nvmlEccCounterType_t counter, unsigned long long* count) {
  return on_gpu(Fn::nvmlDeviceGetTotalEccErrors, device,
                count != nullptr && error <= 1 && counter <= 1, [&](Call& call) -> nvmlReturn_t {
                  if (!counts_errors(call)) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(count, 0ULL, error == 0 ? "corrected" : "uncorrected");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                             nvmlEccCounterType_t counter,
                                             nvmlMemoryLocation_t location,
                                             unsigned long long* count) {
  return on_gpu(Fn::nvmlDeviceGetMemoryErrorCounter, device,
                count != nullptr && error <= 1 && counter <= 1 && location <= 7,
                [&](Call& call) -> nvmlReturn_t {
                  // Boards of today count for the memory and for all on-chip memories together.
                  const bool known = location == NVML_MEMORY_LOCATION_DRAM ||
                                     location == NVML_MEMORY_LOCATION_SRAM;
                  const bool hidden = call.model().spec().mig && counter == NVML_VOLATILE_ECC &&
                                      location == NVML_MEMORY_LOCATION_DRAM;
                  if (!counts_errors(call) || !known || hidden) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(count, 0ULL, error == 0 ? "corrected" : "uncorrected");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int* corrected,
                                       unsigned int* uncorrected, unsigned int* pending,
                                       unsigned int* failed) {
  return on_gpu(
      Fn::nvmlDeviceGetRemappedRows, device,
      corrected != nullptr && uncorrected != nullptr && pending != nullptr && failed != nullptr,
      [&](Call& call) -> nvmlReturn_t {
        if (!remaps(call)) return NVML_ERROR_NOT_SUPPORTED;
        call.put(corrected, 0U, "corrRows");
        call.put(uncorrected, 0U, "uncRows");
        call.put(pending, 0U, "isPending");
        call.put(failed, 0U, "failureOccurred");
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
                                               nvmlRowRemapperHistogramValues_t* values) {
  return on_gpu(Fn::nvmlDeviceGetRowRemapperHistogram, device, values != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!remaps(call)) return NVML_ERROR_NOT_SUPPORTED;
                  *values = {.max = kRemapBanks, .high = 0, .partial = 0, .low = 0, .none = 0};
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetGpuFabricInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().has_fabric) return NVML_ERROR_NOT_SUPPORTED;
                  *info = {};
                  info->state = NVML_GPU_FABRIC_STATE_COMPLETED;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t* info) {
  return on_gpu(Fn::nvmlDeviceGetGpuFabricInfoV, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const bool third = info->version == version_of<nvmlGpuFabricInfo_v3_t>(3) &&
                                     !call.driver_older_than("580.65");
                  if (!third && info->version != version_of<nvmlGpuFabricInfo_v2_t>(2)) {
                    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
                  }
                  if (!call.board().has_fabric) return NVML_ERROR_NOT_SUPPORTED;
                  // The third shape is the second with one more member behind it.
                  fill_fabric(*reinterpret_cast<nvmlGpuFabricInfo_v2_t*>(info));
                  if (third) info->healthSummary = NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY;
                  return NVML_SUCCESS;
                });
}
