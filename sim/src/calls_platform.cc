// What a board is built into, what it is made of, and modes that most boards do not have.
#include <algorithm>
#include <cstdio>

#include "call.h"
#include "pci.h"
#include "waveform.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kDirect = 0;  // peer type: connected without a switch
constexpr unsigned kWithSwitch = 1;

unsigned module_of(const Call& call) {
  // Modules of a base board are counted from 1; a card is the first of its own.
  return call.board().module_ids ? static_cast<unsigned>(call.gpu() % 8) + 1 : 1;
}

// Both shapes have the same bytes with other meanings.
void fill_platform(const Call& call, nvmlPlatformInfo_v2_t& info) {
  std::memset(info.ibGuid, 0, sizeof info.ibGuid);
  std::memset(info.chassisSerialNumber, 0, sizeof info.chassisSerialNumber);
  const std::string& serial = call.model().spec().chassis_serial;
  std::memcpy(info.chassisSerialNumber, serial.data(),
              std::min(serial.size(), sizeof info.chassisSerialNumber - 1));
  info.slotNumber = serial.empty() ? 0 : 1;
  info.trayIndex = 0;
  info.hostId = 1;
  info.peerType = serial.empty() ? kDirect : kWithSwitch;
  info.moduleId = static_cast<unsigned char>(module_of(call));
}

// A mode that Linux drivers do not have.
template <class T>
nvmlReturn_t no_mode(Fn fn, nvmlDevice_t device, T* current, T* pending) {
  return on_gpu(fn, device, current != nullptr && pending != nullptr,
                [](Call&) -> nvmlReturn_t { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t excluded_count(Fn fn, unsigned* count) {
  return on_system(fn, count != nullptr, [&](Call& call) {
    call.put(count, 0U);
    return kSuccess;
  });
}

nvmlReturn_t excluded_info(Fn fn, const void* info) {
  return on_system(fn, info != nullptr,
                   [](Call&) -> nvmlReturn_t { return NVML_ERROR_INVALID_ARGUMENT; });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetPlatformInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const bool known = call.takes<nvmlPlatformInfo_v2_t>(info->version, 2) ||
                                     call.takes<nvmlPlatformInfo_v1_t>(info->version, 1);
                  if (!known) return call.version_mismatch();
                  if (call.board().architecture < NVML_DEVICE_ARCH_TURING) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  fill_platform(call, *reinterpret_cast<nvmlPlatformInfo_v2_t*>(info));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int* id) {
  return one_number(Fn::nvmlDeviceGetModuleId, device, id,
                    [](Call& call) { return module_of(call); });
}

nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* info) {
  return on_gpu(Fn::nvmlDeviceGetC2cModeInfoV, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().c2c == C2c::kNone) return NVML_ERROR_NOT_SUPPORTED;
                  info->isC2cEnabled = call.board().c2c == C2c::kOn ? 1 : 0;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_t* mode) {
  return on_gpu(Fn::nvmlDeviceGetAddressingMode, device, mode != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlDeviceAddressingMode_t>(mode->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (call.board().architecture < NVML_DEVICE_ARCH_TURING) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  call.put(&mode->value, call.board().addressing_mode);
                  return NVML_SUCCESS;
                });
}

// A number of the chip itself.
nvmlReturn_t nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_t* pdi) {
  return on_gpu(Fn::nvmlDeviceGetPdi, device, pdi != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!call.takes<nvmlPdi_t>(pdi->version, 1)) return call.version_mismatch();
    pdi->value = mix(call.scenario().seed, 5000 + call.gpu());
    return NVML_SUCCESS;
  });
}

// The name that an administrator may give a GPU; none has been given.
nvmlReturn_t nvmlDeviceGetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t* name) {
  return on_gpu(
      Fn::nvmlDeviceGetHostname_v1, device, name != nullptr, [&](Call& call) -> nvmlReturn_t {
        const bool has =
            call.board().architecture >= NVML_DEVICE_ARCH_BLACKWELL && call.board().has_fabric;
        if (!has) return NVML_ERROR_NOT_SUPPORTED;
        std::memset(name->value, 0, sizeof name->value);
        return NVML_SUCCESS;
      });
}

