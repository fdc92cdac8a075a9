// The calls of NVIDIA's management library that gpusight makes, each resolved by its exact name. A
// null pointer is a capability that this library does not have; nothing here is bound lazily.
//
// Through dlsym a name without suffix is the OLDEST interface of a call, so names are never mixed
// unless both write the same bytes. Plain data; the pointers live as long as the library.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "collect/nvml/nvml_abi.h"

namespace gpusight::collect::nvml {

using SymbolLookup = std::function<void*(const char* name)>;

// A process list in the forms that libraries have it, newest first, and how long the rows are that
// each is documented to write.
struct ProcessListCall {
  struct Form {
    Return (*call)(Handle, unsigned* count, void* rows) = nullptr;
    size_t row_bytes = 0;
  };
  std::array<Form, 3> forms;
};

struct NvmlApi {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*driver_version)(char*, unsigned) = nullptr;
  Return (*nvml_version)(char*, unsigned) = nullptr;
  Return (*process_name)(unsigned pid, char*, unsigned) = nullptr;
  const char* (*sim_scenario)() = nullptr;  // only the simulated library has it

  Return (*count)(unsigned*) = nullptr;
  Return (*handle_by_index)(unsigned, Handle*) = nullptr;
  Return (*handle_by_pci)(const char*, Handle*) = nullptr;
  Return (*uuid)(Handle, char*, unsigned) = nullptr;
  Return (*name)(Handle, char*, unsigned) = nullptr;
  Return (*serial)(Handle, char*, unsigned) = nullptr;
  Return (*vbios)(Handle, char*, unsigned) = nullptr;
  Return (*index)(Handle, unsigned*) = nullptr;
  Return (*minor)(Handle, unsigned*) = nullptr;
  Return (*architecture)(Handle, unsigned*) = nullptr;
  Return (*pci_info)(Handle, PciInfo*) = nullptr;
  Return (*cuda_version)(int*) = nullptr;
  Return (*cuda_version_v2)(int*) = nullptr;
  Return (*brand)(Handle, unsigned*) = nullptr;
  Return (*compute_capability)(Handle, int* major, int* minor) = nullptr;
  Return (*board_part)(Handle, char*, unsigned) = nullptr;
  Return (*inforom_image)(Handle, char*, unsigned) = nullptr;
  Return (*inforom_version)(Handle, unsigned object, char*, unsigned) = nullptr;
  Return (*core_count)(Handle, unsigned*) = nullptr;
  Return (*memory_bus_width)(Handle, unsigned*) = nullptr;
  Return (*board_id)(Handle, unsigned*) = nullptr;
  Return (*numa_node)(Handle, unsigned*) = nullptr;
  Return (*module_id)(Handle, unsigned*) = nullptr;
  Return (*gsp_firmware)(Handle, char*) = nullptr;
  Return (*addressing_mode)(Handle, AddressingMode*) = nullptr;
  Return (*platform)(Handle, void* versioned) = nullptr;
  Return (*c2c_mode)(Handle, C2cMode*) = nullptr;

  Return (*common_ancestor)(Handle, Handle, unsigned* level) = nullptr;
  Return (*remote_pci)(Handle, unsigned link, PciInfo*) = nullptr;
  Return (*link_state)(Handle, unsigned link, unsigned*) = nullptr;
  Return (*link_version)(Handle, unsigned link, unsigned*) = nullptr;
  Return (*link_errors)(Handle, unsigned link, LinkError, unsigned long long*) = nullptr;

  Return (*mig_mode)(Handle, unsigned* current, unsigned* pending) = nullptr;
  Return (*mig_max_devices)(Handle, unsigned*) = nullptr;
  Return (*mig_handle)(Handle, unsigned, Handle*) = nullptr;
  Return (*gpu_instance)(Handle, unsigned*) = nullptr;
  Return (*compute_instance)(Handle, unsigned*) = nullptr;
  Return (*attributes)(Handle, DeviceAttributes*) = nullptr;

