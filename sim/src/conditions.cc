#include "conditions.h"

#include <algorithm>
#include <cmath>

namespace gpusight::sim {
namespace {

constexpr double kMostCounted = 1e18;  // of what still is a number of the driver's

}  // namespace

bool is_condition(FaultKind kind) { return kind >= FaultKind::kEccErrors; }

bool is_counter(FaultKind kind) {
  switch (kind) {
    case FaultKind::kEccErrors:
    case FaultKind::kRetiredPages:
    case FaultKind::kRemappedRows:
    case FaultKind::kNvlinkErrors:
    case FaultKind::kPcieErrors:
    case FaultKind::kThrottle:  // the time that it held the clocks
    case FaultKind::kOverheat: return true;
    default: return false;
  }
}

bool Conditions::concerns(const Fault& fault) const {
  return fault.gpus.empty() ||
         std::find(fault.gpus.begin(), fault.gpus.end(), gpu_) != fault.gpus.end();
}

double Conditions::lasted(const Fault& fault, double t) const {
  const double begin = std::isinf(fault.at) ? -uptime_ : fault.at;
  return std::max(0.0, std::min(t, fault.until) - begin);
}

const Fault* Conditions::active(FaultKind kind, double t, unsigned part) const {
  for (const Fault& fault : all_) {
    if (fault.kind != kind || !concerns(fault) || t < fault.at || t >= fault.until) continue;
    if (fault.part == kAllParts || part == kAllParts || fault.part == part) return &fault;
  }
  return nullptr;
}

double Conditions::counted(FaultKind kind, unsigned what, unsigned code, double t,
                           unsigned part) const {
  double sum = 0;
  each(kind, [&](const Fault& fault) {
    if (fault.what != what || fault.code != code || t < fault.at) return;
    if (part != kAllParts && fault.part != kAllParts && fault.part != part) return;
    sum += fault.amount + std::floor(fault.per_second * lasted(fault, t));
  });
  return std::min(sum, kMostCounted);
}

double Conditions::throttled_seconds(std::uint64_t reason, double t) const {
  double seconds = 0;
  each(FaultKind::kThrottle, [&](const Fault& fault) {
    if ((fault.what & reason) != 0) seconds += lasted(fault, t);
  });
  return seconds;
}

std::uint64_t Conditions::throttle_reasons(double t) const {
  std::uint64_t bits = 0;
  each(FaultKind::kThrottle, [&](const Fault& fault) {
    if (t >= fault.at && t < fault.until) bits |= fault.what;
  });
  return bits;
}

double Conditions::clock_share(double t) const {
  double share = 1;
  each(FaultKind::kThrottle, [&](const Fault& fault) {
    if (t >= fault.at && t < fault.until) share *= fault.clocks;
  });
  return share;
}

double Conditions::extra_heat(double t) const {
  double degrees = 0;
  each(FaultKind::kOverheat, [&](const Fault& fault) {
    if (t < fault.at || t >= fault.until) return;
    const bool at_once = fault.per_second <= 0;
    degrees += at_once ? fault.amount : std::min(fault.amount, fault.per_second * lasted(fault, t));
  });
  return degrees;
}

double Conditions::heated_seconds(double degrees, double t) const {
  double seconds = 0;
  each(FaultKind::kOverheat, [&](const Fault& fault) {
    if (fault.amount < degrees) return;
    const double warming = fault.per_second <= 0 ? 0 : std::max(0.0, degrees / fault.per_second);
    seconds += std::max(0.0, lasted(fault, t) - warming);
  });
  return seconds;
}

}  // namespace gpusight::sim
