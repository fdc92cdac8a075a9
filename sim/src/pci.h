// PCI addresses in the driver's structures.
#pragma once

#include "nvml_abi.h"
#include "scenario.h"

namespace gpusight::sim {

nvmlPciInfo_t pci_info(unsigned domain, unsigned bus, unsigned device, unsigned device_id,
                       unsigned subsystem_id);
nvmlPciInfo_t pci_info(const GpuSpec& spec);

// Writes it as newer calls do, or as the two older ones: only the first bytes, with reserved words
// where the long bus id is now.
void put_pci_info(nvmlPciInfo_t info, nvmlPciInfo_t* out, bool old);

}  // namespace gpusight::sim
