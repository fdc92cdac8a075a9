// The calls of NVIDIA's management library that gpusight makes, each resolved by its exact name. A
// null pointer is a capability that this library does not have; nothing here is bound lazily.
//
// Through dlsym a name without suffix is the OLDEST interface of a call, so names are never mixed
// unless both write the same bytes. Plain data; the pointers live as long as the library.
#pragma once

#include <functional>
#include <span>

#include "collect/nvml/nvml_abi.h"

namespace gpusight::collect::nvml {

using SymbolLookup = std::function<void*(const char* name)>;

// A process list and how long the rows are that this call is documented to write.
struct ProcessListCall {
  Return (*call)(Handle, unsigned* count, void* rows) = nullptr;
  size_t row_bytes = 0;
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
  Return (*energy)(Handle, unsigned long long*) = nullptr;
  Return (*clock)(Handle, ClockType, unsigned*) = nullptr;
  Return (*max_clock)(Handle, ClockType, unsigned*) = nullptr;
  Return (*fan_count)(Handle, unsigned*) = nullptr;
  Return (*fan_speed_of)(Handle, unsigned fan, unsigned*) = nullptr;
  Return (*fan_speed)(Handle, unsigned*) = nullptr;
  Return (*pcie_generation)(Handle, unsigned*) = nullptr;
  Return (*pcie_width)(Handle, unsigned*) = nullptr;
  Return (*pcie_max_generation)(Handle, unsigned*) = nullptr;
  Return (*pcie_max_width)(Handle, unsigned*) = nullptr;
  Return (*pcie_replays)(Handle, unsigned*) = nullptr;
  Return (*performance_state)(Handle, unsigned*) = nullptr;
  Return (*clock_reasons)(Handle, unsigned long long*) = nullptr;
  ProcessListCall compute_processes;
  ProcessListCall graphics_processes;
  ProcessListCall mps_processes;

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
