// PCI Express and NVLink.
#include <time.h>

#include <algorithm>

#include "call.h"
#include "pci.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// The driver counts bytes for this long before it answers (documented).
constexpr long kThroughputWindowNs = 20000000;
constexpr unsigned char kFullBandwidth = 0;  // of the bandwidth modes

unsigned current_generation(const Call& call) { return call.model().pcie_generation(call.t()); }
unsigned highest_generation(const Call& call) { return call.board().pcie_generation; }
unsigned current_width(const Call& call) { return call.model().pcie_width(call.t()); }
unsigned highest_width(const Call& call) { return call.board().pcie_width; }

nvmlReturn_t pcie_number(Fn fn, nvmlDevice_t device, unsigned* out,
                         unsigned (*read)(const Call& call)) {
  return one_number(fn, device, out, [read](Call& call) { return read(call); });
}

// One fact of one NVLink.
template <class T, class Body>
nvmlReturn_t link_number(Fn fn, nvmlDevice_t device, unsigned link, T* out, Body body) {
  return on_gpu(fn, device, out != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!call.model().has_nvlinks()) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= call.board().nvlinks) return NVML_ERROR_INVALID_ARGUMENT;
    call.put(out, static_cast<T>(body(call)));
    return NVML_SUCCESS;
  });
}

// The counters of the call, which are those of the model in its own order.
unsigned long long link_errors(const Call& call, unsigned link, unsigned counter) {
  constexpr NvlinkCounter kCounters[] = {NvlinkCounter::kReplay, NvlinkCounter::kRecovery,
                                         NvlinkCounter::kCrcFlit, NvlinkCounter::kCrcData,
                                         NvlinkCounter::kEcc};
  return static_cast<unsigned long long>(call.model().conditions().counted(
      FaultKind::kNvlinkErrors, static_cast<unsigned>(kCounters[counter]), 0, call.t(), link));
}

// Where the other end of a link is: a GPU, or a switch beside the GPUs.
nvmlPciInfo_t remote_place(const Call& call, unsigned link) {
  constexpr unsigned kSwitchDomain = 0;
  constexpr unsigned kFirstSwitchBus = 0xC4;
  constexpr unsigned kSwitchId = 0x22A310DE;
  const std::optional<std::size_t> peer = call.model().nvlink_peer(link);
  if (peer) return pci_info(call.scenario().gpus[*peer]);
  return pci_info(kSwitchDomain, kFirstSwitchBus + link % 4, 0, kSwitchId, 0);
}

