// Which clocks a board can have, and what has been set about them.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kGraphicsStep = 15;
constexpr unsigned kLowestGraphics = 210;
constexpr int kMostOffset = 1000;  // MHz of overclocking that the driver lets a user ask for

// Memory clocks, the highest first. Boards with memory in one piece have one.
std::vector<unsigned> memory_clocks(const Board& b) {
  if (b.max_memory_mhz == 0) return {};
  if (b.idle_memory_mhz == b.max_memory_mhz) return {b.max_memory_mhz};
  std::vector<unsigned> clocks = {b.max_memory_mhz, 5001, 810, b.idle_memory_mhz};
  clocks.erase(std::remove_if(clocks.begin() + 1, clocks.end(),
                              [&](unsigned mhz) {
                                return mhz >= b.max_memory_mhz || mhz < b.idle_memory_mhz;
                              }),
               clocks.end());
  return clocks;
}

std::vector<unsigned> graphics_clocks(const Board& b) {
  std::vector<unsigned> clocks;
  for (unsigned mhz = b.max_graphics_mhz; mhz >= kLowestGraphics; mhz -= kGraphicsStep) {
    clocks.push_back(mhz);
  }
  return clocks;
}

nvmlReturn_t put_list(const std::vector<unsigned>& list, unsigned* count, unsigned* out) {
  const unsigned offered = *count;
  *count = static_cast<unsigned>(list.size());
  if (offered < list.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  std::copy(list.begin(), list.end(), out);
  return NVML_SUCCESS;
}

// The performance states of the board: its busy one, steps between, and its idle one.
std::vector<unsigned> states(const Board& b) {
  if (b.idle_pstate == b.busy_pstate) return {b.busy_pstate};
  if (b.busy_pstate == 0) return {0, 2, 5, b.idle_pstate};
  return {0, b.busy_pstate, 3, 5, b.idle_pstate};
}

bool has_state(const Board& b, unsigned state) {
  const std::vector<unsigned> all = states(b);
  return std::find(all.begin(), all.end(), state) != all.end();
}

// Text of a "name=value" list into a structure of version and characters.
template <class Info>
nvmlReturn_t put_list_text(Fn fn, nvmlDevice_t device, Info* info,
                           std::string (*text)(const Call&)) {
  return on_gpu(fn, device, info != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (!call.takes<Info>(info->version, 1)) return call.version_mismatch();
    return call.put_text(info->str, sizeof info->str, text(call));
  });
}

std::string current_clocks(const Call& call) {
  char text[160];
  std::snprintf(text, sizeof text, "perf=%u, nvclock=%u, memclock=%u, videoclock=%u",
                call.model().performance_state(call.t()), call.model().graphics_mhz(call.t()),
                call.model().memory_mhz(call.t()), call.model().video_mhz(call.t()));
  return text;
}

std::string modes(const Call& call) {
  const Board& b = call.board();
  std::string all;
  for (const unsigned state : states(b)) {
    const bool idle = state == b.idle_pstate && b.idle_pstate != b.busy_pstate;
    char text[160];
    std::snprintf(text, sizeof text, "%sperf=%u, nvclock=%u, nvclockmax=%u, memclock=%u",
                  all.empty() ? "" : " ; ", state, idle ? b.idle_graphics_mhz : kLowestGraphics,
                  idle ? b.idle_graphics_mhz : b.max_graphics_mhz,
                  idle ? b.idle_memory_mhz : b.max_memory_mhz);
    all += text;
  }
  return all;
}

// Offsets are for boards that their users may overclock.
bool may_overclock(const Board& b) { return b.has_display && b.ecc != Ecc::kEnabled; }

template <class Body>
nvmlReturn_t offset_number(Fn fn, nvmlDevice_t device, bool arguments_good, Body body) {
  return on_gpu(fn, device, arguments_good, [&](Call& call) -> nvmlReturn_t {
    if (!may_overclock(call.board())) return NVML_ERROR_NOT_SUPPORTED;
    body();
    return NVML_SUCCESS;
  });
}

nvmlReturn_t offset_range(Fn fn, nvmlDevice_t device, int* least, int* most) {
  return offset_number(fn, device, least != nullptr && most != nullptr, [&] {
    *least = -kMostOffset;
    *most = kMostOffset;
  });
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int* count,
                                                unsigned int* clocks) {
  return on_gpu(Fn::nvmlDeviceGetSupportedMemoryClocks, device, count != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const std::vector<unsigned> list = memory_clocks(call.board());
                  if (list.empty()) return NVML_ERROR_NOT_SUPPORTED;
                  return put_list(list, count, clocks);
                });
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memory_mhz,
                                                  unsigned int* count, unsigned int* clocks) {
  return on_gpu(Fn::nvmlDeviceGetSupportedGraphicsClocks, device, count != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const std::vector<unsigned> memory = memory_clocks(call.board());
                  if (memory.empty()) return NVML_ERROR_NOT_SUPPORTED;
                  if (std::find(memory.begin(), memory.end(), memory_mhz) == memory.end()) {
                    return NVML_ERROR_NOT_FOUND;
                  }
                  return put_list(graphics_clocks(call.board()), count, clocks);
                });
}

