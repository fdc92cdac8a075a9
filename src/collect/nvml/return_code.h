// What a return code of the driver's library means for a reading. The texts are gpusight's own: a
// library that is sick is not asked what its numbers mean. Pure functions.
#pragma once

#include <string>

#include "collect/nvml/nvml_abi.h"
#include "model/value.h"

namespace gpusight::collect::nvml {

// "GPU is lost (15)": for log lines and details of a status.
std::string return_text(Return code);

// Why a reading that ended in `code` is absent.
model::Reason reason_of(Return code);

// Stays so for this handle until its mode changes: not worth a call every tick.
bool is_unsupported(Return code);

// No data to give, which is no failure.
constexpr bool is_empty(Return code) {
  return code == Return::kNotFound || code == Return::kNoData;
}

// Every handle of this library generation is dead.
constexpr bool ends_generation(Return code) {
  return code == Return::kUninitialized || code == Return::kDriverNotLoaded ||
         code == Return::kVersionMismatch || code == Return::kGpuNotFound;
}

}  // namespace gpusight::collect::nvml
