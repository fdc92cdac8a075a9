// ROCm's side of AMD GPUs, from the files of the kernel's KFD: which processes compute on them and
// how much memory they hold. Anybody may read them, whoever's the processes are; no engine time is
// told. None of it wakes a device. Pure but for the files; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/root_fs.h"

namespace gpusight::collect::amdgpu {

// A GPU as KFD counts them: a partition of a board is one of its own.
struct KfdNode {
  uint64_t gpu_id = 0;  // in names of files
  std::string slot;     // "0000:c1:00.": the board's PCI address without its function
};

inline constexpr size_t kMostKfdNodes = 256;
inline constexpr size_t kMostKfdProcesses = 4096;

std::vector<KfdNode> kfd_nodes(const platform::RootFs& root);

// Processes that hold memory of the board at this PCI address, over its partitions, with the bytes.
// Their pids are those of the machine, not of a container. A process that may compute but holds
// nothing is not listed.
std::map<int64_t, uint64_t> kfd_memory(const platform::RootFs& root,
                                       const std::vector<KfdNode>& nodes, std::string_view address);

}  // namespace gpusight::collect::amdgpu
