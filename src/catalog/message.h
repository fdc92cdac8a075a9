// What the program says to its users, in every language it speaks. Everything but log lines has a
// row here: views, reasons, events, command-line errors. Constant data, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "catalog/metric.h"

namespace gpusight::catalog {

// clang-format off
enum class MessageId : uint16_t {
  kNone,
  // why a value is absent (model::Reason, in its order)
  kReasonNotSupported, kReasonNoPermission, kReasonAsleep, kReasonBusy, kReasonLost, kReasonStale,
  kReasonDriverError, kReasonImplausible, kReasonWarmingUp, kReasonDisabled, kReasonHidden,
  kReasonUnknown,
  // the state of a source of readings
  kSourceStarting, kSourceRunning, kSourceSimulated, kSourceStuck, kSourceDegraded,
  kSourceReleasedForSleep, kSourceKernelFiles, kSourceReleased, kSourceUnbound,
  // why no NVIDIA GPU is seen
  kNvmlNothingOnBus, kNvmlNoDriver, kNvmlOtherDriver, kNvmlLibraryMissing, kNvmlLibraryUnusable,
  kNvmlLibraryUntrusted, kNvmlWrongArchitecture, kNvmlStubLibrary, kNvmlVersionMismatch,
  kNvmlNoPermission, kNvmlAccessRevoked, kNvmlAllAsleep, kNvmlNoDevices, kNvmlInitFailed,
  // why no AMD GPU is seen
  kAmdgpuNone, kAmdgpuNoDriver, kAmdgpuOtherDriver, kAmdgpuAllAsleep,
  // the simulated machine
  kSimulatedBadge, kSimulatedOffer, kSimulatedServing, kSimulatedMissing,
  // events
  kEventXid, kEventThrottleBegin, kEventThrottleEnd, kEventDeviceLost, kEventDeviceBack,
  kEventDeviceAsleep, kEventDeviceAwake, kEventDriverReload, kEventMigChange, kEventClockJump,
  kEventProcessStart, kEventProcessExit, kEventDaemonStart, kEventDaemonStop,
  kEventMemoryError, kEventMemoryRetirement, kEventRecoveryAction, kEventPerformanceState,
  kEventClockChange, kEventPowerSource, kEventNvswitchError, kEventEventsLeftOut,
  kEventDeviceReleased, kEventDeviceTaken,
  // command line and environment
  kUsageUnknownCommand, kUsageUnknownOption, kUsageMissingValue, kUsageBadValue, kUsageUnknownMetric,
  kUsageUnexpectedArgument, kUsageMissingArgument,
  kUsageNotTaken, kUsageExclusive, kUsageSeeHelp, kWantBool, kWantDuration, kWantDurationWithin,
  kWantInteger, kWantIntegerWithin, kWantChoice, kWantAddress, kWantText, kWantTable,
  kWantCleanText, kWantMetric, kWantMetricNotNeeded,
  // help
  kHelpAbout, kHelpUsage, kHelpCommands, kHelpOptions, kHelpCommonOptions, kHelpExamples,
  kHelpDefault, kHelpOneOf, kHelpFromTo, kHelpSources, kHelpMore, kHelpHelp, kHelpVersion,
  kConfigUnreadable, kConfigSyntax, kConfigUnknownKey, kConfigBadValue, kDidYouMean,
  kListenInUse, kListenFailed, kListenNotLoopback, kSocketInUse, kStateNotWritable, kAlreadyRunning,
  kDaemonUnreachable, kServeReady, kServeSocket, kServeNoSocket, kServeNoPage, kNoDevices,
  kNothingToShow,
  // one-shot views of the command line
  kViewSimulated, kViewAbsentLine, kViewAbsentMore, kViewStaleLine, kViewSourceLine, kViewSince,
  kViewHostPid, kViewOneGpu, kViewGpus, kViewUpDays, kViewUpHours, kViewLoad, kViewUp, kViewDriver,
  kViewOwners, kViewHolders, kViewHoldersUnseen, kViewClock, kViewFan, kViewMemory, kViewSwap,
  kThrottlePowerCap, kThrottleHwSlowdown, kThrottleSwThermal, kThrottleHwThermal,
  kThrottlePowerBrake,
  kMetricsColumnName, kMetricsColumnKind, kMetricsColumnMeaning,
  // gpusight who
  kWhoWhere, kWhoSince, kWhoCommand, kWhoNobody, kWhoHidden, kWhoUnexplained, kWhoUnattributed,
  kWhoReserved, kWhoSteps, kWhoNoSuchGpu, kWhoZombie, kWhoExited,
  // gpusight history, gpusight query
  kHistoryNone, kHistoryOthers, kHistoryUnreadable, kHistoryHeld, kHistoryNotWritable,
  kHistorySummary, kHistoryRecording, kHistoryNotRecording, kHistoryRecordingUnknown, kHistoryEmpty,
  kHistoryColumnTier, kHistoryColumnRow, kHistoryColumnFrom, kHistoryColumnTo, kHistoryColumnChunks,
  kHistoryColumnSize, kHistoryColumnKept, kHistoryEverySample,
  kHistorySound, kHistoryFaulty, kHistoryExportIncomplete,
  kHistoryImported, kHistoryLeftOut, kHistoryImportLine, kHistoryImportStays,
  kQueryEmpty, kQueryUnanswered, kQueryColumnTime, kQueryColumnValue,
  kWantTime, kWantSelector, kWantOrder,
  // gpusight release
  kReleaseDone, kReleaseNothing, kReleaseHeld, kReleaseRefused, kReleaseOver, kReleaseNoDaemon,
  kWantNow,
  kSimUnknownScenario, kSimUnreadable, kSimCannotRun, kCannotWrite,
  // gpusight selftest: names of checks, what they found, what to do
  kSelftestOk, kSelftestWarn, kSelftestFail, kSelftestSummary, kSelftestAllWell,
  kCheckConfig, kCheckClock, kCheckPci, kCheckDeviceFiles, kCheckSource, kCheckDaemon, kCheckState,
  kCheckListen, kCheckPage, kCheckSimulator, kCheckContainer, kCheckNumbers,
  kFoundConfigFile, kFoundNoConfigFile, kFoundClock, kFoundSlowClock, kFoundNoClock, kFoundGpus,
  kFoundNoGpus, kFoundGpuWithoutDriver, kFoundDeviceFiles, kFoundNoDeviceFiles,
  kFoundDeviceFileClosed, kFoundNoNvidiaDriver, kFoundDaemon, kFoundNoDaemon, kFoundBrokenDaemon,
  kFoundStateWritable, kFoundStateNotWritable, kFoundNoStateDir, kFoundPortFree, kFoundPortOurs,
  kFoundPage, kFoundNoPage, kFoundSimulator, kFoundOwnNamespace,
  kFoundHostNamespace, kFoundNumbersSound, kFoundNumbersBroken,
  kDoNothingOnBus, kDoDriver, kDoDeviceFiles, kDoPermission, kDoStartDaemon, kDoRestartDaemon,
  kDoStateDir, kDoPort, kDoPage, kDoSimulator, kDoHostPid, kDoClock,
  // titles and words of views
  kWordGpu, kWordName, kWordMemory, kWordPower, kWordTemperature, kWordUtilization, kWordProcesses,
  kWordState, kWordHost, kWordUser, kWordLostSince, kWordAsleep, kWordBusy, kWordReleased, kWordNotAvailable,
  kCount,
};
// clang-format on

struct MessageRow {
  MessageId id;
  std::string_view key;  // stable, for machines: "nvml.no_driver"
  Text text;             // {0}, {1}, … stand for the arguments
};

std::span<const MessageRow> messages();
const MessageRow& message(MessageId id);
const MessageRow* find_message(std::string_view key);

// The text with its arguments filled in; a missing argument stays visible as {n}.
std::string format_message(MessageId id, Lang lang, std::span<const std::string> arguments = {});

}  // namespace gpusight::catalog
