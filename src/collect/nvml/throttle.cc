#include "collect/nvml/throttle.h"

#include <fmt/format.h>

#include <cmath>

#include "base/log.h"
#include "base/text.h"
#include "collect/nvml/nvml_abi.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;
using catalog::MetricId;

struct ThrottleReason {
  uint64_t bit;
  std::string_view label;
};

constexpr ThrottleReason kReasons[] = {
    {kReasonIdle, "idle"},
    {kReasonApplicationsClocks, "applications_clocks"},
    {kReasonSwPowerCap, "sw_power_cap"},
    {kReasonHwSlowdown, "hw_slowdown"},
    {kReasonSyncBoost, "sync_boost"},
    {kReasonSwThermal, "sw_thermal"},
    {kReasonHwThermal, "hw_thermal"},
    {kReasonHwPowerBrake, "hw_power_brake"},
    {kReasonDisplayClock, "display_clock"},
};

// The ones that mean "slowed by a limit": worth an event.
constexpr ThrottleReason kLimits[] = {
    {kReasonSwPowerCap, "sw_power_cap"},     {kReasonHwSlowdown, "hw_slowdown"},
    {kReasonSwThermal, "sw_thermal"},        {kReasonHwThermal, "hw_thermal"},
    {kReasonHwPowerBrake, "hw_power_brake"},
};
static_assert(std::size(kLimits) == std::tuple_size_v<ThrottleBegan>);

model::Event begin_event(const std::string& uuid, const ThrottleReason& reason) {
  return {.kind = EventKind::kThrottleBegin,
          .severity = catalog::event_kind(EventKind::kThrottleBegin).severity,
          .uuid = uuid,
          .code = static_cast<int64_t>(reason.bit),
          .fields = {{"reason", std::string(reason.label)}},
          .arguments = {std::string(reason.label)}};
}

model::Event end_event(const std::string& uuid, const ThrottleReason& reason, Duration lasted) {
  // Tenths: no tick is shorter.
  const std::string text = number_text(std::round(seconds(lasted) * 10) / 10);
  return {.kind = EventKind::kThrottleEnd,
          .severity = catalog::event_kind(EventKind::kThrottleEnd).severity,
          .uuid = uuid,
          .code = static_cast<int64_t>(reason.bit),
          .fields = {{"reason", std::string(reason.label)}, {"seconds", text}},
          .arguments = {std::string(reason.label), text}};
}

}  // namespace

void ThrottleWatch::say_unknown(uint64_t bits) {
  uint64_t known = 0;
  for (const ThrottleReason& reason : kReasons) known |= reason.bit;
  const uint64_t unknown = bits & ~known & ~said_;
  if (unknown == 0) return;
  said_ |= unknown;
  log::info("{}: the driver gives a throttle reason that gpusight does not know: {:#x}", uuid_,
            unknown);
}

void ThrottleWatch::update(uint64_t bits, Gathering& found) {
  Report& report = found.report();
  for (const ThrottleReason& reason : kReasons) {
    const double active = (bits & reason.bit) != 0 ? 1 : 0;
    found.put(MetricId::kGpuThrottle, {Return::kSuccess, active}, reason.label);
  }
  say_unknown(bits);
  bool changed = false;
  for (size_t i = 0; i < std::size(kLimits); ++i) {
    const bool active = (bits & kLimits[i].bit) != 0;
    if (active == began_[i].has_value()) continue;
    changed = true;
    if (active) {
      began_[i] = report.now();
      report.event(begin_event(uuid_, kLimits[i]));
    } else {
      report.event(end_event(uuid_, kLimits[i], report.now() - *began_[i]));
      began_[i].reset();
    }
  }
  if (changed) known_.set_throttle(uuid_, began_);
}

}  // namespace gpusight::collect::nvml