// Bit 0: large pages of memory for applications ("EGM").
nvmlReturn_t nvmlDeviceGetCapabilities(nvmlDevice_t device, nvmlDeviceCapabilities_t* caps) {
  return on_gpu(Fn::nvmlDeviceGetCapabilities, device, caps != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlDeviceCapabilities_t>(caps->version, 1)) {
                    return call.version_mismatch();
                  }
                  caps->capMask = 0;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetDramEncryptionMode(nvmlDevice_t device, nvmlDramEncryptionInfo_t* current,
                                             nvmlDramEncryptionInfo_t* pending) {
  return on_gpu(Fn::nvmlDeviceGetDramEncryptionMode, device,
                current != nullptr && pending != nullptr, [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlDramEncryptionInfo_t>(current->version, 1) ||
                      !call.takes<nvmlDramEncryptionInfo_t>(pending->version, 1)) {
                    return call.version_mismatch();
                  }
                  // Only workstation boards of the newest generation have it.
                  return NVML_ERROR_NOT_SUPPORTED;
                });
}

nvmlReturn_t nvmlDeviceGetLastBBXFlushTime(nvmlDevice_t device, unsigned long long* stamp,
                                           unsigned long* duration_us) {
  return on_gpu(Fn::nvmlDeviceGetLastBBXFlushTime, device,
                stamp != nullptr && duration_us != nullptr, [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().black_box) return NVML_ERROR_NOT_SUPPORTED;
                  // When the driver was loaded.
                  *stamp = library().stamp_us(-call.scenario().uptime_seconds);
                  *duration_us = 41200;
                  return NVML_SUCCESS;
                });
}

