// PCI Express, NVLink and where a device sits in the machine.
#include <time.h>

#include <algorithm>
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// The driver counts bytes for this long before it answers (documented).
constexpr long kThroughputWindowNs = 20000000;
constexpr double kPcieTxShare = 0.06;  // of the link at full activity
constexpr double kPcieRxShare = 0.11;

// Bytes a second of a whole PCIe link.
double link_bytes(const Call& call, unsigned generation) {
  constexpr double kLaneGigabytes[] = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  return kLaneGigabytes[std::min(generation, 6U)] * 1e9 * call.board().pcie_width;
}

nvmlReturn_t pcie_number(Fn fn, nvmlDevice_t device, unsigned* out,
                         unsigned (*read)(const Call& call)) {
  return one_number(fn, device, out, [read](Call& call) { return read(call); });
}

unsigned current_generation(const Call& call) { return call.model().pcie_generation(call.t()); }
unsigned highest_generation(const Call& call) { return call.board().pcie_generation; }
unsigned width(const Call& call) { return call.board().pcie_width; }

// One fact of one NVLink.
template <class T, class Body>
nvmlReturn_t link_number(Fn fn, nvmlDevice_t device, unsigned link, T* out, Body body) {
  return on_gpu(fn, device, out != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (call.board().nvlinks == 0 || call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= call.board().nvlinks) return NVML_ERROR_INVALID_ARGUMENT;
    call.put(out, static_cast<T>(body(call)));
    return NVML_SUCCESS;
  });
}

// The CPUs beside a GPU: its NUMA node's share of all, as the kernel's masks of longs.
nvmlReturn_t cpu_mask(Fn fn, nvmlDevice_t device, unsigned size, unsigned long* mask) {
  return on_gpu(fn, device, mask != nullptr && size > 0, [&](Call& call) -> nvmlReturn_t {
    unsigned nodes = 1;
    for (const GpuSpec& gpu : call.scenario().gpus) nodes = std::max(nodes, gpu.numa_node + 1);
    const unsigned cpus = call.scenario().host.cpus;
    const unsigned first = cpus * call.model().spec().numa_node / nodes;
    const unsigned last = cpus * (call.model().spec().numa_node + 1) / nodes;
    constexpr unsigned kBits = sizeof(unsigned long) * 8;
    std::fill(mask, mask + size, 0UL);
    for (unsigned cpu = first; cpu < last && cpu / kBits < size; ++cpu) {
      mask[cpu / kBits] |= 1UL << cpu % kBits;
    }
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetCurrPcieLinkGeneration, device, out, current_generation);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetCurrPcieLinkWidth, device, out, width);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetMaxPcieLinkGeneration, device, out, highest_generation);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetMaxPcieLinkWidth, device, out, width);
}
nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetGpuMaxPcieLinkGeneration, device, out, highest_generation);
}

nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetPcieLinkMaxSpeed, device, out, highest_generation);
}

// Megatransfers a second of one lane.
nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned int* out) {
  return one_number(Fn::nvmlDeviceGetPcieSpeed, device, out, [](Call& call) {
    constexpr unsigned kSpeeds[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
    return kSpeeds[std::min(call.model().pcie_generation(call.t()), 6U)];
  });
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int* out) {
  return one_number(Fn::nvmlDeviceGetPcieReplayCounter, device, out,
                    [](Call& call) { return call.model().spec().replay_counter; });
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned int* value) {
  return on_gpu(Fn::nvmlDeviceGetPcieThroughput, device,
                value != nullptr && counter <= NVML_PCIE_UTIL_RX_BYTES, [&](Call& call) {
                  const timespec window{0, kThroughputWindowNs};
                  nanosleep(&window, nullptr);
                  const double share =
                      counter == NVML_PCIE_UTIL_TX_BYTES ? kPcieTxShare : kPcieRxShare;
                  const double bytes = link_bytes(call, call.model().pcie_generation(call.t())) *
                                       share * call.model().busy(call.t(), 0.02);
                  call.put(value, static_cast<unsigned>(bytes / 1000) + 350);
                  return kSuccess;
                });
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
                                      nvmlEnableState_t* active) {
  return link_number(Fn::nvmlDeviceGetNvLinkState, device, link, active,
                     [](Call&) { return NVML_FEATURE_ENABLED; });
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
                                        unsigned int* version) {
  return link_number(Fn::nvmlDeviceGetNvLinkVersion, device, link, version,
                     [](Call& call) { return call.board().nvlink_version; });
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link,
                                           nvmlNvLinkCapability_t capability,
                                           unsigned int* result) {
  return link_number(Fn::nvmlDeviceGetNvLinkCapability, device, link, result,
                     [&](Call&) { return capability == NVML_NVLINK_CAP_SLI_BRIDGE ? 0U : 1U; });
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link,
                                             nvmlNvLinkErrorCounter_t,
                                             unsigned long long* counter) {
  return link_number(Fn::nvmlDeviceGetNvLinkErrorCounter, device, link, counter,
                     [](Call&) { return 0ULL; });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
                                                 nvmlIntNvLinkDeviceType_t* type) {
  return link_number(Fn::nvmlDeviceGetNvLinkRemoteDeviceType, device, link, type,
                     [](Call&) { return NVML_NVLINK_DEVICE_TYPE_SWITCH; });
}

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

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level) {
  return on_gpu(Fn::nvmlDeviceGetTopologyCommonAncestor, one, level != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const std::optional<Target> target = read_handle(other);
                  if (!target || target->gpu >= call.scenario().gpus.size()) {
                    return NVML_ERROR_INVALID_ARGUMENT;
                  }
                  const unsigned node = call.scenario().gpus[target->gpu].numa_node;
                  const bool same = target->gpu == call.gpu();
                  const bool near = node == call.model().spec().numa_node;
                  call.put(level, same   ? NVML_TOPOLOGY_INTERNAL
                                  : near ? NVML_TOPOLOGY_NODE
                                         : NVML_TOPOLOGY_SYSTEM);
                  return NVML_SUCCESS;
                });
}
