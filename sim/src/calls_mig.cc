// Multi-instance GPUs: the mode, the instances as devices of their own, and their ids.
#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// One number that only an instance's handle has.
template <class Body>
nvmlReturn_t instance_number(Fn fn, nvmlDevice_t device, unsigned* out, Body body) {
  return on_device(fn, device, out != nullptr, Takes::kAny, [&](Call& call) -> nvmlReturn_t {
    if (!call.board().mig_capable()) return NVML_ERROR_NOT_SUPPORTED;
    if (call.instance() == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    call.put(out, body(*call.instance()));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t attributes_of(Fn fn, nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return on_device(fn, device, out != nullptr, Takes::kAny, [&](Call& call) -> nvmlReturn_t {
    if (call.instance() == nullptr) return NVML_ERROR_NOT_SUPPORTED;
    const MigProfile& profile = *call.instance()->profile;
    *out = {.multiprocessorCount = profile.multiprocessors,
            .sharedCopyEngineCount = profile.copy_engines,
            .sharedDecoderCount = profile.decoders,
            .sharedEncoderCount = 0,
            .sharedJpegCount = profile.jpegs,
            .sharedOfaCount = profile.ofas,
            .gpuInstanceSliceCount = profile.slices,
            .computeInstanceSliceCount = profile.slices,
            .memorySizeMB = profile.memory_mib};
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current,
                                  unsigned int* pending) {
  return on_gpu(Fn::nvmlDeviceGetMigMode, device, current != nullptr && pending != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().mig_capable()) return NVML_ERROR_NOT_SUPPORTED;
                  const unsigned mode = call.model().spec().mig ? 1 : 0;
                  call.put(current, mode, "currentMode");
                  call.put(pending, mode, "pendingMode");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count) {
  return one_number(Fn::nvmlDeviceGetMaxMigDeviceCount, device, count, [](Call& call) {
    return call.board().mig_capable() ? call.model().spec().max_instances : 0U;
  });
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
                                                 nvmlDevice_t* instance) {
  return on_gpu(Fn::nvmlDeviceGetMigDeviceHandleByIndex, device, instance != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().mig_capable()) return NVML_ERROR_NOT_SUPPORTED;
                  if (index >= call.model().spec().max_instances)
                    return NVML_ERROR_INVALID_ARGUMENT;
                  if (call.model().instance_in_slot(index, call.t()) == nullptr) {
                    return NVML_ERROR_NOT_FOUND;
                  }
                  *instance = make_handle({library().generation(), call.gpu(), index});
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* is_instance) {
  return on_device(Fn::nvmlDeviceIsMigDeviceHandle, device, is_instance != nullptr, Takes::kAny,
                   [&](Call& call) {
                     call.put(is_instance, call.instance() != nullptr ? 1U : 0U);
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int* id) {
  return instance_number(Fn::nvmlDeviceGetGpuInstanceId, device, id,
                         [](const InstanceSpec& instance) { return instance.gpu_instance; });
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int* id) {
  return instance_number(Fn::nvmlDeviceGetComputeInstanceId, device, id,
                         [](const InstanceSpec& instance) { return instance.compute_instance; });
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance,
                                                          nvmlDevice_t* device) {
  return on_device(Fn::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, instance, device != nullptr,
                   Takes::kInstance, [&](Call& call) {
                     *device = make_handle({library().generation(), call.gpu(), std::nullopt});
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  return attributes_of(Fn::nvmlDeviceGetAttributes, device, attributes);
}
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  return attributes_of(Fn::nvmlDeviceGetAttributes_v2, device, attributes);
}
