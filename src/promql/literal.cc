#include "promql/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace gpusight::promql {
namespace {

struct Escape {
  char letter;
  char byte;
};
constexpr Escape kEscapes[] = {{'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'},
                               {'r', '\r'}, {'t', '\t'}, {'v', '\v'}, {'\\', '\\'}};

// Of a valid character of `length` bytes.
uint32_t code_point_of(std::string_view text, size_t length) {
  uint32_t code_point = static_cast<uint8_t>(text[0]) & (length == 1 ? 0x7F : 0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    code_point = code_point << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  return code_point;
}

// Appends the first character of `text` as it stands between `quote`s; returns its bytes.
size_t append_escaped(std::string& out, std::string_view text, char quote) {
  const size_t length = character_length(text);
  if (length == 0) {
    out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    return 1;
  }
  const auto escape = std::ranges::find(kEscapes, text[0], &Escape::byte);
  if (length == 1 && (text[0] == quote || escape != std::end(kEscapes))) {
    out += '\\';
    out += text[0] == quote ? quote : escape->letter;
  } else if (length == 1 && (text[0] < 0x20 || text[0] == 0x7F)) {
    out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
  } else if (length > 1 && clean_text(text.substr(0, length)).empty()) {  // does not print
    out += fmt::format("\\u{:04x}", code_point_of(text, length));
  } else {
    out += text.substr(0, length);
  }
  return length;
}

// The number of a numeric escape: `digits` digits of `base` at the start of `text`.
std::optional<uint32_t> escape_number(std::string_view text, size_t digits, int base) {
  if (text.size() < digits) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int digit = digit_value(text[i]);
    if (digit >= base) return std::nullopt;
    number = number * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit);
  }
  if (number > 0x10FFFF) return std::nullopt;
  return static_cast<uint32_t>(number);
}

// Reads the escape at the start of `text`, behind its backslash; the bytes read, 0 if it is none.
size_t append_unescaped(std::string& out, std::string_view text, char quote) {
  if (text.empty()) return 0;
  const auto escape = std::ranges::find(kEscapes, text[0], &Escape::letter);
  if (escape != std::end(kEscapes) || text[0] == quote) {
    out += text[0] == quote ? quote : escape->byte;
    return 1;
  }
  const bool octal = text[0] >= '0' && text[0] <= '7';
  const size_t digits = octal            ? 3
                        : text[0] == 'x' ? 2
                        : text[0] == 'u' ? 4
                        : text[0] == 'U' ? 8
                                         : 0;
  if (digits == 0) return 0;
  const size_t skip = octal ? 0 : 1;
  const std::optional<uint32_t> number = escape_number(text.substr(skip), digits, octal ? 8 : 16);
  if (!number) return 0;
  const bool character = text[0] == 'u' || text[0] == 'U';
  if (!character && *number > 0xFF) return 0;
  if (character && *number >= 0xD800 && *number < 0xE000) return 0;
  if (character) {
    append_utf8(out, *number);
  } else {
    out += static_cast<char>(*number);
  }
  return skip + digits;
}

Status bad_number(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("error parsing number: {}: {}", quote_text(text), why)};
}

// Underscores stand between digits only, or between the base's prefix and a digit.
bool underscores_are_right(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    const auto digit = [&](size_t at) {
      return at < text.size() && digit_value(text[at]) < (hexadecimal ? 16 : 10);
    };
    const bool behind_prefix = hexadecimal && i == 2;
    if (!digit(i + 1) || (!behind_prefix && (i == 0 || !digit(i - 1)))) return false;
  }
  return true;
}

