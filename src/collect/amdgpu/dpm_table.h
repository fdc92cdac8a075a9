// The pp_dpm_* files of amdgpu: the levels that a clock may have, a line each, with a star behind
// the one in use. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace gpusight::collect::amdgpu {

struct DpmTable {
  // In hertz; nullopt: no level has a star, or stars stand behind different ones.
  std::optional<double> current;
  // The highest level; nullopt: the file is empty, or nothing in it is a level.
  std::optional<double> highest;
};

// Reads "1: 1200Mhz *", "S: 19Mhz *" (deep sleep) and "0: 16.0GT/s, x16 78Mhz *"; what it does not
// understand it passes over.
DpmTable parse_dpm_table(std::string_view text);

}  // namespace gpusight::collect::amdgpu
