#include "cli/table.h"

#include <algorithm>

#include "base/display_width.h"

namespace gpusight::cli {
namespace {

constexpr size_t kGap = 2;

std::string padded(const std::string& text, size_t width, Align align) {
  return align == Align::kRight ? pad_left(text, width) : pad_right(text, width);
}

void strip_spaces(std::string& line) {
  while (line.ends_with(' ')) line.pop_back();
}

}  // namespace

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour || style == Style::kPlain || text.empty()) return std::string(text);
  const std::string_view code = style == Style::kTitle    ? "1"
                                : style == Style::kDim    ? "2"
                                : style == Style::kGood   ? "32"
                                : style == Style::kNotice ? "33"
                                : style == Style::kBad    ? "1;31"
                                                          : "1;7;35";
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::vector<size_t> Table::widths(size_t width) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const std::vector<Cell>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      // A cell that reaches over others makes no column wide.
      if (i + 1 == row.size() && row.size() < columns_.size()) break;
      widths[i] = std::max(widths[i], display_width(row[i].text));
    }
  }
  size_t left = width;
  for (size_t i = 0; i < widths.size(); ++i) {
    widths[i] = std::min({widths[i], columns_[i].max_width, left});
    left -= std::min(left, widths[i] + kGap);
  }
  return widths;
}

size_t Table::fixed_width() const {
  const std::vector<size_t> all = widths(100'000);
  size_t sum = 0;
  for (size_t i = 0; i + 1 < all.size(); ++i) sum += all[i] + kGap;
  return sum;
}

std::string Table::render(size_t width, bool colour) const {
  const std::vector<size_t> widths = this->widths(width);
  std::string out;
  const auto line = [&](const auto& cell_at, size_t cells) {
    std::string text;
    size_t used = 0;
    for (size_t i = 0; i < cells && used < width; ++i) {
      const Cell cell = cell_at(i);
      const bool reaches = i + 1 == cells && cells < columns_.size();
      const size_t room = reaches ? width - used : widths[i];
      std::string shown =
          reaches ? fit_width(cell.text, room) : padded(cell.text, room, columns_[i].align);
      if (i + 1 == cells) strip_spaces(shown);
      // Spaces stay plain, so that nothing but the text is underlined or reversed.
      const size_t begin = std::min(shown.find_first_not_of(' '), shown.size());
      const size_t end = shown.find_last_not_of(' ') + 1;
      text += shown.substr(0, begin);
      if (begin < end) text += styled(shown.substr(begin, end - begin), cell.style, colour);
      if (end > begin) text += shown.substr(end);
      used += room;
      if (i + 1 < cells && used < width) {
        const size_t gap = std::min(kGap, width - used);
        text.append(gap, ' ');
        used += gap;
      }
    }
    strip_spaces(text);
    out += text + "\n";
  };
  line([&](size_t i) { return Cell{columns_[i].title, Style::kTitle}; }, columns_.size());
  for (const std::vector<Cell>& row : rows_) {
    line([&](size_t i) { return row[i]; }, row.size());
  }
  return out;
}

}  // namespace gpusight::cli