  Return (*utilization)(Handle, Utilization*) = nullptr;
  Return (*samples)(Handle, SamplingType, unsigned long long last_seen_us, ValueType*, unsigned*,
                    RingSample*) = nullptr;
  Return (*field_values)(Handle, int, FieldValue*) = nullptr;
  Return (*memory_v2)(Handle, MemoryV2*) = nullptr;
  Return (*memory_v1)(Handle, MemoryV1*) = nullptr;
  Return (*temperature_v)(Handle, TemperatureReading*) = nullptr;
  Return (*temperature)(Handle, unsigned sensor, unsigned*) = nullptr;
  Return (*power_usage)(Handle, unsigned*) = nullptr;
  Return (*power_limit)(Handle, unsigned*) = nullptr;
  Return (*power_limit_requested)(Handle, unsigned*) = nullptr;
  Return (*power_limit_default)(Handle, unsigned*) = nullptr;
  Return (*power_limit_range)(Handle, unsigned* lowest, unsigned* highest) = nullptr;
  Return (*energy)(Handle, unsigned long long*) = nullptr;
  Return (*clock)(Handle, ClockType, unsigned*) = nullptr;
  Return (*max_clock)(Handle, ClockType, unsigned*) = nullptr;
  Return (*application_clock)(Handle, ClockType, unsigned*) = nullptr;
  Return (*application_clock_default)(Handle, ClockType, unsigned*) = nullptr;
  Return (*customer_clock)(Handle, ClockType, unsigned*) = nullptr;
  Return (*clock_by_id)(Handle, ClockType, ClockId, unsigned*) = nullptr;
  Return (*violation)(Handle, Policy, ViolationTime*) = nullptr;
  Return (*margin)(Handle, MarginTemperature*) = nullptr;
  Return (*threshold)(Handle, Threshold, unsigned*) = nullptr;
  Return (*encoder_utilization)(Handle, unsigned*, unsigned* period_us) = nullptr;
  Return (*decoder_utilization)(Handle, unsigned*, unsigned* period_us) = nullptr;
  Return (*jpeg_utilization)(Handle, unsigned*, unsigned* period_us) = nullptr;
  Return (*ofa_utilization)(Handle, unsigned*, unsigned* period_us) = nullptr;
  Return (*encoder_stats)(Handle, unsigned* sessions, unsigned* fps,
                          unsigned* latency_us) = nullptr;
  Return (*fbc_stats)(Handle, FbcStats*) = nullptr;
  Return (*encoder_sessions)(Handle, unsigned* count, EncoderSession*) = nullptr;
  Return (*fbc_sessions)(Handle, unsigned* count, FbcSession*) = nullptr;
  Return (*bar1)(Handle, Bar1Memory*) = nullptr;
  Return (*protected_memory)(Handle, MemoryV1*) = nullptr;
  Return (*protected_size)(Handle, ProtectedMemorySize*) = nullptr;
  Return (*fan_rpm)(Handle, FanSpeedInfo*) = nullptr;
  Return (*pcie_throughput)(Handle, PcieDirection, unsigned*) = nullptr;
  Return (*ecc_mode)(Handle, unsigned* current, unsigned* pending) = nullptr;
  Return (*ecc_total)(Handle, ErrorType, ErrorCounter, unsigned long long*) = nullptr;
  Return (*ecc_at)(Handle, ErrorType, ErrorCounter, unsigned location,
                   unsigned long long*) = nullptr;
  Return (*sram_errors)(Handle, SramErrors*) = nullptr;
  Return (*remap_histogram)(Handle, RowRemapHistogram*) = nullptr;
  Return (*repair_status)(Handle, RepairStatus*) = nullptr;
  Return (*fabric_v)(Handle, void* versioned) = nullptr;
  Return (*fabric_v1)(Handle, FabricInfoV1*) = nullptr;
  Return (*persistence_mode)(Handle, unsigned*) = nullptr;
  Return (*compute_mode)(Handle, unsigned*) = nullptr;
  Return (*display_mode)(Handle, unsigned*) = nullptr;
  Return (*display_active)(Handle, unsigned*) = nullptr;
  Return (*accounting_mode)(Handle, unsigned*) = nullptr;
  Return (*virtualization_mode)(Handle, unsigned*) = nullptr;
  Return (*power_source)(Handle, unsigned*) = nullptr;
  Return (*confidential_settings)(ConfidentialSettings*) = nullptr;
  Return (*confidential_state)(ConfidentialState*) = nullptr;
  Return (*active_vgpus)(Handle, unsigned* count, unsigned* instances) = nullptr;
  Return (*fan_count)(Handle, unsigned*) = nullptr;
  Return (*fan_speed_of)(Handle, unsigned fan, unsigned*) = nullptr;
  Return (*fan_speed)(Handle, unsigned*) = nullptr;
  Return (*pcie_generation)(Handle, unsigned*) = nullptr;
  Return (*pcie_width)(Handle, unsigned*) = nullptr;
  Return (*pcie_max_generation)(Handle, unsigned*) = nullptr;
  Return (*pcie_device_generation)(Handle, unsigned*) = nullptr;
  Return (*pcie_max_width)(Handle, unsigned*) = nullptr;
  Return (*pcie_replays)(Handle, unsigned*) = nullptr;
  Return (*performance_state)(Handle, unsigned*) = nullptr;
  Return (*clock_reasons)(Handle, unsigned long long*) = nullptr;
  // The same bits under the name of before 535.
  Return (*throttle_reasons)(Handle, unsigned long long*) = nullptr;
  ProcessListCall compute_processes;
  ProcessListCall graphics_processes;
  ProcessListCall mps_processes;
  Return (*process_details)(Handle, ProcessDetails*) = nullptr;
  Return (*accounting_stats)(Handle, unsigned pid, AccountingStats*) = nullptr;
  Return (*process_shares)(Handle, ProcessShares*) = nullptr;
  Return (*process_shares_v1)(Handle, ProcessShareV1*, unsigned* count,
                              unsigned long long last_seen_us) = nullptr;

  Return (*gpm_support)(Handle, GpmSupport*) = nullptr;
  Return (*gpm_alloc)(GpmSample*) = nullptr;
  Return (*gpm_free)(GpmSample) = nullptr;
  Return (*gpm_sample)(Handle, GpmSample) = nullptr;
  Return (*gpm_instance_sample)(Handle gpu, unsigned gpu_instance, GpmSample) = nullptr;
  Return (*gpm_metrics)(GpmMetrics*) = nullptr;

  Return (*supported_events)(Handle, unsigned long long*) = nullptr;
  Return (*event_set_create)(EventSet*) = nullptr;
  Return (*event_set_free)(EventSet) = nullptr;
  Return (*register_events)(Handle, unsigned long long, EventSet) = nullptr;
  Return (*event_wait_v2)(EventSet, EventData*, unsigned timeout_ms) = nullptr;
  Return (*event_wait_v1)(EventSet, EventDataV1*, unsigned timeout_ms) = nullptr;
};

NvmlApi resolve(const SymbolLookup& lookup);

// The first name that a library must have to be of any use and has not; nullptr if it has all.
const char* missing_essential(const NvmlApi& api);

}  // namespace gpusight::collect::nvml
