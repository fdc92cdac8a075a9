#include "cli/csv.h"

#include <string_view>

namespace gpusight::cli {

std::string csv_field(const std::string& text) {
  std::string safe = text;
  // Names come from outside; a spreadsheet runs what begins like a formula.
  if (!safe.empty() && std::string_view("=+-@\t").find(safe[0]) != std::string_view::npos) {
    safe.insert(safe.begin(), '\'');
  }
  if (safe.find_first_of("\",\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace gpusight::cli
