// Where devices sit in the machine and how they reach one another.
#include <algorithm>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kBits = sizeof(unsigned long) * 8;
constexpr unsigned kChipsetCannot = 1;  // P2P status; the tables name only the one for "yes"
constexpr unsigned kPeerCannot = 5;

unsigned nodes_of(const Scenario& scenario) {
  unsigned nodes = 1;
  for (const GpuSpec& gpu : scenario.gpus) nodes = std::max(nodes, gpu.numa_node + 1);
  return nodes;
}

// The CPUs beside a GPU: its NUMA node's share of all, as the kernel's masks of longs.
nvmlReturn_t cpu_mask(Fn fn, nvmlDevice_t device, unsigned size, unsigned long* mask) {
  return on_gpu(fn, device, mask != nullptr && size > 0, [&](Call& call) -> nvmlReturn_t {
    const unsigned nodes = nodes_of(call.scenario());
    const unsigned cpus = call.scenario().host.cpus;
    const unsigned first = cpus * call.model().spec().numa_node / nodes;
    const unsigned last = cpus * (call.model().spec().numa_node + 1) / nodes;
    std::fill(mask, mask + size, 0UL);
    for (unsigned cpu = first; cpu < last && cpu / kBits < size; ++cpu) {
      mask[cpu / kBits] |= 1UL << cpu % kBits;
    }
    return NVML_SUCCESS;
  });
}

unsigned level_between(const Scenario& scenario, std::size_t one, std::size_t other) {
  if (one == other) return NVML_TOPOLOGY_INTERNAL;
  // Pairs of neighbouring slots hang on one bridge each, four on one root.
  const GpuSpec& a = scenario.gpus[one];
  const GpuSpec& b = scenario.gpus[other];
  if (a.numa_node != b.numa_node) return NVML_TOPOLOGY_SYSTEM;
  if (one / 2 == other / 2) return NVML_TOPOLOGY_MULTIPLE;
  return NVML_TOPOLOGY_NODE;
}

// The position of the GPU that another handle means.
std::optional<std::size_t> other_gpu(const Call& call, nvmlDevice_t handle) {
  const std::optional<Target> target = read_handle(handle);
  if (!target || target->gpu >= call.scenario().gpus.size()) return std::nullopt;
  return target->gpu;
}

