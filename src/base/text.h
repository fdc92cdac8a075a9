// Text that is safe to carry, and numbers that know no locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusight {

// Text from outside (device, process, container names): invalid UTF-8 becomes U+FFFD, control
// characters, line and paragraph separators and bidirectional overrides are dropped, the rest is
// cut at max_bytes on a character boundary and trimmed of surrounding white space.
std::string clean_text(std::string_view text, size_t max_bytes = 256);
bool is_valid_utf8(std::string_view text);

// Shortest decimal that reads back as the same double; "NaN", "+Inf", "-Inf" for the rest.
void append_number(std::string& out, double number);
std::string number_text(double number);

// The whole text must be a number (surrounding white space allowed); nullopt otherwise.
std::optional<double> parse_double(std::string_view text);
std::optional<int64_t> parse_int(std::string_view text, int base = 10);
std::optional<uint64_t> parse_uint(std::string_view text, int base = 10);

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);  // keeps empty parts
std::vector<std::string_view> split_words(std::string_view text);            // by white space

// "1 s", "250ms", "10m", "1h30m", "7d": a duration as users write it. nullopt if it is none.
std::optional<double> parse_duration_seconds(std::string_view text);

// The closest of `known` for "did you mean": within a third of its length; empty if none is.
std::string_view closest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace gpusight
