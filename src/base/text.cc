#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gpusight {
namespace {

// Length of the valid UTF-8 sequence at the start of `s` and its code point; 0 if it is invalid.
size_t decode(std::string_view s, uint32_t& code_point) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    code_point = first;
    return 1;
  }
  const size_t length = first >= 0xF0 && first < 0xF5 ? 4
                        : first >= 0xE0               ? 3
                        : first >= 0xC2               ? 2
                                                      : 0;
  if (length == 0 || first >= 0xF5 || s.size() < length) return 0;
  code_point = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return code_point < kSmallest[length] || code_point > 0x10FFFF || surrogate ? 0 : length;
}

// How many whole words of eight bytes at the start of `s` are ASCII, in bytes: text mostly is.
size_t ascii_bytes(std::string_view s) {
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, s.data() + i, sizeof word);
    if ((word & 0x8080808080808080) != 0) break;
  }
  return i;
}

bool is_unprintable(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Letters changed, added, left out, or two neighbours in the wrong order: each counts one.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

template <typename T>
std::optional<T> parse_whole(std::string_view text, int base) {
  text = trim(text);
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string clean_text(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    uint32_t c = 0;
    const size_t length = decode(text.substr(i), c);
    const std::string_view piece = length == 0 ? "\xEF\xBF\xBD" : text.substr(i, length);
    i += std::max<size_t>(length, 1);
    if (length != 0 && is_unprintable(c)) continue;
    if (out.size() + piece.size() > max_bytes) break;
    out += piece;
  }
  return std::string(trim(out));
}

bool is_valid_utf8(std::string_view text) {
  uint32_t c = 0;
  for (size_t i = ascii_bytes(text); i < text.size();) {
    const size_t length = decode(text.substr(i), c);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

void append_number(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "NaN";
  } else if (std::isinf(number)) {
    out += number > 0 ? "+Inf" : "-Inf";
  } else {
    char buffer[32];
    // Whole numbers up to 2^53 are written out: 16106127360, not 1.610612736e+10.
    const bool whole = number == std::floor(number) && std::fabs(number) < 9007199254740992.0;
    const auto result =
        whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(number))
              : std::to_chars(buffer, buffer + sizeof buffer, number);
    out.append(buffer, result.ptr);
  }
}

std::string number_text(double number) {
  std::string out;
  append_number(out, number);
  return out;
}

std::optional<double> parse_double(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view text, int base) {
  return parse_whole<int64_t>(text, base);
}

std::optional<uint64_t> parse_uint(std::string_view text, int base) {
  return parse_whole<uint64_t>(text, base);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < text.size();) {
    while (i < text.size() && is_space(text[i])) ++i;
    const size_t start = i;
    while (i < text.size() && !is_space(text[i])) ++i;
    if (i > start) words.push_back(text.substr(start, i - start));
  }
  return words;
}

std::optional<double> parse_duration_seconds(std::string_view text) {
  struct UnitSeconds {
    std::string_view name;
    double seconds;
  };
  static constexpr UnitSeconds kUnits[] = {{"ms", 0.001}, {"us", 1e-6},   {"s", 1},
                                           {"m", 60},     {"h", 3600},    {"d", 86400},
                                           {"w", 604800}, {"y", 31536000}};
  text = trim(text);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(end - text.data());
    text = trim(text);
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [&](const auto& u) { return text.starts_with(u.name); });
    if (unit == std::end(kUnits)) return std::nullopt;
    text.remove_prefix(unit->name.size());
    text = trim(text);
    total += number * unit->seconds;
  }
  return total;
}

std::string_view closest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace gpusight
