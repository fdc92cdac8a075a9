// Counts and times library calls that are made outside a poll (opening, listing devices), so that
// they can be reported with the first one. Not thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "collect/nvml/nvml_abi.h"

namespace gpusight::collect::nvml {

class CallMeter {
 public:
  explicit CallMeter(const Clock& clock) : clock_(&clock) {}

  // A call that the library does not have costs nothing and says so.
  template <typename... Parameters, typename... Arguments>
  Return operator()(Return (*function)(Parameters...), Arguments... arguments) {
    if (function == nullptr) return Return::kFunctionNotFound;
    const MonoTime start = clock_->mono();
    const Return code = function(arguments...);
    time_ += clock_->mono() - start;
    ++calls_;
    return code;
  }

  uint64_t calls() const { return calls_; }
  Duration time() const { return time_; }

 private:
  const Clock* clock_;
  uint64_t calls_ = 0;
  Duration time_{};
};

}  // namespace gpusight::collect::nvml
