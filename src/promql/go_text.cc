#include "promql/go_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"

namespace gpusight::promql {
namespace {

// The shape of a UTF-8 sequence by its first byte; 0: none begins so.
size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

std::string escaped_byte(unsigned char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\a': return "\\a";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\v': return "\\v";
    default: break;
  }
  return c < 0x20 || c == 0x7f ? fmt::format("\\x{:02x}", c) : std::string(1, static_cast<char>(c));
}

}  // namespace

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

std::string go_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = sequence_length(first);
    if (length <= 1 && first < 0x80) {
      quoted += escaped_byte(first);
      ++i;
    } else if (length > 1 && i + length <= text.size() && is_valid_utf8(text.substr(i, length))) {
      quoted += text.substr(i, length);
      i += length;
    } else {
      quoted += fmt::format("\\x{:02x}", first);
      ++i;
    }
  }
  return quoted + "\"";
}

}  // namespace gpusight::promql
