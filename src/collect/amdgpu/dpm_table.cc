#include "collect/amdgpu/dpm_table.h"

#include <algorithm>

#include "base/text.h"

namespace gpusight::collect::amdgpu {
namespace {

// "78" of "0: 16.0GT/s, x16 78Mhz *": the word before the unit, which some put a blank before.
std::optional<double> megahertz(std::string_view line) {
  size_t unit = line.find("Mhz");
  if (unit == std::string_view::npos) unit = line.find("MHz");
  if (unit == std::string_view::npos) return std::nullopt;
  std::string_view front = trim(line.substr(0, unit));
  const size_t start = front.find_last_of(" :\t");
  if (start != std::string_view::npos) front.remove_prefix(start + 1);
  const auto number = parse_double(front);
  return number && *number >= 0 && *number < 1e6 ? number : std::nullopt;
}

}  // namespace

DpmTable parse_dpm_table(std::string_view text) {
  constexpr double kMega = 1e6;
  DpmTable table;
  bool differ = false;
  for (const std::string_view line : split(text, '\n')) {
    const auto level = megahertz(line);
    if (!level) continue;
    const double hertz = *level * kMega;
    table.highest = std::max(table.highest.value_or(0), hertz);
    if (!trim(line).ends_with('*')) continue;
    differ = differ || (table.current && *table.current != hertz);
    table.current = hertz;
  }
  if (differ) table.current.reset();
  return table;
}

}  // namespace gpusight::collect::amdgpu
