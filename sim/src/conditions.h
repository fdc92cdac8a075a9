// What befalls the hardware of a GPU: errors that count up, links that go down, heat, lost power.
//
// A condition is a fault of the scenario or of a control file. It changes no call by itself; the
// figures of the model follow from it, so that every function that speaks of them agrees. Counters
// keep what they have counted when their condition ends; states end with it. Pure functions, safe
// from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "scenario.h"

namespace gpusight::sim {

// What each kind makes of a Fault's members, beside `amount` at once and `per_second` more:
//   kEccErrors       what = EccLocation, code 1 = uncorrected, part = SramUnit, failed = found by
//                    parity, pending = from an earlier life of the driver: in the aggregate only
//   kRetiredPages    what 0 single bit, 1 double bit; pending = waits for a restart
//   kRemappedRows    what 0 corrected, 1 uncorrected; pending; failed = no spare row was left
//   kNvlinkErrors    what = NvlinkCounter, part = link
//   kNvlinkDown      part = link
//   kPcieErrors      what = PcieCounter
//   kPcieLink        what = generation (0 = as it was), amount = lanes (0 = as they were)
//   kThrottle        what = the driver's bits of the reason, clocks = the share that is left
//   kOverheat        amount = degrees in the end, per_second = how fast; 0 = at once
//   kFanStopped      part = fan
//   kPowerSource, kRecoveryAction    what = the driver's number
//   kFabric          what = the driver's state, code = its status, part = bit of the health mask
//   kBadSamples      what = BadSamples
enum class EccLocation : unsigned {
  kL1,
  kL2,
  kDram,
  kRegister,
  kTexture,
  kTextureShm,
  kCbu,
  kSram
};
enum class SramUnit : unsigned { kL2, kSm, kPcie, kMcu, kOther };  // Fault::part of kEccErrors
enum class NvlinkCounter : unsigned { kReplay, kRecovery, kCrcFlit, kCrcData, kEcc };
enum class PcieCounter : unsigned {
  kReplay,
  kRollover,
  kCorrectable,
  kNaksReceived,
  kReceiver,
  kBadTlp,
  kNaksSent,
  kBadDllp,
  kNonFatal,
  kFatal,
  kUnsupported,
  kLcrc,
  kLane,
  kRecovery,
};
enum class BadSamples : unsigned { kGarbage, kFuture, kStale };

// Where a kXid shows: some never come as events.
enum class XidWhere : unsigned { kBoth, kEvent, kKernelLog };

// Whether a kind counts something that stays counted.
bool is_counter(FaultKind kind);
bool is_condition(FaultKind kind);

// The conditions of one GPU.
class Conditions {
 public:
  // `uptime` is how many seconds before second 0 what has no beginning began.
  Conditions(std::span<const Fault> all, std::size_t gpu, double uptime)
      : all_(all), gpu_(static_cast<unsigned>(gpu)), uptime_(uptime) {}

  // The first condition of a kind that is there at `t` and concerns that part.
  const Fault* active(FaultKind kind, double t, unsigned part = kAllParts) const;

  // Sum of what the conditions of a kind, `what` and `code` have counted until `t`.
  double counted(FaultKind kind, unsigned what, unsigned code, double t,
                 unsigned part = kAllParts) const;

  // Seconds until `t` in which a throttle reason (a bit of the driver's) was there.
  double throttled_seconds(std::uint64_t reason, double t) const;
  std::uint64_t throttle_reasons(double t) const;
  double clock_share(double t) const;  // what all throttles together leave

  // Degrees on top of what load and cooling make of the board.
  double extra_heat(double t) const;
  // Seconds until `t` in which that was `degrees` or more.
  double heated_seconds(double degrees, double t) const;

  template <class Body>
  void each(FaultKind kind, Body body) const {
    for (const Fault& fault : all_) {
      if (fault.kind == kind && concerns(fault)) body(fault);
    }
  }

  double lasted(const Fault& fault, double t) const;  // seconds of its life before `t`

 private:
  bool concerns(const Fault& fault) const;

  std::span<const Fault> all_;
  unsigned gpu_;
  double uptime_;
};

}  // namespace gpusight::sim
