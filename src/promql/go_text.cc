#include "promql/go_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "promql/literal.h"

namespace gpusight::promql {

std::string go_fixed(double number) {
  if (!std::isfinite(number)) return number_text(number);
  char buffer[400];  // the smallest subnormal has 324 places
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed);
  return {buffer, end.ptr};
}

std::string go_general(double number) {
  if (!std::isfinite(number)) return number_text(number);
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  const std::string scientific(buffer, end.ptr);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  return exponent < -4 || exponent >= 6 ? scientific : go_fixed(number);
}

// PromQL's text literals are Go's.
std::string go_quoted(std::string_view text) { return quote_text(text); }

}  // namespace gpusight::promql
