// What each field of nvmlDeviceGetFieldValues reads. The numbers of fields, which moved between
// drivers, are the generated nvml_fields.h's; here are only names.
#pragma once

#include "call.h"
#include "nvml_fields.h"

namespace gpusight::sim {

// A reader's answer: a number, or why there is none.
struct Answer {
  nvmlReturn_t code = NVML_SUCCESS;
  std::int64_t number = 0;
};

// `scope` is the caller's scopeId, `nth` the position in a row of fields that are read alike.
using ReadField = Answer (*)(const Call& call, unsigned scope, unsigned nth);

struct Field {
  FieldName first;  // first..last, as they stand in the field table, are read alike
  FieldName last;
  unsigned type;
  ReadField read;
};

std::span<const Field> device_fields();  // memory, power, clocks, temperature, PCI Express
std::span<const Field> link_fields();    // NVLink and C2C

inline constexpr unsigned kU32 = NVML_VALUE_TYPE_UNSIGNED_INT;
inline constexpr unsigned kU64 = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
inline constexpr unsigned kI32 = NVML_VALUE_TYPE_SIGNED_INT;

inline constexpr Answer kNotSupported{NVML_ERROR_NOT_SUPPORTED, 0};
inline constexpr Answer kInvalid{NVML_ERROR_INVALID_ARGUMENT, 0};

inline Answer count_of(double value) { return {NVML_SUCCESS, static_cast<std::int64_t>(value)}; }

// Errors of one place; NOT_SUPPORTED where this class of board does not count there.
Answer ecc_at(const Call& call, bool uncorrected, bool aggregate, EccLocation where);

}  // namespace gpusight::sim
