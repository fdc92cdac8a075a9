// What a PCI device is called, from the lists that distributions carry: libdrm's amdgpu.ids, which
// knows the names AMD sells its GPUs by, and pci.ids. Pure but for gpu_name(); any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/root_fs.h"

namespace gpusight::platform {

struct PciIds {
  uint32_t vendor = 0;
  uint32_t device = 0;
  uint32_t subsystem_vendor = 0;
  uint32_t subsystem_device = 0;
  std::optional<uint32_t> revision;  // without it only names that all revisions share are taken
};

// The name in the text of amdgpu.ids, whose lines are "DEVICE,\tREVISION,\tNAME"; empty: none.
std::string amdgpu_ids_name(std::string_view text, const PciIds& ids);
// The name in the text of pci.ids: of the very board where it is listed, else of the chip, of which
// "Navi 31 [Radeon RX 7900 XTX]" the part in brackets. Without the vendor. Empty: none.
std::string pci_ids_name(std::string_view text, const PciIds& ids);

// The best name that the machine's lists have, else "AMD 1002:7550". Never empty.
std::string gpu_name(const RootFs& root, const PciIds& ids);

}  // namespace gpusight::platform
