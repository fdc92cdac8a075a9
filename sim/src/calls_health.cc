// Error counters and repair state, and the fabric that boards of a switch belong to.
#include <algorithm>
#include <cmath>
#include <vector>

#include "field_table.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

bool counts_errors(const Call& call) { return call.board().ecc == Ecc::kEnabled; }

bool remaps(const Call& call) { return call.board().row_remapping() && !call.model().spec().mig; }

// What repair has done and wants so far.
struct Repairs {
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  bool pending = false;
  bool failed = false;
};

Repairs repairs_of(const Call& call) {
  const Conditions& conditions = call.model().conditions();
  Repairs repairs;
  const auto rows = [&](unsigned error) {
    const double most = call.board().remap_banks;
    return static_cast<unsigned>(
        std::min(most, conditions.counted(FaultKind::kRemappedRows, error, 0, call.t())));
  };
  repairs.corrected = rows(0);
  repairs.uncorrected = rows(1);
  conditions.each(FaultKind::kRemappedRows, [&](const Fault& fault) {
    const bool now = call.t() >= fault.at && call.t() < fault.until;
    repairs.pending = repairs.pending || (now && fault.pending);
    repairs.failed = repairs.failed || (now && fault.failed);
  });
  return repairs;
}

// Uncorrected errors of the on-chip memories, by what found them or where they were.
struct SramErrors {
  unsigned long long parity = 0;
  unsigned long long secded = 0;
  unsigned long long by_unit[5] = {};
};

SramErrors sram_errors(const Call& call, bool aggregate) {
  SramErrors errors;
  const Conditions& conditions = call.model().conditions();
  conditions.each(FaultKind::kEccErrors, [&](const Fault& fault) {
    const bool sram = fault.what == static_cast<unsigned>(EccLocation::kSram) && fault.code == 1;
    if (!sram || call.t() < fault.at || (fault.pending && !aggregate)) return;
    constexpr double kMost = 1e17;
    const auto count = static_cast<unsigned long long>(std::min(
        kMost, fault.amount + std::floor(fault.per_second * conditions.lasted(fault, call.t()))));
    (fault.failed ? errors.parity : errors.secded) += count;
    errors.by_unit[std::min(fault.part, 4U)] += count;
  });
  return errors;
}

// More uncorrected errors than a board of this class is allowed in its life.
bool over_threshold(const SramErrors& errors) {
  constexpr unsigned long long kMost = 10;
  return errors.parity + errors.secded > kMost;
}

// The addresses of retired pages, made up but always the same.
nvmlReturn_t retired_pages(Fn fn, nvmlDevice_t device, unsigned cause, unsigned* count,
                           unsigned long long* addresses, unsigned long long* stamps,
                           bool with_stamps) {
  return on_gpu(fn, device, count != nullptr && cause <= 1, [&](Call& call) -> nvmlReturn_t {
    if (!call.board().retired_pages) return NVML_ERROR_NOT_SUPPORTED;
    const auto there = static_cast<unsigned>(std::min(
        64.0, call.model().conditions().counted(FaultKind::kRetiredPages, cause, 0, call.t())));
    const unsigned offered = *count;
    *count = there;
    if (offered < there) return NVML_ERROR_INSUFFICIENT_SIZE;
    if (there > 0 && (addresses == nullptr || (with_stamps && stamps == nullptr))) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (unsigned i = 0; i < there; ++i) {
      addresses[i] = (0x00000000001CB000ULL + cause * 0x1000000ULL) + i * 0x1000ULL;
      if (with_stamps) stamps[i] = library().stamp_us(-86400.0 * (i + 1)) / 1000000;
    }
    return NVML_SUCCESS;
  });
}

// Completed and healthy unless a condition says otherwise; a clique of one.
template <class Info>
void fill_fabric(const Call& call, Info& info) {
  const Fault* trouble = call.model().conditions().active(FaultKind::kFabric, call.t());
  std::memset(info.clusterUuid, 0, sizeof info.clusterUuid);
  info.status = trouble == nullptr ? NVML_SUCCESS : trouble->code;
  info.cliqueId = 0;
  info.state = static_cast<unsigned char>(trouble == nullptr ? NVML_GPU_FABRIC_STATE_COMPLETED
                                                             : trouble->what);
}

