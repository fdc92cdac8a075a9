// What a function without a simulation of its own answers.
#pragma once

#include "nvml_abi.h"
#include "nvml_functions.h"

namespace gpusight::sim {

// After the checks that every call goes through: NOT_SUPPORTED.
nvmlReturn_t unsupported(Fn fn);
nvmlReturn_t unsupported(Fn fn, nvmlDevice_t device);

}  // namespace gpusight::sim
