#include "promql/go_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "promql/literal.h"

namespace gpusight::promql {

namespace {

// "-1.25e+24": the fewest digits that mean `number`.
std::string scientific(double number) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  return {buffer, end.ptr};
}

int exponent_of(std::string_view scientific) {
  return std::atoi(scientific.data() + scientific.find('e') + 1);
}

}  // namespace

std::string go_fixed(double number) {
  // From here on to_chars writes every digit of the whole number, and Go the fewest and zeros.
  constexpr double kFirstInexact = 9007199254740992.0;
  if (!std::isfinite(number)) return number_text(number);
  if (std::abs(number) >= kFirstInexact) {
    const std::string text = scientific(number);
    std::string digits = text.substr(0, text.find('e'));
    std::erase(digits, '.');
    digits.resize((number < 0 ? 2 : 1) + static_cast<size_t>(exponent_of(text)), '0');
    return digits;
  }
  char buffer[400];  // the smallest subnormal has 324 places
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed);
  return {buffer, end.ptr};
}

std::string go_general(double number) {
  if (!std::isfinite(number)) return number_text(number);
  std::string text = scientific(number);
  const int exponent = exponent_of(text);
  return exponent < -4 || exponent >= 6 ? text : go_fixed(number);
}

// PromQL's text literals are Go's.
std::string go_quoted(std::string_view text) { return quote_text(text); }

std::optional<double> go_parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  auto format = std::chars_format::general;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    format = std::chars_format::hex;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, format);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    if (format == std::chars_format::hex || !is_too_small(text)) return std::nullopt;
    number = 0;
  }
  return negative ? -number : number;
}

}  // namespace gpusight::promql
