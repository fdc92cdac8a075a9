#include "collect/nvml/return_code.h"

#include <string_view>

namespace gpusight::collect::nvml {
namespace {

struct Row {
  Return code;
  std::string_view text;
  model::Reason reason;
};

using enum Return;
using model::Reason;

constexpr Row kRows[] = {
    {kSuccess, "success", Reason::kUnknown},
    {kUninitialized, "library not initialised", Reason::kDriverError},
    {kInvalidArgument, "invalid argument", Reason::kNotSupported},
    {kNotSupported, "not supported", Reason::kNotSupported},
    {kNoPermission, "no permission", Reason::kNoPermission},
    {kAlreadyInitialized, "already initialised", Reason::kDriverError},
    {kNotFound, "not found", Reason::kUnknown},
    {kInsufficientSize, "buffer too small", Reason::kDriverError},
    {kInsufficientPower, "power cable not connected", Reason::kDriverError},
    {kDriverNotLoaded, "driver not loaded", Reason::kDriverError},
    {kTimeout, "timed out", Reason::kBusy},
    {kIrqIssue, "interrupt problem between kernel and GPU", Reason::kDriverError},
    {kLibraryNotFound, "part of the driver's library is missing", Reason::kNotSupported},
    {kFunctionNotFound, "function not found", Reason::kNotSupported},
    {kCorruptedInforom, "the board's information ROM is corrupt", Reason::kDriverError},
    {kGpuIsLost, "GPU is lost", Reason::kLost},
    {kResetRequired, "GPU needs a reset", Reason::kDriverError},
    {kOperatingSystem, "blocked by the operating system", Reason::kNoPermission},
    {kVersionMismatch, "library and kernel module differ in version", Reason::kDriverError},
    {kInUse, "in use", Reason::kBusy},
    {kMemory, "out of memory", Reason::kDriverError},
    {kNoData, "no data", Reason::kUnknown},
    {kVgpuEccNotSupported, "not supported with ECC on a vGPU", Reason::kNotSupported},
    {kInsufficientResources, "not enough resources", Reason::kDriverError},
    {kFreqNotSupported, "frequency not supported", Reason::kNotSupported},
    {kArgumentVersionMismatch, "struct version not known", Reason::kNotSupported},
    {kDeprecated, "removed from the driver", Reason::kNotSupported},
    {kNotReady, "not ready", Reason::kWarmingUp},
    {kGpuNotFound, "no GPU found", Reason::kDriverError},
    {kInvalidState, "invalid state", Reason::kDriverError},
    {kResetTypeNotSupported, "this kind of reset is not supported", Reason::kNotSupported},
    {kUnknown, "unknown error of the driver", Reason::kDriverError},
};

const Row* find(Return code) {
  for (const Row& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

std::string return_text(Return code) {
  const Row* row = find(code);
  const std::string number = std::to_string(static_cast<int>(code));
  if (row == nullptr) return "return code " + number;
  return std::string(row->text) + " (" + number + ")";
}

Reason reason_of(Return code) {
  const Row* row = find(code);
  return row == nullptr ? Reason::kDriverError : row->reason;
}

bool is_unsupported(Return code) { return reason_of(code) == Reason::kNotSupported; }

}  // namespace gpusight::collect::nvml
