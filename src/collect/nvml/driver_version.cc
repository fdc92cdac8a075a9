#include "collect/nvml/driver_version.h"

#include "base/text.h"

namespace gpusight::collect::nvml {

std::optional<DriverVersion> parse_driver_version(std::string_view text) {
  uint32_t numbers[3] = {};
  size_t count = 0;
  for (const std::string_view part : split(text, '.')) {
    const auto number = parse_uint(part);
    if (!number || *number > UINT32_MAX || count == std::size(numbers)) return std::nullopt;
    numbers[count++] = static_cast<uint32_t>(*number);
  }
  if (count < 2) return std::nullopt;
  return DriverVersion{numbers[0], numbers[1], numbers[2]};
}

}  // namespace gpusight::collect::nvml