// `size` is in bytes; what is left over is filled with "unknown".
nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device, nvmlPstates_t* out,
                                                     unsigned int size) {
  return on_gpu(Fn::nvmlDeviceGetSupportedPerformanceStates, device, out != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const std::vector<unsigned> list = states(call.board());
                  const std::size_t room = size / sizeof(nvmlPstates_t);
                  if (room < list.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
                  std::fill(out, out + room, NVML_PSTATE_UNKNOWN);
                  std::copy(list.begin(), list.end(), out);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type,
                                              nvmlPstates_t state, unsigned int* least,
                                              unsigned int* most) {
  return on_gpu(Fn::nvmlDeviceGetMinMaxClockOfPState, device,
                least != nullptr && most != nullptr && type <= NVML_CLOCK_VIDEO,
                [&](Call& call) -> nvmlReturn_t {
                  const Board& b = call.board();
                  if (!has_state(b, state)) return NVML_ERROR_INVALID_ARGUMENT;
                  const bool idle = state == b.idle_pstate && b.idle_pstate != b.busy_pstate;
                  const unsigned high = type == NVML_CLOCK_MEM     ? b.max_memory_mhz
                                        : type == NVML_CLOCK_VIDEO ? b.max_video_mhz
                                                                   : b.max_graphics_mhz;
                  const unsigned low = type == NVML_CLOCK_MEM     ? b.idle_memory_mhz
                                       : type == NVML_CLOCK_VIDEO ? b.idle_video_mhz
                                                                  : b.idle_graphics_mhz;
                  if (high == 0) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(least, type == NVML_CLOCK_MEM && !idle ? high : low, "minClockMHz");
                  call.put(most, idle ? low : high, "maxClockMHz");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetCurrentClockFreqs(nvmlDevice_t device,
                                            nvmlDeviceCurrentClockFreqs_t* info) {
  return put_list_text(Fn::nvmlDeviceGetCurrentClockFreqs, device, info, current_clocks);
}

nvmlReturn_t nvmlDeviceGetPerformanceModes(nvmlDevice_t device, nvmlDevicePerfModes_t* info) {
  return put_list_text(Fn::nvmlDeviceGetPerformanceModes, device, info, modes);
}

nvmlReturn_t nvmlDeviceGetAdaptiveClockInfoStatus(nvmlDevice_t device, unsigned int* status) {
  return one_number(Fn::nvmlDeviceGetAdaptiveClockInfoStatus, device, status,
                    [](Call&) { return NVML_ADAPTIVE_CLOCKING_INFO_STATUS_ENABLED; });
}

// Boards of today have no switch for it.
nvmlReturn_t nvmlDeviceGetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t* now,
                                                   nvmlEnableState_t* usual) {
  return on_gpu(Fn::nvmlDeviceGetAutoBoostedClocksEnabled, device,
                now != nullptr && usual != nullptr,
                [](Call&) -> nvmlReturn_t { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t nvmlDeviceGetClkMonStatus(nvmlDevice_t device, nvmlClkMonStatus_t* status) {
  return on_gpu(Fn::nvmlDeviceGetClkMonStatus, device, status != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().architecture < NVML_DEVICE_ARCH_AMPERE) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  *status = {};  // no clock is out of its range
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t* info) {
  return on_gpu(
      Fn::nvmlDeviceGetClockOffsets, device, info != nullptr, [&](Call& call) -> nvmlReturn_t {
        if (!call.takes<nvmlClockOffset_t>(info->version, 1)) {
          return call.version_mismatch();
        }
        if (!may_overclock(call.board())) return NVML_ERROR_NOT_SUPPORTED;
        const bool known = info->type <= NVML_CLOCK_VIDEO && has_state(call.board(), info->pstate);
        if (!known) return NVML_ERROR_INVALID_ARGUMENT;
        info->clockOffsetMHz = 0;
        info->minClockOffsetMHz = -kMostOffset;
        info->maxClockOffsetMHz = kMostOffset;
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceGetGpcClkVfOffset(nvmlDevice_t device, int* offset) {
  return offset_number(Fn::nvmlDeviceGetGpcClkVfOffset, device, offset != nullptr,
                       [&] { *offset = 0; });
}
nvmlReturn_t nvmlDeviceGetMemClkVfOffset(nvmlDevice_t device, int* offset) {
  return offset_number(Fn::nvmlDeviceGetMemClkVfOffset, device, offset != nullptr,
                       [&] { *offset = 0; });
}
nvmlReturn_t nvmlDeviceGetGpcClkMinMaxVfOffset(nvmlDevice_t device, int* least, int* most) {
  return offset_range(Fn::nvmlDeviceGetGpcClkMinMaxVfOffset, device, least, most);
}
nvmlReturn_t nvmlDeviceGetMemClkMinMaxVfOffset(nvmlDevice_t device, int* least, int* most) {
  return offset_range(Fn::nvmlDeviceGetMemClkMinMaxVfOffset, device, least, most);
}

nvmlReturn_t nvmlDeviceGetPowerMizerMode_v1(nvmlDevice_t device,
                                            nvmlDevicePowerMizerModes_v1_t* modes) {
  return on_gpu(Fn::nvmlDeviceGetPowerMizerMode_v1, device, modes != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().has_display) return NVML_ERROR_NOT_SUPPORTED;
                  *modes = {.currentMode = NVML_POWER_MIZER_MODE_ADAPTIVE,
                            .mode = NVML_POWER_MIZER_MODE_ADAPTIVE,
                            .supportedPowerMizerModes = 0x7};
                  return NVML_SUCCESS;
                });
}