// Seconds that the board has been running in its life.
nvmlReturn_t nvmlDeviceGetBBXTimeData_v1(nvmlDevice_t device, nvmlBBXTimeData_v1_t* data) {
  return on_gpu(Fn::nvmlDeviceGetBBXTimeData_v1, device, data != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().black_box) return NVML_ERROR_NOT_SUPPORTED;
                  constexpr double kBefore = 9.1e6;
                  data->timeRun = static_cast<unsigned>(
                      kBefore + std::max(0.0, call.t() + call.scenario().uptime_seconds));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetInforomConfigurationChecksum(nvmlDevice_t device,
                                                       unsigned int* checksum) {
  return on_gpu(Fn::nvmlDeviceGetInforomConfigurationChecksum, device, checksum != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().inforom_image.empty()) return NVML_ERROR_NOT_SUPPORTED;
                  std::uint64_t sum = 7;
                  for (const char letter : call.board().inforom_image) {
                    sum = mix(sum, static_cast<unsigned char>(letter));
                  }
                  call.put(checksum, static_cast<unsigned>(sum));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device) {
  return on_gpu(Fn::nvmlDeviceValidateInforom, device, true, [](Call& call) -> nvmlReturn_t {
    return call.board().inforom_image.empty() ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetIrqNum(nvmlDevice_t device, unsigned int* number) {
  return one_number(Fn::nvmlDeviceGetIrqNum, device, number,
                    [](Call& call) { return first_irq() + call.model().spec().minor; });
}

nvmlReturn_t nvmlDeviceGetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t kind,
                                         nvmlEnableState_t* restricted) {
  return on_gpu(Fn::nvmlDeviceGetAPIRestriction, device, restricted != nullptr && kind <= 1,
                [&](Call& call) -> nvmlReturn_t {
                  const bool boost = kind == NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS;
                  if (boost || call.board().application_graphics_mhz == 0) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  call.put(restricted, 1U);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetBridgeChipInfo(nvmlDevice_t device, nvmlBridgeChipHierarchy_t* bridges) {
  return on_gpu(Fn::nvmlDeviceGetBridgeChipInfo, device, bridges != nullptr,
                [](Call&) -> nvmlReturn_t { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t nvmlDeviceGetDriverModel(nvmlDevice_t device, nvmlDriverModel_t* current,
                                      nvmlDriverModel_t* pending) {
  return no_mode(Fn::nvmlDeviceGetDriverModel, device, current, pending);
}
nvmlReturn_t nvmlDeviceGetDriverModel_v2(nvmlDevice_t device, nvmlDriverModel_t* current,
                                         nvmlDriverModel_t* pending) {
  return no_mode(Fn::nvmlDeviceGetDriverModel_v2, device, current, pending);
}
nvmlReturn_t nvmlDeviceGetGpuOperationMode(nvmlDevice_t device, nvmlGpuOperationMode_t* current,
                                           nvmlGpuOperationMode_t* pending) {
  return no_mode(Fn::nvmlDeviceGetGpuOperationMode, device, current, pending);
}

// Whether the GPU is being emptied before it is taken out: none is.
nvmlReturn_t nvmlDeviceQueryDrainState(nvmlPciInfo_t* pci, nvmlEnableState_t* state) {
  return on_system(Fn::nvmlDeviceQueryDrainState, pci != nullptr && state != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     for (const GpuSpec& gpu : call.scenario().gpus) {
                       if (gpu.pci_domain != pci->domain || gpu.pci_bus != pci->bus) continue;
                       call.put(state, NVML_FEATURE_DISABLED);
                       return NVML_SUCCESS;
                     }
                     return NVML_ERROR_INVALID_ARGUMENT;
                   });
}

nvmlReturn_t nvmlSystemGetHicVersion(unsigned int* count, nvmlHwbcEntry_t*) {
  return on_system(Fn::nvmlSystemGetHicVersion, count != nullptr, [&](Call& call) {
    call.put(count, 0U);
    return kSuccess;
  });
}

// S-class units of old: none.
nvmlReturn_t nvmlUnitGetCount(unsigned int* count) {
  return on_system(Fn::nvmlUnitGetCount, count != nullptr, [&](Call& call) {
    call.put(count, 0U);
    return kSuccess;
  });
}
nvmlReturn_t nvmlUnitGetHandleByIndex(unsigned int, nvmlUnit_t* unit) {
  return on_system(Fn::nvmlUnitGetHandleByIndex, unit != nullptr,
                   [](Call&) -> nvmlReturn_t { return NVML_ERROR_INVALID_ARGUMENT; });
}

// GPUs that the administrator keeps from the driver: none.
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int* count) {
  return excluded_count(Fn::nvmlGetExcludedDeviceCount, count);
}
nvmlReturn_t nvmlGetBlacklistDeviceCount(unsigned int* count) {
  return excluded_count(Fn::nvmlGetBlacklistDeviceCount, count);
}
nvmlReturn_t nvmlGetExcludedDeviceInfoByIndex(unsigned int, nvmlExcludedDeviceInfo_t* info) {
  return excluded_info(Fn::nvmlGetExcludedDeviceInfoByIndex, info);
}

nvmlReturn_t nvmlGetBlacklistDeviceInfoByIndex(unsigned int, nvmlExcludedDeviceInfo_t* info) {
  return excluded_info(Fn::nvmlGetBlacklistDeviceInfoByIndex, info);
}

// Power profiles for kinds of work: the newest boards have them, and none is in use.
nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
    nvmlDevice_t device, nvmlWorkloadPowerProfileCurrentProfiles_t* profiles) {
  return on_gpu(
      Fn::nvmlDeviceWorkloadPowerProfileGetCurrentProfiles, device, profiles != nullptr,
      [&](Call& call) -> nvmlReturn_t {
        if (!call.takes<nvmlWorkloadPowerProfileCurrentProfiles_t>(profiles->version, 1)) {
          return call.version_mismatch();
        }
        if (!call.board().power_smoothing) return NVML_ERROR_NOT_SUPPORTED;
        profiles->perfProfilesMask = {};
        profiles->requestedProfilesMask = {};
        profiles->enforcedProfilesMask = {};
        profiles->perfProfilesMask.mask[0] = 0x7;
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
    nvmlDevice_t device, nvmlWorkloadPowerProfileProfilesInfo_t* profiles) {
  return on_gpu(Fn::nvmlDeviceWorkloadPowerProfileGetProfilesInfo, device, profiles != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlWorkloadPowerProfileProfilesInfo_t>(profiles->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (!call.board().power_smoothing) return NVML_ERROR_NOT_SUPPORTED;
                  profiles->perfProfilesMask = {};
                  profiles->perfProfilesMask.mask[0] = 0x7;
                  for (unsigned id = 0; id < std::size(profiles->perfProfile); ++id) {
                    auto& one = profiles->perfProfile[id];
                    one = {};
                    if (id < 3) one.profileId = id;
                    if (id < 3) one.priority = 100 + id;
                  }
                  return NVML_SUCCESS;
                });
}
