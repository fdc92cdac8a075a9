// The kinds of events: what happened, how grave it is, and which counter it feeds. Constant data.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "catalog/message.h"
#include "catalog/metric.h"

namespace gpusight::catalog {

enum class EventKind : uint8_t {
  kXid,
  kThrottleBegin,
  kThrottleEnd,
  kDeviceLost,
  kDeviceBack,
  kDeviceAsleep,
  kDeviceAwake,
  kDriverReload,
  kMigChange,
  kClockJump,
  kProcessStart,
  kProcessExit,
  kDaemonStart,
  kDaemonStop,
  kMemoryError,
  kMemoryRetirement,
  kRecoveryAction,
  kPerformanceState,
  kClockChange,
  kPowerSource,
  kNvswitchError,
  kEventsLeftOut,
  kDeviceReleased,
  kDeviceTaken,
  kCount,
};

enum class Severity : uint8_t { kInfo, kWarning, kError };

struct EventKindRow {
  EventKind kind;
  uint16_t wire;         // stable for ever, as for metrics
  std::string_view key;  // "device_lost": the API's name
  Severity severity;
  MessageId message;
  std::optional<MetricId> counter = {};  // the per-device counter that each event adds one to
  Text title;
};

std::span<const EventKindRow> event_kinds();
const EventKindRow& event_kind(EventKind kind);
const EventKindRow* find_event_kind(std::string_view key);
std::string_view severity_name(Severity severity);

// What NVIDIA's driver calls an XID number (its own nverror.h); empty if the number is not known.
std::string_view xid_name(uint64_t xid);
// How grave an XID is for the device. One that a program brings on itself, or that the device has
// already dealt with, is a warning; so is a number that nobody knows: unknown is not bad.
Severity xid_severity(uint64_t xid);

}  // namespace gpusight::catalog
