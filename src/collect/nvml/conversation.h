// How a lane talks to the driver about one handle: every call is counted and timed, what a handle
// does not support is remembered and costs no call, and once a code says that the GPU or the whole
// library generation is gone, no further call is made in this poll. Nor is one beyond the number
// that the poll may make: what was not asked says so, and is asked in the next poll.
//
// All of it belongs to one lane: no locks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "collect/nvml/nvml_api.h"
#include "collect/nvml/return_code.h"
#include "collect/source.h"

namespace gpusight::collect::nvml {

// What is asked of a handle. With a sub-number (clock, fan, field) it is the unit of remembering.
enum class Query : uint16_t {
  kUtilization,
  kSamples,
  kFieldValues,
  kField,
  kMemoryV2,
  kMemoryV1,
  kTemperatureV,
  kTemperature,
  kPowerUsage,
  kPowerLimit,
  kEnergy,
  kClock,
  kMaxClock,
  kFanCount,
  kFanSpeedOf,
  kFanSpeed,
  kPcieGeneration,
  kPcieWidth,
  kPcieMaxGeneration,
  kPcieMaxWidth,
  kPcieReplays,
  kPerformanceState,
  kClockReasons,
  kComputeProcesses,
  kGraphicsProcesses,
  kMpsProcesses,
  kMigMode,
  kMigHandle,
  kUuid,
  kNumber,  // the plain numbers of slow_readings.cc, by their place there
  kApplicationClock,
  kApplicationClockDefault,
  kCustomerClock,
  kMargin,
  kThreshold,
  kEngineUtilization,
  kEncoderStats,
  kFbcStats,
  kEncoderSessions,
  kFbcSessions,
  kFanRpm,
  kPowerLimitRange,
  kPcieThroughput,
  kBar1,
  kProtectedMemory,
  kProtectedSize,
  kEccMode,
  kEccTotal,
  kEccSram,
  kSramErrors,
  kRemapHistogram,
  kRepairStatus,
  kFabric,
  kConfidential,
  kActiveVgpus,
  kProcessShares,
  kProcessSharesV1,
  kGpmSupport,
  kGpmAlloc,
  kGpmSample,
  kGpmMetrics,
  kGpmMetric,
  kLinkState,
  kLinkVersion,
  kLinkErrors,
  kClockById,
  kViolation,
  kProcessDetails,
  kLinkEccErrors,
};

// Whether it is worth asking.
enum class Standing : uint8_t {
  kOpen,
  kUnsupported,  // it was refused, not long ago
  kAskAgain,     // it was refused, and may by now be supported
};

// What is known of a handle's abilities, kept between polls.
class HandleMemory {
 public:
  // A mode (MIG, ECC, vGPU) may change what a handle supports, so it is asked again this often, not
  // everything at once but spread over some minutes; PollFate bounds how much of it a poll does.
  static constexpr Duration kAskAgain = std::chrono::minutes(10);
  static constexpr Duration kSpread = std::chrono::minutes(5);

  static uint32_t key(Query query, uint32_t sub) {
    return static_cast<uint32_t>(query) << 16 | (sub & 0xFFFF);
  }
  Standing standing(uint32_t key, MonoTime now) const;
  void set_unsupported(uint32_t key, MonoTime now) {
    const uint32_t mixed = key * 2654435761U >> 24;  // any 8 bits that differ from key to key
    unsupported_until_[key] = now + kAskAgain + kSpread / 256 * mixed;
  }
  void set_worked(uint32_t key) {
    worked_.insert(key);
    unsupported_until_.erase(key);
  }
  bool has_worked(uint32_t key) const { return worked_.contains(key); }

 private:
  std::unordered_map<uint32_t, MonoTime> unsupported_until_;
  std::unordered_set<uint32_t> worked_;
};

// Room for a list that did not fit: what the driver asks for, at least twice as much, `most` at
// most.
constexpr size_t more_room(size_t room, size_t asked, size_t most) {
  return std::min(most, std::max(asked, room * 2));
}

// What becomes of a poll, shared by the conversations about a GPU and its MIG devices: the code
// that ended it early, and how many calls it may make.
struct PollFate {
  // Asking again what was refused is never urgent: at most so much of it at a time.
  static constexpr uint64_t kMostAgain = 1;

  Return fatal = Return::kSuccess;
  uint64_t most_calls = UINT64_MAX;  // as the report counts them
  uint64_t again = kMostAgain;       // how often what was refused may be asked again
  bool was_cut = false;              // something was not asked because there was no call left

  bool is_over() const { return fatal != Return::kSuccess; }
  Verdict verdict() const;
};

class Conversation {
 public:
  Conversation(const NvmlApi& api, Handle handle, const std::string& uuid, HandleMemory& memory,
               PollFate& fate, Report& report)
      : api_(api), handle_(handle), uuid_(uuid), memory_(memory), fate_(fate), report_(report) {}

  // Calls `function` about the handle, unless it is absent, known not to be supported, or the poll
  // is over; then the code that says so comes back without a call.
  template <typename... Parameters, typename... Arguments>
  Return ask(Query query, uint32_t sub, Return (*function)(Handle, Parameters...),
             Arguments... arguments) {
    return ask_library(query, sub, function, handle_, arguments...);
  }

  // The same for calls that name the handle in another way, or not at all.
  template <typename... Parameters, typename... Arguments>
  Return ask_library(Query query, uint32_t sub, Return (*function)(Parameters...),
                     Arguments... arguments) {
    if (fate_.is_over()) return fate_.fatal;
    if (function == nullptr) return Return::kFunctionNotFound;
    const uint32_t key = HandleMemory::key(query, sub);
    const Standing standing = memory_.standing(key, report_.now());
    if (standing == Standing::kUnsupported) return Return::kNotSupported;
    if (standing == Standing::kAskAgain && !may_ask_again()) return Return::kNotSupported;
    if (!has_room()) return Return::kNotReady;
    const MonoTime start = report_.now();
    const Return code = function(arguments...);
    report_.count_call(report_.now() - start);
    note(key, code);
    return code;
  }

  // The same for results that came by another way (an entry of a batch).
  bool is_worth_asking(Query query, uint32_t sub) const;
  void note(Query query, uint32_t sub, Return code) { note(HandleMemory::key(query, sub), code); }

  const NvmlApi& api() const { return api_; }
  Handle handle() const { return handle_; }
  Report& report() { return report_; }
  PollFate& fate() { return fate_; }
  // Whether the poll may make so many calls more.
  bool has_room_for(uint64_t calls) const { return report_.calls() + calls <= fate_.most_calls; }

 private:
  void note(uint32_t key, Return code);
  void check_handle();
  bool has_room();
  bool may_ask_again();

  const NvmlApi& api_;
  Handle handle_;
  const std::string& uuid_;
  HandleMemory& memory_;
  PollFate& fate_;
  Report& report_;
  bool has_checked_handle_ = false;
};

}  // namespace gpusight::collect::nvml
