// A table for a terminal: columns as wide as their content, the last one fitted to what is left,
// wide characters counted as two. Cells are clean text. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpusight::cli {

enum class Style : uint8_t { kPlain, kTitle, kDim, kGood, kNotice, kBad, kBadge };

// The text with the escape sequences of the style; as it is when `colour` is false.
std::string styled(std::string_view text, Style style, bool colour);

struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

enum class Align : uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  size_t max_width = 1000;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column. A shorter row's last cell reaches over the columns that are left.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

  // Columns that all columns but the last take, gaps included: what is left belongs to the last.
  size_t fixed_width() const;
  // Title line and rows; no line is wider than `width`.
  std::string render(size_t width, bool colour) const;

 private:
  std::vector<size_t> widths(size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace gpusight::cli
