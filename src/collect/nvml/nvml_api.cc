#include "collect/nvml/nvml_api.h"

#include <initializer_list>

namespace gpusight::collect::nvml {
namespace {

class Binder {
 public:
  explicit Binder(const SymbolLookup& lookup) : lookup_(lookup) {}

  // Takes the first name that the library has: newest first, all with the same interface.
  template <typename Function>
  void bind(Function& slot, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      slot = reinterpret_cast<Function>(lookup_(name));
      if (slot != nullptr) return;
    }
  }

  // _v3 is missing in 535.98 alone; before 450.66 there is only the short row.
  void bind_list(ProcessListCall& list, const char* v3, const char* v2, const char* v1) const {
    list.forms[0].row_bytes = list.forms[1].row_bytes = sizeof(ProcessRow);
    list.forms[2].row_bytes = sizeof(ProcessRowV1);
    bind(list.forms[0].call, {v3});
    bind(list.forms[1].call, {v2});
    bind(list.forms[2].call, {v1});
  }

 private:
  const SymbolLookup& lookup_;
};

void bind_system(const Binder& b, NvmlApi& api) {
  b.bind(api.init, {"nvmlInit_v2", "nvmlInit"});
  b.bind(api.shutdown, {"nvmlShutdown"});
  b.bind(api.driver_version, {"nvmlSystemGetDriverVersion"});
  b.bind(api.nvml_version, {"nvmlSystemGetNVMLVersion"});
  b.bind(api.process_name, {"nvmlSystemGetProcessName"});
  b.bind(api.sim_scenario, {"gpusight_sim_scenario"});
  b.bind(api.supported_events, {"nvmlDeviceGetSupportedEventTypes"});
  b.bind(api.event_set_create, {"nvmlEventSetCreate"});
  b.bind(api.event_set_free, {"nvmlEventSetFree"});
  b.bind(api.register_events, {"nvmlDeviceRegisterEvents"});
  b.bind(api.event_wait_v2, {"nvmlEventSetWait_v2"});
  b.bind(api.event_wait_v1, {"nvmlEventSetWait"});
}

void bind_identity(const Binder& b, NvmlApi& api) {
  b.bind(api.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  b.bind(api.handle_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  b.bind(api.handle_by_pci, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  b.bind(api.uuid, {"nvmlDeviceGetUUID"});
  b.bind(api.name, {"nvmlDeviceGetName"});
  b.bind(api.serial, {"nvmlDeviceGetSerial"});
  b.bind(api.vbios, {"nvmlDeviceGetVbiosVersion"});
  b.bind(api.index, {"nvmlDeviceGetIndex"});
  b.bind(api.minor, {"nvmlDeviceGetMinorNumber"});
  b.bind(api.architecture, {"nvmlDeviceGetArchitecture"});
  // The older two write a shorter struct whose members stand at the same places.
  b.bind(api.pci_info,
         {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  b.bind(api.cuda_version, {"nvmlSystemGetCudaDriverVersion"});
  b.bind(api.cuda_version_v2, {"nvmlSystemGetCudaDriverVersion_v2"});
  b.bind(api.brand, {"nvmlDeviceGetBrand"});
  b.bind(api.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  b.bind(api.board_part, {"nvmlDeviceGetBoardPartNumber"});
  b.bind(api.inforom_image, {"nvmlDeviceGetInforomImageVersion"});
  b.bind(api.inforom_version, {"nvmlDeviceGetInforomVersion"});
  b.bind(api.core_count, {"nvmlDeviceGetNumGpuCores"});
  b.bind(api.memory_bus_width, {"nvmlDeviceGetMemoryBusWidth"});
  b.bind(api.board_id, {"nvmlDeviceGetBoardId"});
  b.bind(api.numa_node, {"nvmlDeviceGetNumaNodeId"});
  b.bind(api.module_id, {"nvmlDeviceGetModuleId"});
  b.bind(api.gsp_firmware, {"nvmlDeviceGetGspFirmwareVersion"});
  b.bind(api.addressing_mode, {"nvmlDeviceGetAddressingMode"});
  b.bind(api.platform, {"nvmlDeviceGetPlatformInfo"});
  b.bind(api.c2c_mode, {"nvmlDeviceGetC2cModeInfoV"});
  b.bind(api.common_ancestor, {"nvmlDeviceGetTopologyCommonAncestor"});
  b.bind(api.remote_pci,
         {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"});
  b.bind(api.link_state, {"nvmlDeviceGetNvLinkState"});
  b.bind(api.link_version, {"nvmlDeviceGetNvLinkVersion"});
  b.bind(api.link_errors, {"nvmlDeviceGetNvLinkErrorCounter"});
  b.bind(api.mig_mode, {"nvmlDeviceGetMigMode"});
  b.bind(api.mig_max_devices, {"nvmlDeviceGetMaxMigDeviceCount"});
  b.bind(api.mig_handle, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  b.bind(api.gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  b.bind(api.compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  b.bind(api.attributes, {"nvmlDeviceGetAttributes_v2"});
}

void bind_limits(const Binder& b, NvmlApi& api) {
  b.bind(api.power_limit_requested, {"nvmlDeviceGetPowerManagementLimit"});
  b.bind(api.power_limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  b.bind(api.power_limit_range, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  b.bind(api.application_clock, {"nvmlDeviceGetApplicationsClock"});
  b.bind(api.application_clock_default, {"nvmlDeviceGetDefaultApplicationsClock"});
  b.bind(api.customer_clock, {"nvmlDeviceGetMaxCustomerBoostClock"});
  b.bind(api.clock_by_id, {"nvmlDeviceGetClock"});
  b.bind(api.violation, {"nvmlDeviceGetViolationStatus"});
  b.bind(api.margin, {"nvmlDeviceGetMarginTemperature"});
  b.bind(api.threshold, {"nvmlDeviceGetTemperatureThreshold"});
  b.bind(api.encoder_utilization, {"nvmlDeviceGetEncoderUtilization"});
  b.bind(api.decoder_utilization, {"nvmlDeviceGetDecoderUtilization"});
  b.bind(api.jpeg_utilization, {"nvmlDeviceGetJpgUtilization"});
  b.bind(api.ofa_utilization, {"nvmlDeviceGetOfaUtilization"});
  b.bind(api.encoder_stats, {"nvmlDeviceGetEncoderStats"});
  b.bind(api.fbc_stats, {"nvmlDeviceGetFBCStats"});
  b.bind(api.encoder_sessions, {"nvmlDeviceGetEncoderSessions"});
  b.bind(api.fbc_sessions, {"nvmlDeviceGetFBCSessions"});
  b.bind(api.fan_rpm, {"nvmlDeviceGetFanSpeedRPM"});
  b.bind(api.pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
  b.bind(api.persistence_mode, {"nvmlDeviceGetPersistenceMode"});
  b.bind(api.compute_mode, {"nvmlDeviceGetComputeMode"});
  b.bind(api.display_mode, {"nvmlDeviceGetDisplayMode"});
  b.bind(api.display_active, {"nvmlDeviceGetDisplayActive"});
  b.bind(api.accounting_mode, {"nvmlDeviceGetAccountingMode"});
  b.bind(api.virtualization_mode, {"nvmlDeviceGetVirtualizationMode"});
  b.bind(api.confidential_settings, {"nvmlSystemGetConfComputeSettings"});
  b.bind(api.confidential_state, {"nvmlSystemGetConfComputeState"});
  b.bind(api.active_vgpus, {"nvmlDeviceGetActiveVgpus"});
  b.bind(api.power_source, {"nvmlDeviceGetPowerSource"});
}

void bind_activity(const Binder& b, NvmlApi& api) {
  b.bind(api.process_details, {"nvmlDeviceGetRunningProcessDetailList"});
  b.bind(api.accounting_stats, {"nvmlDeviceGetAccountingStats"});
  b.bind(api.process_shares, {"nvmlDeviceGetProcessesUtilizationInfo"});
  b.bind(api.process_shares_v1, {"nvmlDeviceGetProcessUtilization"});
  b.bind(api.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  b.bind(api.gpm_alloc, {"nvmlGpmSampleAlloc"});
  b.bind(api.gpm_free, {"nvmlGpmSampleFree"});
  b.bind(api.gpm_sample, {"nvmlGpmSampleGet"});
  b.bind(api.gpm_instance_sample, {"nvmlGpmMigSampleGet"});
  b.bind(api.gpm_metrics, {"nvmlGpmMetricsGet"});
}

void bind_health(const Binder& b, NvmlApi& api) {
  b.bind(api.bar1, {"nvmlDeviceGetBAR1MemoryInfo"});
  b.bind(api.protected_memory, {"nvmlDeviceGetConfComputeProtectedMemoryUsage"});
  b.bind(api.protected_size, {"nvmlDeviceGetConfComputeMemSizeInfo"});
  b.bind(api.ecc_mode, {"nvmlDeviceGetEccMode"});
  b.bind(api.ecc_total, {"nvmlDeviceGetTotalEccErrors"});
  b.bind(api.ecc_at, {"nvmlDeviceGetMemoryErrorCounter"});
  b.bind(api.sram_errors, {"nvmlDeviceGetSramEccErrorStatus"});
  b.bind(api.remap_histogram, {"nvmlDeviceGetRowRemapperHistogram"});
  b.bind(api.repair_status, {"nvmlDeviceGetRepairStatus"});
  b.bind(api.fabric_v, {"nvmlDeviceGetGpuFabricInfoV"});
  b.bind(api.fabric_v1, {"nvmlDeviceGetGpuFabricInfo"});
}

void bind_readings(const Binder& b, NvmlApi& api) {
  b.bind(api.utilization, {"nvmlDeviceGetUtilizationRates"});
  b.bind(api.samples, {"nvmlDeviceGetSamples"});
  b.bind(api.field_values, {"nvmlDeviceGetFieldValues"});
  b.bind(api.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  b.bind(api.memory_v1, {"nvmlDeviceGetMemoryInfo"});
  b.bind(api.temperature_v, {"nvmlDeviceGetTemperatureV"});
  b.bind(api.temperature, {"nvmlDeviceGetTemperature"});
  b.bind(api.power_usage, {"nvmlDeviceGetPowerUsage"});
  b.bind(api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  b.bind(api.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  b.bind(api.clock, {"nvmlDeviceGetClockInfo"});
  b.bind(api.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  b.bind(api.fan_count, {"nvmlDeviceGetNumFans"});
  b.bind(api.fan_speed_of, {"nvmlDeviceGetFanSpeed_v2"});
  b.bind(api.fan_speed, {"nvmlDeviceGetFanSpeed"});
  b.bind(api.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  b.bind(api.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  b.bind(api.pcie_max_generation, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  b.bind(api.pcie_device_generation, {"nvmlDeviceGetGpuMaxPcieLinkGeneration"});
  b.bind(api.pcie_max_width, {"nvmlDeviceGetMaxPcieLinkWidth"});
  b.bind(api.pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
  b.bind(api.performance_state, {"nvmlDeviceGetPerformanceState"});
  bind_limits(b, api);
  bind_health(b, api);
  bind_activity(b, api);
  b.bind(api.clock_reasons, {"nvmlDeviceGetCurrentClocksEventReasons"});
  b.bind(api.throttle_reasons, {"nvmlDeviceGetCurrentClocksThrottleReasons"});
  b.bind_list(api.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3",
              "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses");
  b.bind_list(api.graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v3",
              "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses");
  b.bind_list(api.mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses_v3",
              "nvmlDeviceGetMPSComputeRunningProcesses_v2",
              "nvmlDeviceGetMPSComputeRunningProcesses");
}

}  // namespace

NvmlApi resolve(const SymbolLookup& lookup) {
  NvmlApi api;
  const Binder binder(lookup);
  bind_system(binder, api);
  bind_identity(binder, api);
  bind_readings(binder, api);
  return api;
}

const char* missing_essential(const NvmlApi& api) {
  if (api.init == nullptr) return "nvmlInit_v2";
  if (api.shutdown == nullptr) return "nvmlShutdown";
  if (api.count == nullptr) return "nvmlDeviceGetCount_v2";
  if (api.handle_by_index == nullptr) return "nvmlDeviceGetHandleByIndex_v2";
  return nullptr;
}

}  // namespace gpusight::collect::nvml