// Hands out the GPUs that `keep` says, as many as fit; the number of all is left in `count`.
template <class Keep>
nvmlReturn_t list_gpus(const Call& call, unsigned* count, nvmlDevice_t* devices, Keep keep) {
  unsigned found = 0;
  for (std::size_t gpu = 0; gpu < call.scenario().gpus.size(); ++gpu) {
    if (!keep(gpu)) continue;
    if (devices != nullptr && found < *count) {
      devices[found] = make_handle({library().generation(), gpu, std::nullopt});
    }
    ++found;
  }
  const bool fits = devices == nullptr || found <= *count;
  *count = found;
  return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

// What one GPU may do with another's memory: over NVLink or not at all, except between boards for
// data centres, which may over PCI Express too.
unsigned peer_status(const Call& call, std::size_t other, unsigned index) {
  const GpuModel& model = call.model();
  const GpuModel peer(call.scenario(), other, call.plan().conditions);
  if (other == call.gpu()) return NVML_P2P_STATUS_OK;
  bool linked = false;
  for (unsigned link = 0; link < call.board().nvlinks && model.has_nvlinks(); ++link) {
    const std::optional<std::size_t> end = model.nvlink_peer(link);
    const bool there = call.board().nvswitch ? peer.board().nvswitch : end == other;
    linked = linked || (there && model.nvlink_up(link, call.t()));
  }
  if (index == NVML_P2P_CAPS_INDEX_NVLINK) {
    return linked ? NVML_P2P_STATUS_OK : kPeerCannot;
  }
  if (index == NVML_P2P_CAPS_INDEX_ATOMICS) {
    return linked && !call.board().nvlink_bridge ? NVML_P2P_STATUS_OK : kPeerCannot;
  }
  const bool over_pcie = call.board().ecc == Ecc::kEnabled && peer.board().ecc == Ecc::kEnabled;
  if (index == NVML_P2P_CAPS_INDEX_PCI) {
    return over_pcie ? NVML_P2P_STATUS_OK : kChipsetCannot;
  }
  return linked || over_pcie ? NVML_P2P_STATUS_OK : kChipsetCannot;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int size, unsigned long* mask) {
  return cpu_mask(Fn::nvmlDeviceGetCpuAffinity, device, size, mask);
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int size,
                                                 unsigned long* mask, nvmlAffinityScope_t) {
  return cpu_mask(Fn::nvmlDeviceGetCpuAffinityWithinScope, device, size, mask);
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int size,
                                         unsigned long* nodes, nvmlAffinityScope_t) {
  return on_gpu(Fn::nvmlDeviceGetMemoryAffinity, device, nodes != nullptr && size > 0,
                [&](Call& call) {
                  std::fill(nodes, nodes + size, 0UL);
                  nodes[0] = 1UL << call.model().spec().numa_node;
                  return kSuccess;
                });
}

// Only memory that is a node of its own has a number.
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int* node) {
  return number_if(
      Fn::nvmlDeviceGetNumaNodeId, device, node,
      [](const Board& b) { return b.addressing_mode == NVML_DEVICE_ADDRESSING_MODE_ATS; },
      [](Call& call) { return nodes_of(call.scenario()) + call.gpu(); });
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level) {
  return on_gpu(Fn::nvmlDeviceGetTopologyCommonAncestor, one, level != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const std::optional<std::size_t> gpu = other_gpu(call, other);
                  if (!gpu) return NVML_ERROR_INVALID_ARGUMENT;
                  call.put(level, level_between(call.scenario(), call.gpu(), *gpu));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
                                              unsigned int* count, nvmlDevice_t* devices) {
  return on_gpu(Fn::nvmlDeviceGetTopologyNearestGpus, device, count != nullptr, [&](Call& call) {
    return list_gpus(call, count, devices, [&](std::size_t gpu) {
      return gpu != call.gpu() && level_between(call.scenario(), call.gpu(), gpu) == level;
    });
  });
}

nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpu, unsigned int* count,
                                         nvmlDevice_t* devices) {
  return on_system(Fn::nvmlSystemGetTopologyGpuSet, count != nullptr,
                   [&](Call& call) -> nvmlReturn_t {
                     const unsigned cpus = call.scenario().host.cpus;
                     if (cpu >= cpus) return NVML_ERROR_INVALID_ARGUMENT;
                     const unsigned nodes = nodes_of(call.scenario());
                     return list_gpus(call, count, devices, [&](std::size_t gpu) {
                       const unsigned node = call.scenario().gpus[gpu].numa_node;
                       return cpu >= cpus * node / nodes && cpu < cpus * (node + 1) / nodes;
                     });
                   });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t index, nvmlGpuP2PStatus_t* status) {
  return on_gpu(Fn::nvmlDeviceGetP2PStatus, one,
                status != nullptr && index < NVML_P2P_CAPS_INDEX_UNKNOWN,
                [&](Call& call) -> nvmlReturn_t {
                  const std::optional<std::size_t> gpu = other_gpu(call, other);
                  if (!gpu) return NVML_ERROR_INVALID_ARGUMENT;
                  call.put(status, peer_status(call, *gpu, index));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t one, nvmlDevice_t other, int* same) {
  return on_gpu(Fn::nvmlDeviceOnSameBoard, one, same != nullptr, [&](Call& call) -> nvmlReturn_t {
    const std::optional<std::size_t> gpu = other_gpu(call, other);
    if (!gpu) return NVML_ERROR_INVALID_ARGUMENT;
    call.put(same, *gpu == call.gpu() ? 1 : 0);
    return NVML_SUCCESS;
  });
}
