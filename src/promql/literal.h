// How PromQL spells strings, names and numbers, read and written.
//
// Pure; any thread. Source: the "Literals" section of Prometheus's query documentation; strings and
// numbers follow Go's syntax, which that section refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpusight::promql {

void append_utf8(std::string& out, uint32_t code_point);
// Bytes of the first character of `text`; 0 if `text` is empty or does not begin with valid UTF-8.
size_t character_length(std::string_view text);

// "text" with escapes for whatever does not print; unquote_text() gives the same bytes back.
std::string quote_text(std::string_view text);
// The first character of `text`, for messages: 'x'. What is no valid character is shown as '�'.
std::string quoted_character(std::string_view text);
// The same with its number: U+0078 'x'.
std::string numbered_character(std::string_view text);
// The value of a literal with its quotes ("…", '…' or `…`) around it.
Result<std::string> unquote_text(std::string_view literal);

// Whether a name can be written without quotes: letters, digits, underscores, not beginning with a
// digit; a metric's name may have colons.
bool is_plain_label_name(std::string_view name);
bool is_plain_metric_name(std::string_view name);
// `name` as a label is written, quoted where it must be.
std::string label_name_text(std::string_view name);

// Decimal, hexadecimal (0x1f), octal (017), with fraction, exponent and underscores between digits
// (1_000), "Inf" and "NaN" in any case. No sign.
Result<double> parse_number(std::string_view text);
// Of a decimal number that no double can hold: whether it is too small, not too large.
bool is_too_small(std::string_view decimal);
// The shortest text that reads back as the same number, without an exponent unless very large or
// very small.
std::string print_number(double number);

// ASCII only, whatever the locale.
char lower(char c);
std::string lower(std::string_view text);
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return c == '_' || (lower(c) >= 'a' && lower(c) <= 'z'); }
inline bool is_word(char c) { return is_letter(c) || is_digit(c); }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// The value of a hexadecimal digit; 16 if it is none.
int digit_value(char c);

}  // namespace gpusight::promql
