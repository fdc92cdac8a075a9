#include "base/display_width.h"

#include <algorithm>
#include <iterator>

namespace gpusight {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Unicode 15, categories Mn and Me and the format characters, joined to blocks where a block has
// nothing else that a machine's names use.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
    {0x064B, 0x065F}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0x302A, 0x302D},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

// Unicode 15, East Asian Width W and F.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26A1, 0x26A1},   {0x26BD, 0x26BE},   {0x2705, 0x2705},
    {0x274C, 0x274C},   {0x2753, 0x2757},   {0x2795, 0x2797},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x17000, 0x18CFF},
    {0x1B000, 0x1B2FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD}};

template <size_t N>
bool lies_in(const Range (&ranges)[N], uint32_t c) {
  const auto at = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                   [](uint32_t x, const Range& r) { return x < r.first; });
  return at != std::begin(ranges) && c <= std::prev(at)->last;
}

// The bytes of the character at the start of `text` and its code point; one byte if it is invalid.
size_t take_character(std::string_view text, uint32_t& code_point) {
  const auto first = static_cast<uint8_t>(text.front());
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (first < 0x80 || (first & 0xC0) == 0x80 || first >= 0xF8 || length > text.size()) length = 1;
  code_point = length == 1 ? first : first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xC0) != 0x80) return 1;
    code_point = code_point << 6 | (byte & 0x3F);
  }
  return length;
}

// Closing punctuation of Chinese text: never the first character of a line.
bool closes(uint32_t c) {
  constexpr uint32_t kClosing[] = {0x3001, 0x3002, 0x300B, 0x300D, 0x300F, 0xFF01, 0xFF09,
                                   0xFF0C, 0xFF1A, 0xFF1B, 0xFF1F, 0x201D, 0x2026};
  return std::ranges::find(kClosing, c) != std::end(kClosing);
}

bool opens(uint32_t c) { return c == 0x300A || c == 0x300C || c == 0xFF08 || c == 0x201C; }

struct Piece {
  std::string text;
  bool space_before = false;
};

// What a line may be broken between: words, and single wide characters with their punctuation.
std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  bool space = false;
  bool glue = false;  // the next character belongs to the last piece
  bool last_was_wide = false;
  while (!text.empty()) {
    uint32_t c = 0;
    const size_t length = take_character(text, c);
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    if (c == ' ' || c == '\n') {
      space = true;
      glue = false;
      continue;
    }
    const bool wide = code_point_width(c) == 2;
    const bool joins = glue || (closes(c) && !space) || (!wide && !last_was_wide);
    if (!pieces.empty() && !space && joins) {
      pieces.back().text += character;
    } else {
      pieces.push_back({std::string(character), space && !pieces.empty()});
    }
    glue = opens(c);
    last_was_wide = wide;
    space = false;
  }
  return pieces;
}

}  // namespace

int code_point_width(uint32_t c) {
  if (c < 0x300) return 1;
  if (lies_in(kZeroWidth, c)) return 0;
  return lies_in(kWide, c) ? 2 : 1;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    uint32_t c = 0;
    text.remove_prefix(take_character(text, c));
    width += code_point_width(c);
  }
  return width;
}

std::string fit_width(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    uint32_t c = 0;
    const size_t length = take_character(text, c);
    used += code_point_width(c);
    if (used > width - 1) break;
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "…";
}

std::string pad_right(std::string_view text, size_t width) {
  std::string out = fit_width(text, width);
  out.append(width - display_width(out), ' ');
  return out;
}

std::string pad_left(std::string_view text, size_t width) {
  const std::string fitted = fit_width(text, width);
  return std::string(width - display_width(fitted), ' ') + fitted;
}

std::vector<std::string> wrap_lines(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  size_t used = 0;
  for (const Piece& piece : pieces_of(text)) {
    const size_t needs = display_width(piece.text);
    const size_t gap = piece.space_before && used > 0 ? 1 : 0;
    if (used > 0 && used + gap + needs > width) {
      lines.emplace_back();
      used = 0;
    } else if (gap > 0) {
      lines.back() += ' ';
      ++used;
    }
    lines.back() += piece.text;
    used += needs;
  }
  return lines;
}

}  // namespace gpusight
