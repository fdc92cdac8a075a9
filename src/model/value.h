// One reading: a number that is fresh or stale, or the reason why there is none.
//
// Plain values: copy freely, any thread. Absent is never a number: there is no NaN, no -1 and no
// zero that stands for "not known".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "catalog/message.h"

namespace gpusight::model {

// Why a value is stale or absent. The identifiers (reason_key) are stable.
enum class Reason : uint8_t {
  kNotSupported,
  kNoPermission,
  kAsleep,
  kBusy,
  kLost,
  kStale,
  kDriverError,
  kImplausible,
  kWarmingUp,
  kDisabled,
  kHidden,
  kUnknown,
};
inline constexpr size_t kReasonCount = 12;

std::string_view reason_key(Reason reason);  // "not_supported"
std::optional<Reason> find_reason(std::string_view key);
catalog::MessageId reason_message(Reason reason);

enum class Presence : uint8_t { kFresh, kStale, kAbsent };

// Which source read it: a number given out by collect/registry.cc, 0 for gpusight itself.
using SourceNumber = uint8_t;

class Value {
 public:
  Value() = default;  // absent, unknown

  static Value fresh(double number, MonoTime read_at, Duration window, SourceNumber source) {
    Value v;
    v.number_ = number;
    v.read_at_ = read_at;
    v.window_ = window;
    v.source_ = source;
    v.presence_ = Presence::kFresh;
    return v;
  }
  static Value absent(Reason reason) {
    Value v;
    v.reason_ = reason;
    return v;
  }
  // The same reading, grown old.
  Value stale(Reason reason) const {
    Value v = *this;
    v.presence_ = Presence::kStale;
    v.reason_ = reason;
    return v;
  }

  Presence presence() const { return presence_; }
  bool is_fresh() const { return presence_ == Presence::kFresh; }
  bool is_absent() const { return presence_ == Presence::kAbsent; }

  // Fresh or stale: the number, rounded to the catalogue's resolution, in the catalogue's unit.
  std::optional<double> number() const {
    return is_absent() ? std::nullopt : std::optional(number_);
  }
  // Fresh only: what /metrics, rules and history take.
  std::optional<double> fresh_number() const {
    return is_fresh() ? std::optional(number_) : std::nullopt;
  }
  // Meaningful unless absent: the moment of reading, on the monotonic clock, read next to the
  // value.
  MonoTime read_at() const { return read_at_; }
  // The span of time that the number describes; zero for a level read at a moment.
  Duration window() const { return window_; }
  SourceNumber source() const { return source_; }
  // Meaningful unless fresh.
  Reason reason() const { return reason_; }

 private:
  double number_ = 0;
  MonoTime read_at_{};
  Duration window_{};
  Presence presence_ = Presence::kAbsent;
  Reason reason_ = Reason::kUnknown;
  SourceNumber source_ = 0;
};

}  // namespace gpusight::model
