// The driver's version as a number that can be compared: some field numbers mean different things
// in different drivers. Plain value.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpusight::collect::nvml {

struct DriverVersion {
  uint32_t branch = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;
  auto operator<=>(const DriverVersion&) const = default;  // NOLINT(modernize-use-nullptr)
};

// "580.105.08" → {580, 105, 8}; "" or what is no version → nullopt.
std::optional<DriverVersion> parse_driver_version(std::string_view text);

// The drivers from `first` up to but without `end`; by default all, known or not.
struct DriverAges {
  DriverVersion first = {};
  DriverVersion end = {UINT32_MAX, 0, 0};
  bool holds(const std::optional<DriverVersion>& driver) const {
    if (!driver) return first == DriverVersion{} && end.branch == UINT32_MAX;
    return *driver >= first && *driver < end;
  }
};

}  // namespace gpusight::collect::nvml
