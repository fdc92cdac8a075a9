#include "collect/nvml/lane_parts.h"

#include <algorithm>

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;
using catalog::MetricId;

// clang-format off
constexpr MetricId kFast[] = {
    kGpuUp, kGpuAsleep, kGpuUtilization, kGpuMemoryUtilization, kGpuEncoderUtilization, kGpuDecoderUtilization, kGpuMemoryUsed, kGpuMemoryFree, kGpuMemoryReserved, kGpuMemoryTotal, kGpuTemperature, kGpuMemoryTemperature, kGpuTemperatureMargin, kGpuPower, kGpuPowerAverage, kGpuPowerInstant, kGpuModulePower, kGpuMemoryPower, kGpuEnergy, kGpuClock, kGpuFanSpeed, kGpuPcieTransmit, kGpuPcieReceive, kGpuPerformanceState, kGpuThrottle, kGpuProcesses,
    kGpuUnattributedUtilization, kGpuReadingSuspect,
    kGpuGraphicsActivity, kGpuSmActivity, kGpuSmOccupancy, kGpuTensorActivity, kGpuTensorPipeActivity,
    kGpuDramActivity, kGpuFp64Activity, kGpuFp32Activity, kGpuFp16Activity, kGpuIntegerActivity,
    kGpuMediaActivity, kGpuPcieTransmitMean, kGpuPcieReceiveMean, kGpuNvlinkReceiveMean,
    kGpuNvlinkTransmitMean,
};
constexpr MetricId kSlow[] = {
    kGpuJpegUtilization, kGpuOfaUtilization, kGpuEncoderSessions, kGpuEncoderFrameRate, kGpuEncoderLatency, kGpuFbcSessions, kGpuFbcFrameRate, kGpuFbcLatency, kGpuBar1Used, kGpuBar1Free, kGpuBar1Total, kGpuProtectedMemoryUsed, kGpuProtectedMemoryTotal, kGpuTemperatureThreshold, kGpuTemperatureMarginThreshold, kGpuPowerLimit, kGpuPowerLimitRequested, kGpuPowerLimitDefault, kGpuPowerLimitLowest, kGpuPowerLimitHighest, kGpuClockLimit, kGpuApplicationClock, kGpuApplicationClockDefault, kGpuClockCustomerLimit, kGpuFanRpm, kGpuPcieGeneration, kGpuPcieWidth, kGpuPcieGenerationLimit, kGpuPcieWidthLimit, kGpuPcieReplays, kGpuPcieReplayRollovers, kGpuPcieRecoveries, kGpuPcieErrors, kGpuPcieTransmitRate, kGpuPcieReceiveRate, kGpuNvlinkState, kGpuNvlinkVersion, kGpuNvlinkSpeed, kGpuNvlinkTransmit, kGpuNvlinkReceive, kGpuNvlinkReplays, kGpuNvlinkRecoveries, kGpuNvlinkFailedRecoveries, kGpuNvlinkCrcErrors, kGpuNvlinkCrcDataErrors, kGpuNvlinkEccErrors, kGpuNvlinkReceiveErrors, kGpuNvlinkSymbolErrors, kGpuNvlinkEffectiveErrors, kGpuFabricState, kGpuFabricFault, kGpuThrottleSeconds, kGpuViolationSeconds, kGpuEccMode, kGpuEccModePending, kGpuEccVolatileCorrected, kGpuEccVolatileUncorrected, kGpuEccAggregateCorrected, kGpuEccAggregateUncorrected, kGpuEccVolatileCorrectedAt, kGpuEccVolatileUncorrectedAt, kGpuEccAggregateCorrectedAt, kGpuEccAggregateUncorrectedAt, kGpuEccSramThreshold, kGpuRetiredPagesCorrected, kGpuRetiredPagesUncorrected, kGpuRetiredPagesPending, kGpuRemappedRowsCorrected, kGpuRemappedRowsUncorrected, kGpuRemappedRowsPending, kGpuRemappedRowsFailure, kGpuRowRemapBanks, kGpuRecoveryAction, kGpuRepairPending, kGpuMigMode, kGpuMigModePending, kGpuPersistenceMode, kGpuComputeMode, kGpuDisplayMode, kGpuDisplayActive, kGpuAccountingMode, kGpuVirtualizationMode, kGpuVirtualInstances,
    kGpuConfidential, kGpuPowerSource,
    kGpuPcieGenerationDeviceLimit, kGpuNvlinkLinkTransmitMean, kGpuNvlinkLinkReceiveMean,
    kGpuNvlinkPowerState, kGpuNvlinkSymbolErrorRatio, kGpuNvlinkEffectiveErrorRatio,
    kGpuNvlinkFecBlocks, kGpuNvlinkPacketErrors, kGpuC2cState, kGpuC2cSpeed, kGpuC2cPowerState,
    kGpuC2cCrcErrors, kGpuC2cReplays, kGpuC2cRepeatedReplays, kGpuFabricClique, kGpuFabricHealth,
    kGpuRemappedRowsInactive, kGpuAwakeSeconds, kGpuAsleepSeconds,
};
// clang-format on
// Power, energy, temperature, fans and clocks belong to the board as a whole.
constexpr MetricId kInstance[] = {
    kGpuUp,         kGpuAsleep,         kGpuUtilization, kGpuMemoryUtilization, kGpuMemoryUsed,
    kGpuMemoryFree, kGpuMemoryReserved, kGpuMemoryTotal, kGpuProcesses,
};

// What is made from other readings.
struct Derived {
  MetricId metric;
  MetricId from;
};
constexpr Derived kDerived[] = {
    {kGpuPower, kGpuEnergy},
    {kGpuPower, kGpuPowerAverage},
    {kGpuPower, kGpuPowerInstant},
    {kGpuPcieTransmitRate, kGpuPcieTransmit},
    {kGpuPcieReceiveRate, kGpuPcieReceive},
    {kGpuUnattributedUtilization, kGpuUtilization},
};

}  // namespace

catalog::MetricSet not_needed(const catalog::MetricSet& disabled) {
  catalog::MetricSet result;
  for (const catalog::MetricRow& row : catalog::metrics()) {
    const bool is_needed = std::ranges::any_of(kDerived, [&](const Derived& derived) {
      return derived.from == row.id && !disabled.has(derived.metric);
    });
    if (disabled.has(row.id) && !is_needed) result.add(row.id);
  }
  return result;
}

std::span<const MetricId> fast_metrics() { return kFast; }
std::span<const MetricId> slow_metrics() { return kSlow; }
std::span<const MetricId> instance_metrics() { return kInstance; }

std::vector<std::string> uuids_of(const Gpu& gpu) {
  std::vector<std::string> uuids{gpu.device.uuid};
  for (const MigDevice& mig : gpu.instances) uuids.push_back(mig.device.uuid);
  return uuids;
}

void give_up(Report& report, std::string_view uuid, const PollFate& fate,
             std::span<const MetricId> metrics) {
  report.about(uuid);
  for (Report::Subject& subject : report.mutable_subjects()) {
    if (subject.uuid != uuid) continue;
    subject.samples.clear();
    subject.processes.reset();
  }
  const bool lost = fate.verdict() == Verdict::kDeviceLost;
  if (lost) report.state(model::DeviceState::kLost);
  const model::Reason reason = reason_of(fate.fatal);
  for (const MetricId metric : metrics) {
    if (lost && (metric == kGpuUp || metric == kGpuAsleep)) {
      report.set(metric, 0);
    } else {
      report.absent(metric, reason);
    }
  }
  report.processes_absent(reason);
}

}  // namespace gpusight::collect::nvml