nvmlReturn_t remote_pci(Fn fn, nvmlDevice_t device, unsigned link, nvmlPciInfo_t* pci, bool old) {
  return on_gpu(fn, device, pci != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!call.model().has_nvlinks()) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= call.board().nvlinks) return NVML_ERROR_INVALID_ARGUMENT;
    put_pci_info(remote_place(call, link), pci, old);
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetCurrPcieLinkGeneration, device, out, current_generation);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetCurrPcieLinkWidth, device, out, current_width);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetMaxPcieLinkGeneration, device, out, highest_generation);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* out) {
  return pcie_number(Fn::nvmlDeviceGetMaxPcieLinkWidth, device, out, highest_width);
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
  return one_number(Fn::nvmlDeviceGetPcieReplayCounter, device, out, [](Call& call) {
    return static_cast<std::uint64_t>(call.model().pcie_errors(PcieCounter::kReplay, call.t()));
  });
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned int* value) {
  return on_gpu(Fn::nvmlDeviceGetPcieThroughput, device,
                value != nullptr && counter <= NVML_PCIE_UTIL_RX_BYTES,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().unified_memory) return NVML_ERROR_NOT_SUPPORTED;
                  const timespec window{0, kThroughputWindowNs};
                  nanosleep(&window, nullptr);
                  const bool sent = counter == NVML_PCIE_UTIL_TX_BYTES;
                  const double bytes = call.model().pcie_bytes_per_second(sent, call.t());
                  call.put(value, static_cast<unsigned>(bytes / 1000));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
                                      nvmlEnableState_t* active) {
  return link_number(Fn::nvmlDeviceGetNvLinkState, device, link, active,
                     [&](Call& call) { return call.model().nvlink_up(link, call.t()) ? 1U : 0U; });
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
                                        unsigned int* version) {
  return link_number(Fn::nvmlDeviceGetNvLinkVersion, device, link, version,
                     [](Call& call) { return call.board().nvlink_version; });
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link,
                                           nvmlNvLinkCapability_t capability,
                                           unsigned int* result) {
  return link_number(Fn::nvmlDeviceGetNvLinkCapability, device, link, result, [&](Call& call) {
    if (capability == NVML_NVLINK_CAP_SLI_BRIDGE) return call.board().nvlink_bridge ? 1U : 0U;
    return 1U;
  });
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link,
                                             nvmlNvLinkErrorCounter_t which,
                                             unsigned long long* counter) {
  return on_gpu(Fn::nvmlDeviceGetNvLinkErrorCounter, device, counter != nullptr && which <= 4,
                [&](Call& call) -> nvmlReturn_t {
                  const bool counts = call.model().has_nvlinks() && !call.board().nvlink_packets;
                  if (!counts) return NVML_ERROR_NOT_SUPPORTED;
                  if (link >= call.board().nvlinks) return NVML_ERROR_INVALID_ARGUMENT;
                  call.put(counter, link_errors(call, link, which));
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
                                                 nvmlIntNvLinkDeviceType_t* type) {
  return link_number(Fn::nvmlDeviceGetNvLinkRemoteDeviceType, device, link, type, [](Call& call) {
    return call.board().nvswitch ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
  });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link,
                                              nvmlPciInfo_t* pci) {
  return remote_pci(Fn::nvmlDeviceGetNvLinkRemotePciInfo, device, link, pci, true);
}
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
                                                 nvmlPciInfo_t* pci) {
  return remote_pci(Fn::nvmlDeviceGetNvLinkRemotePciInfo_v2, device, link, pci, false);
}

// Whether the links are encrypted, and the firmware of what drives them.
nvmlReturn_t nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, nvmlNvLinkInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetNvLinkInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const bool second = call.takes<nvmlNvLinkInfo_v2_t>(info->version, 2);
                  if (!second && !call.takes<nvmlNvLinkInfo_v1_t>(info->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (!call.model().has_nvlinks()) return NVML_ERROR_NOT_SUPPORTED;
                  info->isNvleEnabled = 0;
                  if (!second) return NVML_SUCCESS;
                  info->firmwareInfo = {};
                  info->firmwareInfo.numValidEntries = 1;
                  info->firmwareInfo.firmwareVersion[0] = {
                      .ucodeType = 1, .major = 35, .minor = 2014, .subMinor = 1200};
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetNvlinkBwMode(nvmlDevice_t device, nvmlNvlinkGetBwMode_t* mode) {
  return on_gpu(Fn::nvmlDeviceGetNvlinkBwMode, device, mode != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlNvlinkGetBwMode_t>(mode->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (!call.board().nvlink_packets) return NVML_ERROR_NOT_SUPPORTED;
                  mode->bIsBest = 1;
                  mode->bwMode = kFullBandwidth;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetNvlinkSupportedBwModes(nvmlDevice_t device,
                                                 nvmlNvlinkSupportedBwModes_t* modes) {
  return on_gpu(Fn::nvmlDeviceGetNvlinkSupportedBwModes, device, modes != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlNvlinkSupportedBwModes_t>(modes->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (!call.board().nvlink_packets) return NVML_ERROR_NOT_SUPPORTED;
                  std::fill(std::begin(modes->bwModes), std::end(modes->bwModes), 0);
                  modes->totalBwModes = 5;
                  for (unsigned char i = 0; i < modes->totalBwModes; ++i) modes->bwModes[i] = i;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlSystemGetNvlinkBwMode(unsigned int* mode) {
  return on_system(Fn::nvmlSystemGetNvlinkBwMode, mode != nullptr, [&](Call& call) -> nvmlReturn_t {
    const bool any = std::any_of(
        call.scenario().gpus.begin(), call.scenario().gpus.end(), [](const GpuSpec& gpu) {
          return gpu.board->architecture >= NVML_DEVICE_ARCH_HOPPER && gpu.board->nvlinks > 0;
        });
    if (!any) return NVML_ERROR_NOT_SUPPORTED;
    call.put(mode, static_cast<unsigned>(kFullBandwidth));
    return NVML_SUCCESS;
  });
}
