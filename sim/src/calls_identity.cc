// Who a device is: names, ids, addresses, versions.
#include <algorithm>
#include <cstdio>

#include "call.h"
#include "pci.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

std::string instance_name(const Call& call) {
  return call.model().spec().name + " MIG " + call.instance()->profile->name;
}

nvmlReturn_t old_pci_info(Fn fn, nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return on_device(fn, device, pci != nullptr, Takes::kAny, [&](Call& call) {
    put_pci_info(pci_info(call.model().spec()), pci, true);
    return kSuccess;
  });
}

template <class Body>
nvmlReturn_t gpu_text(Fn fn, nvmlDevice_t device, char* out, unsigned length, Body body) {
  return on_gpu(fn, device, out != nullptr, [&](Call& call) -> nvmlReturn_t {
    const std::string text = body(call);
    if (text.empty()) return NVML_ERROR_NOT_SUPPORTED;
    return call.put_text(out, length, text);
  });
}

}  // namespace

nvmlPciInfo_t pci_info(unsigned domain, unsigned bus, unsigned device, unsigned device_id,
                       unsigned subsystem_id) {
  nvmlPciInfo_t info{};
  std::snprintf(info.busIdLegacy, sizeof info.busIdLegacy, "%04X:%02X:%02X.0", domain & 0xFFFF,
                bus & 0xFF, device);
  std::snprintf(info.busId, sizeof info.busId, "%08X:%02X:%02X.0", domain, bus & 0xFF, device);
  info.domain = domain;
  info.bus = bus;
  info.device = device;
  info.pciDeviceId = device_id;
  info.pciSubSystemId = subsystem_id;
  return info;
}

nvmlPciInfo_t pci_info(const GpuSpec& spec) {
  return pci_info(spec.pci_domain, spec.pci_bus, spec.pci_device, spec.board->pci_device_id,
                  spec.board->pci_subsystem_id);
}

void put_pci_info(nvmlPciInfo_t info, nvmlPciInfo_t* out, bool old) {
  constexpr std::size_t kOldBytes = 52;  // 16 of text, five numbers, 16 reserved
  if (old) std::memset(info.busId, 0, sizeof info.busId);
  std::memcpy(static_cast<void*>(out), &info, old ? kOldBytes : sizeof info);
}

}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return on_device(Fn::nvmlDeviceGetName, device, name != nullptr, Takes::kAny, [&](Call& call) {
    const LiveFault* bytes = call.fault(FaultKind::kNameBytes);
    if (bytes != nullptr && !bytes->fault.name_of_process) {
      return call.put_text(name, length, bytes->fault.bytes);
    }
    if (call.instance() != nullptr) return call.put_text(name, length, instance_name(call));
    return call.put_text(name, length, call.model().spec().name);
  });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return on_device(Fn::nvmlDeviceGetUUID, device, uuid != nullptr, Takes::kAny, [&](Call& call) {
    const InstanceSpec* instance = call.instance();
    return call.put_text(uuid, length,
                         instance == nullptr ? call.model().spec().uuid : instance->uuid);
  });
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char* serial, unsigned int length) {
  return gpu_text(Fn::nvmlDeviceGetSerial, device, serial, length,
                  [](Call& call) { return call.model().spec().serial; });
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* version, unsigned int length) {
  return gpu_text(Fn::nvmlDeviceGetVbiosVersion, device, version, length,
                  [](Call& call) { return call.board().vbios; });
}

nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* part, unsigned int length) {
  return gpu_text(Fn::nvmlDeviceGetBoardPartNumber, device, part, length,
                  [](Call& call) { return call.board().board_part; });
}

nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char* version,
                                              unsigned int length) {
  return gpu_text(Fn::nvmlDeviceGetInforomImageVersion, device, version, length,
                  [](Call& call) { return call.board().inforom_image; });
}

nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object,
                                         char* version, unsigned int length) {
  return gpu_text(Fn::nvmlDeviceGetInforomVersion, device, version, length, [&](Call& call) {
    if (object == NVML_INFOROM_ECC) return call.board().inforom_ecc;
    return object == NVML_INFOROM_OEM ? call.board().inforom_oem : std::string();
  });
}

nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char* version) {
  return gpu_text(
      Fn::nvmlDeviceGetGspFirmwareVersion, device, version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE,
      [](Call& call) { return call.board().has_gsp ? call.scenario().driver : std::string(); });
}

nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned int* enabled,
                                          unsigned int* fallback) {
  return on_gpu(Fn::nvmlDeviceGetGspFirmwareMode, device, enabled != nullptr && fallback != nullptr,
                [&](Call& call) {
                  *enabled = *fallback = call.board().has_gsp ? 1 : 0;
                  return kSuccess;
                });
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minor) {
  return one_number(Fn::nvmlDeviceGetMinorNumber, device, minor,
                    [](Call& call) { return call.model().spec().minor; });
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* type) {
  return on_device(Fn::nvmlDeviceGetBrand, device, type != nullptr, Takes::kAny, [&](Call& call) {
    call.put(type, call.board().brand);
    return kSuccess;
  });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch) {
  return on_device(Fn::nvmlDeviceGetArchitecture, device, arch != nullptr, Takes::kAny,
                   [&](Call& call) {
                     call.put(arch, call.board().architecture);
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return on_device(Fn::nvmlDeviceGetCudaComputeCapability, device,
                   major != nullptr && minor != nullptr, Takes::kAny, [&](Call& call) {
                     *major = call.board().cuda_major;
                     *minor = call.board().cuda_minor;
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int* cores) {
  return one_number(Fn::nvmlDeviceGetNumGpuCores, device, cores,
                    [](Call& call) { return call.board().cores; });
}

nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int* id) {
  return one_number(Fn::nvmlDeviceGetBoardId, device, id,
                    [](Call& call) { return call.model().spec().pci_bus << 8; });
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* several) {
  return one_number(Fn::nvmlDeviceGetMultiGpuBoard, device, several, [](Call&) { return 0U; });
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return old_pci_info(Fn::nvmlDeviceGetPciInfo, device, pci);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return old_pci_info(Fn::nvmlDeviceGetPciInfo_v2, device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return on_device(Fn::nvmlDeviceGetPciInfo_v3, device, pci != nullptr, Takes::kAny,
                   [&](Call& call) {
                     *pci = pci_info(call.model().spec());
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* pci) {
  return on_gpu(Fn::nvmlDeviceGetPciInfoExt, device, pci != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlPciInfoExt_t>(pci->version, 1)) {
                    return call.version_mismatch();
                  }
                  const nvmlPciInfo_t info = pci_info(call.model().spec());
                  pci->domain = info.domain;
                  pci->bus = info.bus;
                  pci->device = info.device;
                  pci->pciDeviceId = info.pciDeviceId;
                  pci->pciSubSystemId = info.pciSubSystemId;
                  pci->baseClass = call.board().pci_class >> 16;
                  pci->subClass = call.board().pci_class >> 8 & 0xFF;
                  std::memcpy(pci->busId, info.busId, sizeof pci->busId);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return one_number(Fn::nvmlDeviceGetPersistenceMode, device, mode,
                    [](Call& call) { return call.model().spec().persistence ? 1U : 0U; });
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
  return on_device(Fn::nvmlDeviceGetComputeMode, device, mode != nullptr, Takes::kAny,
                   [&](Call& call) {
                     call.put(mode, call.model().spec().compute_mode);
                     return kSuccess;
                   });
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* display) {
  return on_gpu(Fn::nvmlDeviceGetDisplayMode, device, display != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.driver_older_than("580")) return NVML_ERROR_DEPRECATED;
                  call.put(display, call.board().has_display ? 1U : 0U);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* active) {
  return one_number(Fn::nvmlDeviceGetDisplayActive, device, active,
                    [](Call& call) { return call.model().spec().display_active ? 1U : 0U; });
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device,
                                             nvmlGpuVirtualizationMode_t* mode) {
  return one_number(Fn::nvmlDeviceGetVirtualizationMode, device, mode,
                    [](Call&) { return NVML_GPU_VIRTUALIZATION_MODE_NONE; });
}

nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return one_number(Fn::nvmlDeviceGetAccountingMode, device, mode,
                    [](Call& call) { return call.model().spec().accounting ? 1U : 0U; });
}

nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t* type) {
  return one_number(Fn::nvmlDeviceGetBusType, device, type,
                    [](Call&) { return NVML_BUS_TYPE_PCIE; });
}