// Two bits for each kind of trouble: 0 = this board does not tell, 1 = there, 2 = not there. Hopper
// tells of none that it does not have, Blackwell of timeouts too.
unsigned health_mask(const Call& call) {
  constexpr unsigned kTimeouts = NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY;
  const Fault* trouble = call.model().conditions().active(FaultKind::kFabric, call.t());
  const unsigned there = trouble == nullptr ? kAllParts : trouble->part;
  const bool tells = call.board().architecture >= NVML_DEVICE_ARCH_BLACKWELL;
  unsigned mask = tells && there != kTimeouts ? 2U << kTimeouts : 0;
  if (there != kAllParts) mask |= 1U << there;
  return mask;
}

unsigned health_summary(const Call& call) {
  const Fault* trouble = call.model().conditions().active(FaultKind::kFabric, call.t());
  if (trouble != nullptr) return NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY;
  const bool tells = call.board().architecture >= NVML_DEVICE_ARCH_BLACKWELL;
  return tells ? NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY
               : NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current,
                                  nvmlEnableState_t* pending) {
  return on_gpu(Fn::nvmlDeviceGetEccMode, device, current != nullptr && pending != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().ecc == Ecc::kNone) return NVML_ERROR_NOT_SUPPORTED;
                  const unsigned mode = counts_errors(call) ? 1 : 0;
                  call.put(current, mode, "current");
                  call.put(pending, mode, "pending");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return number_if(
      Fn::nvmlDeviceGetDefaultEccMode, device, mode,
      [](const Board& b) { return b.ecc != Ecc::kNone; }, [](Call&) { return 1U; });
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                         nvmlEccCounterType_t counter, unsigned long long* count) {
  return on_gpu(Fn::nvmlDeviceGetTotalEccErrors, device,
                count != nullptr && error <= 1 && counter <= 1, [&](Call& call) -> nvmlReturn_t {
                  if (!counts_errors(call)) return NVML_ERROR_NOT_SUPPORTED;
                  const auto errors = static_cast<unsigned long long>(
                      call.model().ecc_errors(error == 1, counter == 1, call.t()));
                  call.put(count, errors, error == 0 ? "corrected" : "uncorrected");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                             nvmlEccCounterType_t counter,
                                             nvmlMemoryLocation_t location,
                                             unsigned long long* count) {
  return on_gpu(Fn::nvmlDeviceGetMemoryErrorCounter, device,
                count != nullptr && error <= 1 && counter <= 1 && location <= 7,
                [&](Call& call) -> nvmlReturn_t {
                  const Answer errors =
                      ecc_at(call, error == 1, counter == 1, static_cast<EccLocation>(location));
                  if (errors.code != NVML_SUCCESS) return errors.code;
                  call.put(count, static_cast<unsigned long long>(errors.number),
                           error == 0 ? "corrected" : "uncorrected");
                  return NVML_SUCCESS;
                });
}

// The oldest form, by the caches of boards that counted there.
nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t error,
                                            nvmlEccCounterType_t counter,
                                            nvmlEccErrorCounts_t* counts) {
  return on_gpu(Fn::nvmlDeviceGetDetailedEccErrors, device,
                counts != nullptr && error <= 1 && counter <= 1, [&](Call& call) -> nvmlReturn_t {
                  if (!counts_errors(call)) return NVML_ERROR_NOT_SUPPORTED;
                  const auto at = [&](EccLocation where) {
                    return static_cast<unsigned long long>(
                        ecc_at(call, error == 1, counter == 1, where).number);
                  };
                  *counts = {.l1Cache = at(EccLocation::kL1),
                             .l2Cache = at(EccLocation::kL2),
                             .deviceMemory = at(EccLocation::kDram),
                             .registerFile = at(EccLocation::kRegister)};
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device,
                                             nvmlEccSramErrorStatus_t* status) {
  return on_gpu(Fn::nvmlDeviceGetSramEccErrorStatus, device, status != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlEccSramErrorStatus_t>(status->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (!counts_errors(call) || call.board().architecture < NVML_DEVICE_ARCH_AMPERE) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  const SramErrors life = sram_errors(call, true);
                  const SramErrors now = sram_errors(call, false);
                  const auto corrected = [&](bool aggregate) {
                    return static_cast<unsigned long long>(
                        call.model().ecc_errors(false, aggregate, EccLocation::kSram, call.t()));
                  };
                  status->aggregateUncParity = life.parity;
                  status->aggregateUncSecDed = life.secded;
                  status->aggregateCor = corrected(true);
                  status->volatileUncParity = now.parity;
                  status->volatileUncSecDed = now.secded;
                  status->volatileCor = corrected(false);
                  status->aggregateUncBucketL2 = life.by_unit[0];
                  status->aggregateUncBucketSm = life.by_unit[1];
                  status->aggregateUncBucketPcie = life.by_unit[2];
                  status->aggregateUncBucketMcu = life.by_unit[3];
                  status->aggregateUncBucketOther = life.by_unit[4];
                  status->bThresholdExceeded = over_threshold(life) ? 1 : 0;
                  return NVML_SUCCESS;
                });
}

// One entry a unit that had errors; without a buffer, how many there are.
nvmlReturn_t nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
    nvmlDevice_t device, nvmlEccSramUniqueUncorrectedErrorCounts_t* counts) {
  return on_gpu(
      Fn::nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts, device, counts != nullptr,
      [&](Call& call) -> nvmlReturn_t {
        if (!call.takes<nvmlEccSramUniqueUncorrectedErrorCounts_t>(counts->version, 1)) {
          return call.version_mismatch();
        }
        if (!counts_errors(call) || call.board().architecture < NVML_DEVICE_ARCH_BLACKWELL) {
          return NVML_ERROR_NOT_SUPPORTED;
        }
        const SramErrors life = sram_errors(call, true);
        std::vector<nvmlEccSramUniqueUncorrectedErrorEntry_v1_t> entries;
        for (unsigned unit = 0; unit < 5; ++unit) {
          if (life.by_unit[unit] == 0) continue;
          entries.push_back({.unit = unit,
                             .location = 0,
                             .sublocation = 0,
                             .extlocation = 0,
                             .address = 0x40 * unit,
                             .isParity = life.parity > 0 ? 1U : 0U,
                             .count = static_cast<unsigned>(life.by_unit[unit])});
        }
        const unsigned offered = counts->entryCount;
        counts->entryCount = static_cast<unsigned>(entries.size());
        if (counts->entries == nullptr) return NVML_SUCCESS;
        if (offered < entries.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
        std::copy(entries.begin(), entries.end(), counts->entries);
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                       unsigned int* count, unsigned long long* addresses) {
  return retired_pages(Fn::nvmlDeviceGetRetiredPages, device, cause, count, addresses, nullptr,
                       false);
}
nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                          unsigned int* count, unsigned long long* addresses,
                                          unsigned long long* stamps) {
  return retired_pages(Fn::nvmlDeviceGetRetiredPages_v2, device, cause, count, addresses, stamps,
                       true);
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device,
                                                    nvmlEnableState_t* pending) {
  return on_gpu(Fn::nvmlDeviceGetRetiredPagesPendingStatus, device, pending != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().retired_pages) return NVML_ERROR_NOT_SUPPORTED;
                  bool any = false;
                  call.model().conditions().each(FaultKind::kRetiredPages, [&](const Fault& fault) {
                    const bool now = call.t() >= fault.at && call.t() < fault.until;
                    any = any || (now && fault.pending);
                  });
                  call.put(pending, any ? 1U : 0U);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int* corrected,
                                       unsigned int* uncorrected, unsigned int* pending,
                                       unsigned int* failed) {
  return on_gpu(
      Fn::nvmlDeviceGetRemappedRows, device,
      corrected != nullptr && uncorrected != nullptr && pending != nullptr && failed != nullptr,
      [&](Call& call) -> nvmlReturn_t {
        if (!remaps(call)) return NVML_ERROR_NOT_SUPPORTED;
        const Repairs repairs = repairs_of(call);
        call.put(corrected, repairs.corrected, "corrRows");
        call.put(uncorrected, repairs.uncorrected, "uncRows");
        call.put(pending, repairs.pending ? 1U : 0U, "isPending");
        call.put(failed, repairs.failed ? 1U : 0U, "failureOccurred");
        return NVML_SUCCESS;
      });
}

nvmlReturn_t nvmlDeviceGetRemappedRows_v2(nvmlDevice_t device, nvmlRemappedRowsInfo_v2_t* info) {
  return on_gpu(Fn::nvmlDeviceGetRemappedRows_v2, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!remaps(call)) return NVML_ERROR_NOT_SUPPORTED;
                  const Repairs repairs = repairs_of(call);
                  *info = {.corrActiveRemaps = repairs.corrected,
                           .corrInactiveRemaps = 0,
                           .uncActiveRemaps = repairs.uncorrected,
                           .uncInactiveRemaps = 0,
                           .bPending = repairs.pending ? 1U : 0U,
                           .bFailureOccurred = repairs.failed ? 1U : 0U};
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_t* status) {
  return on_gpu(Fn::nvmlDeviceGetRepairStatus, device, status != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlRepairStatus_t>(status->version, 1)) {
                    return call.version_mismatch();
                  }
                  if (call.board().architecture < NVML_DEVICE_ARCH_AMPERE) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  status->bChannelRepairPending = repairs_of(call).failed ? 1 : 0;
                  status->bTpcRepairPending = 0;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetUnrepairableMemoryFlag_v1(nvmlDevice_t device,
                                                    nvmlUnrepairableMemoryStatus_v1_t* status) {
  return on_gpu(Fn::nvmlDeviceGetUnrepairableMemoryFlag_v1, device, status != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const bool has = call.board().row_remapping() &&
                                   call.board().architecture >= NVML_DEVICE_ARCH_HOPPER;
                  if (!has) return NVML_ERROR_NOT_SUPPORTED;
                  status->bUnrepairableMemory = repairs_of(call).failed ? 1 : 0;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
                                               nvmlRowRemapperHistogramValues_t* values) {
  return on_gpu(Fn::nvmlDeviceGetRowRemapperHistogram, device, values != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  // Unlike the counts, this is there while the GPU is divided too.
                  if (!call.board().row_remapping()) return NVML_ERROR_NOT_SUPPORTED;
                  const Repairs repairs = repairs_of(call);
                  // Each row remapped takes a spare of another bank; one whose repair failed has
                  // none left.
                  const unsigned none = repairs.failed ? 1 : 0;
                  const unsigned used = repairs.corrected + repairs.uncorrected;
                  const unsigned banks = call.board().remap_banks - none;
                  const unsigned high = std::min(banks, used);
                  *values = {
                      .max = banks - high, .high = high, .partial = 0, .low = 0, .none = none};
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetGpuFabricInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.board().has_fabric) return NVML_ERROR_NOT_SUPPORTED;
                  *info = {};
                  fill_fabric(call, *info);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t* info) {
  return on_gpu(Fn::nvmlDeviceGetGpuFabricInfoV, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  const bool third = call.takes<nvmlGpuFabricInfo_v3_t>(info->version, 3);
                  if (!third && !call.takes<nvmlGpuFabricInfo_v2_t>(info->version, 2)) {
                    return call.version_mismatch();
                  }
                  if (!call.board().has_fabric) return NVML_ERROR_NOT_SUPPORTED;
                  // The third shape is the second with one more member behind it.
                  auto& second = *reinterpret_cast<nvmlGpuFabricInfo_v2_t*>(info);
                  fill_fabric(call, second);
                  second.healthMask = health_mask(call);
                  if (!third) return NVML_SUCCESS;
                  info->healthSummary = static_cast<unsigned char>(health_summary(call));
                  return NVML_SUCCESS;
                });
}
