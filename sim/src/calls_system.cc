// Session, versions, counts and handles.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// Positions of GPUs in the order in which this session counts them.
std::vector<std::size_t> order(const Call& call) {
  std::vector<std::size_t> positions(call.scenario().gpus.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  for (const LiveFault& one : call.plan().faults) {
    // An order changes between sessions only, never inside one.
    if (one.fault.kind == FaultKind::kIndexOrder && one.active(library().session_begin())) {
      std::reverse(positions.begin(), positions.end());
    }
  }
  return positions;
}

nvmlReturn_t hand_out(Call& call, std::size_t gpu, std::optional<unsigned> slot,
                      nvmlDevice_t* device) {
  if (const nvmlReturn_t code = call.concern(gpu); code != NVML_SUCCESS) return code;
  *device = make_handle({.generation = library().generation(), .gpu = gpu, .slot = slot});
  return NVML_SUCCESS;
}

nvmlReturn_t by_index(Fn fn, unsigned index, nvmlDevice_t* device) {
  return on_system(fn, device != nullptr, [&](Call& call) -> nvmlReturn_t {
    const std::vector<std::size_t> positions = order(call);
    if (index >= positions.size()) return NVML_ERROR_INVALID_ARGUMENT;
    return hand_out(call, positions[index], std::nullopt, device);
  });
}

nvmlReturn_t by_uuid(Call& call, const std::string& uuid, nvmlDevice_t* device) {
  for (std::size_t gpu = 0; gpu < call.scenario().gpus.size(); ++gpu) {
    const GpuModel model(call.scenario(), gpu);
    if (model.spec().uuid == uuid) return hand_out(call, gpu, std::nullopt, device);
    for (unsigned slot = 0; slot < model.spec().max_instances; ++slot) {
      const InstanceSpec* instance = model.instance_in_slot(slot, call.t());
      if (instance != nullptr && instance->uuid == uuid) return hand_out(call, gpu, slot, device);
    }
  }
  return NVML_ERROR_NOT_FOUND;
}

// "domain:bus:device.function" in hexadecimal; the domain and the function may be left out.
nvmlReturn_t by_pci(Fn fn, const char* text, nvmlDevice_t* device) {
  return on_system(fn, text != nullptr && device != nullptr, [&](Call& call) -> nvmlReturn_t {
    unsigned domain = 0, bus = 0, slot = 0;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x", &bus, &slot) != 2) return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (std::size_t gpu = 0; gpu < call.scenario().gpus.size(); ++gpu) {
      const GpuSpec& spec = call.scenario().gpus[gpu];
      if (spec.pci_domain == domain && spec.pci_bus == bus && spec.pci_device == slot) {
        return hand_out(call, gpu, std::nullopt, device);
      }
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

nvmlReturn_t count_gpus(Fn fn, unsigned* count) {
  return on_system(fn, count != nullptr, [&](Call& call) {
    call.put(count, static_cast<unsigned>(call.scenario().gpus.size()));
    return kSuccess;
  });
}

// NVML's own version: the CUDA major version in front of the driver's.
std::string nvml_version(const Scenario& scenario) {
  return std::to_string(scenario.cuda / 1000) + "." + scenario.driver;
}

// A session that a fault spoils was never begun.
nvmlReturn_t session(Fn fn) {
  library().count(fn, -1);
  if (const nvmlReturn_t code = library().init(); code != kSuccess) return code;
  Call call(fn);
  const nvmlReturn_t code = call.enter_session();
  if (code != kSuccess) library().shutdown();
  return code;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlInit() { return session(Fn::nvmlInit); }
nvmlReturn_t nvmlInit_v2() { return session(Fn::nvmlInit_v2); }
nvmlReturn_t nvmlInitWithFlags(unsigned int) { return session(Fn::nvmlInitWithFlags); }

nvmlReturn_t nvmlShutdown() {
  library().count(Fn::nvmlShutdown, -1);
  return library().shutdown();
}

const char* nvmlErrorString(nvmlReturn_t result) {
  library().count(Fn::nvmlErrorString, -1);
  // By number: the texts that the driver has been seen to give.
  struct Text {
    nvmlReturn_t code;
    const char* text;
  };
  static constexpr Text kTexts[] = {
      {NVML_SUCCESS, "Success"},
      {NVML_ERROR_UNINITIALIZED, "Uninitialized"},
      {NVML_ERROR_INVALID_ARGUMENT, "Invalid Argument"},
      {NVML_ERROR_NOT_SUPPORTED, "Not Supported"},
      {NVML_ERROR_NO_PERMISSION, "Insufficient Permissions"},
      {NVML_ERROR_ALREADY_INITIALIZED, "Already Initialized"},
      {NVML_ERROR_NOT_FOUND, "Not Found"},
      {NVML_ERROR_INSUFFICIENT_SIZE, "Insufficient Size"},
      {NVML_ERROR_INSUFFICIENT_POWER, "Insufficient External Power"},
      {NVML_ERROR_DRIVER_NOT_LOADED, "Driver Not Loaded"},
      {NVML_ERROR_TIMEOUT, "Timeout"},
      {NVML_ERROR_IRQ_ISSUE, "Interrupt Request Issue"},
      {NVML_ERROR_LIBRARY_NOT_FOUND, "NVML Shared Library Not Found"},
      {NVML_ERROR_FUNCTION_NOT_FOUND, "Function Not Found"},
      {NVML_ERROR_CORRUPTED_INFOROM, "Corrupted infoROM"},
      {NVML_ERROR_GPU_IS_LOST, "GPU is lost"},
      {NVML_ERROR_RESET_REQUIRED, "GPU requires reset"},
      {NVML_ERROR_OPERATING_SYSTEM, "GPU access blocked by the operating system"},
      {NVML_ERROR_LIB_RM_VERSION_MISMATCH, "Driver/library version mismatch"},
      {NVML_ERROR_IN_USE, "In use by another client"},
      {NVML_ERROR_MEMORY, "Insufficient Memory"},
      {NVML_ERROR_NO_DATA, "No data"},
      {NVML_ERROR_INSUFFICIENT_RESOURCES, "Insufficient Resources"},
      {NVML_ERROR_FREQ_NOT_SUPPORTED, "Frequency Not Supported"},
      {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "Argument version mismatch"},
      {NVML_ERROR_DEPRECATED, "Requested functionality has been deprecated"},
      {NVML_ERROR_NOT_READY, "System not in ready state"},
      {NVML_ERROR_GPU_NOT_FOUND, "No supported GPUs were found"},
      {NVML_ERROR_INVALID_STATE, "Invalid State"},
  };
  const auto* found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                   [&](const Text& one) { return one.code == result; });
  return found == std::end(kTexts) ? "Unknown Error" : found->text;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return on_system(Fn::nvmlSystemGetDriverVersion, version != nullptr, [&](Call& call) {
    return call.put_text(version, length, call.scenario().driver);
  });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return on_system(Fn::nvmlSystemGetNVMLVersion, version != nullptr, [&](Call& call) {
    return call.put_text(version, length, nvml_version(call.scenario()));
  });
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t* info, unsigned int length) {
  return on_system(Fn::nvmlSystemGetDriverBranch, info != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!call.takes<nvmlSystemDriverBranchInfo_t>(info->version, 1)) {
      return call.version_mismatch();
    }
    const std::string& driver = call.scenario().driver;
    const std::string branch = "r" + driver.substr(0, driver.find('.')) + "_00";
    return call.put_text(info->branch, std::min<unsigned>(length, sizeof info->branch), branch);
  });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return on_system(Fn::nvmlSystemGetCudaDriverVersion, version != nullptr, [&](Call& call) {
    call.put(version, call.scenario().cuda);
    return kSuccess;
  });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return on_system(Fn::nvmlSystemGetCudaDriverVersion_v2, version != nullptr, [&](Call& call) {
    call.put(version, call.scenario().cuda);
    return kSuccess;
  });
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) {
  return count_gpus(Fn::nvmlDeviceGetCount, count);
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  return count_gpus(Fn::nvmlDeviceGetCount_v2, count);
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  return by_index(Fn::nvmlDeviceGetHandleByIndex, index, device);
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  return by_index(Fn::nvmlDeviceGetHandleByIndex_v2, index, device);
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* text, nvmlDevice_t* device) {
  return by_pci(Fn::nvmlDeviceGetHandleByPciBusId, text, device);
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* text, nvmlDevice_t* device) {
  return by_pci(Fn::nvmlDeviceGetHandleByPciBusId_v2, text, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return on_system(Fn::nvmlDeviceGetHandleByUUID, uuid != nullptr && device != nullptr,
                   [&](Call& call) { return by_uuid(call, uuid, device); });
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t* uuid, nvmlDevice_t* device) {
  return on_system(Fn::nvmlDeviceGetHandleByUUIDV, uuid != nullptr && device != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!call.takes<nvmlUUID_t>(uuid->version, 1)) {
                       return call.version_mismatch();
                     }
                     if (uuid->type != NVML_UUID_TYPE_ASCII) return NVML_ERROR_INVALID_ARGUMENT;
                     const char* text = uuid->value.str;
                     return by_uuid(call, std::string(text, strnlen(text, sizeof uuid->value.str)),
                                    device);
                   });
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) {
  return on_system(Fn::nvmlDeviceGetHandleBySerial, serial != nullptr && device != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     for (std::size_t gpu = 0; gpu < call.scenario().gpus.size(); ++gpu) {
                       const std::string& known = call.scenario().gpus[gpu].serial;
                       if (!known.empty() && known == serial) {
                         return hand_out(call, gpu, std::nullopt, device);
                       }
                     }
                     return NVML_ERROR_NOT_FOUND;
                   });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return on_device(Fn::nvmlDeviceGetIndex, device, index != nullptr, Takes::kAny, [&](Call& call) {
    if (const std::optional<Target> target = read_handle(device); target->slot) {
      call.put(index, *target->slot);
      return kSuccess;
    }
    const std::vector<std::size_t> positions = order(call);
    const auto found = std::find(positions.begin(), positions.end(), call.gpu());
    call.put(index, static_cast<unsigned>(found - positions.begin()));
    return kSuccess;
  });
}