// The power of ten that a decimal number lies about: far above zero for one too large to hold, far
// below for one too small.
int64_t magnitude(std::string_view text) {
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  const size_t dot = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_not_of("0.");
  if (first == std::string_view::npos) return 0;
  const int64_t place = static_cast<int64_t>(dot) - static_cast<int64_t>(first);
  std::string_view exponent_text = e < text.size() ? text.substr(e + 1) : "0";
  const bool negative = exponent_text.starts_with('-');
  if (exponent_text.starts_with('+') || negative) exponent_text.remove_prefix(1);
  const int64_t exponent = parse_int(exponent_text).value_or(std::numeric_limits<int32_t>::max());
  return place + (negative ? -exponent : exponent);
}

}  // namespace

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12);
    } else {
      out += static_cast<char>(0xF0 | c >> 18);
      out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

size_t character_length(std::string_view text) {
  for (size_t length = 1; length <= std::min<size_t>(text.size(), 4); ++length) {
    if (is_valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

std::string quote_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) text.remove_prefix(append_escaped(out, text, '"'));
  out += '"';
  return out;
}

std::string quoted_character(std::string_view text) {
  if (character_length(text) == 0) return "'\xEF\xBF\xBD'";
  std::string out = "'";
  append_escaped(out, text, '\'');
  out += '\'';
  return out;
}

std::string numbered_character(std::string_view text) {
  const size_t length = character_length(text);
  const uint32_t number = length == 0 ? 0xFFFD : code_point_of(text, length);
  return fmt::format("U+{:04X} {}", number, quoted_character(text));
}

Result<std::string> unquote_text(std::string_view literal) {
  const Status bad(Code::kInvalidArgument,
                   fmt::format("error unquoting string {}: invalid syntax", quote_text(literal)));
  if (literal.size() < 2 || literal.front() != literal.back()) return bad;
  const char quote = literal.front();
  std::string_view rest = literal.substr(1, literal.size() - 2);
  if (quote == '`') {
    if (rest.find('`') != std::string_view::npos) return bad;
    return std::string(rest);
  }
  if (quote != '"' && quote != '\'') return bad;
  std::string out;
  while (!rest.empty()) {
    if (rest[0] == quote || rest[0] == '\n') return bad;
    if (rest[0] != '\\') {
      out += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    const size_t length = append_unescaped(out, rest.substr(1), quote);
    if (length == 0) return bad;
    rest.remove_prefix(1 + length);
  }
  return out;
}

bool is_plain_label_name(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_word);
}

bool is_plain_metric_name(std::string_view name) {
  const auto letter = [](char c) { return c == ':' || is_word(c); };
  return !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, letter);
}

std::string label_name_text(std::string_view name) {
  return is_plain_label_name(name) ? std::string(name) : quote_text(name);
}

Result<double> parse_number(std::string_view text) {
  const std::string word = lower(text);
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  const bool begins = !text.empty() && (is_digit(text[0]) || text[0] == '.');
  if (!begins || !underscores_are_right(text)) return bad_number(text, "invalid syntax");
  std::string digits(text);
  std::erase(digits, '_');
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    const std::optional<int64_t> number = parse_int(digits, 16);
    if (!number) return bad_number(text, "invalid syntax");
    return static_cast<double>(*number);
  }
  const bool octal = digits.size() > 1 && digits[0] == '0' &&
                     std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '7'; });
  if (octal) {
    if (const std::optional<int64_t> number = parse_int(digits, 8)) {
      return static_cast<double>(*number);
    }
  }
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, value);
  if (last != end || error == std::errc::invalid_argument) {
    return bad_number(text, "invalid syntax");
  }
  if (error == std::errc::result_out_of_range) {
    if (!is_too_small(digits)) return bad_number(text, "value out of range");
    value = 0;
  }
  return value;
}

bool is_too_small(std::string_view decimal) { return magnitude(decimal) <= 0; }

std::string print_number(double number) {
  const double size = std::fabs(number);
  // Without the sign that would make "Inf ^ 2" the sign of a power.
  if (std::isinf(number) && number > 0) return "Inf";
  if (!std::isfinite(number) || (size != 0 && (size < 1e-6 || size >= 1e21))) {
    return number_text(number);
  }
  char buffer[64];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed);
  return {buffer, result.ptr};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  const char letter = lower(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

}  // namespace gpusight::promql
