// How wide text is on a terminal, and text fitted to a width. A column is one cell of a character
// terminal: Chinese and other wide characters take two, combining marks none. Text is expected to
// be clean UTF-8 (base/text.h); an invalid byte counts as one column. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpusight {

// Columns of one code point: 0, 1 or 2 (Unicode East Asian Width W and F are 2).
int code_point_width(uint32_t code_point);
size_t display_width(std::string_view text);

// At most `width` columns; what does not fit is cut and ends in "…".
std::string fit_width(std::string_view text, size_t width);
// Exactly `width` columns: cut, or filled with spaces on the named side of the text.
std::string pad_right(std::string_view text, size_t width);
std::string pad_left(std::string_view text, size_t width);

// Lines of at most `width` columns, broken at spaces and between wide characters; a word longer
// than a line stands alone and whole. Never empty.
std::vector<std::string> wrap_lines(std::string_view text, size_t width);

}  // namespace gpusight
