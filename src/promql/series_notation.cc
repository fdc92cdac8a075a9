#include "promql/series_notation.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "promql/lexer.h"
#include "promql/literal.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

// Reads the points of one series; labels are parse_labels()'s.
class PointReader {
 public:
  PointReader(std::string_view line, size_t at) : line_(line), at_(at) {}
  Result<NotedSeries> read();

 private:
  Status item();
  Status blanks();
  Status histograms();
  Status numbers();
  Status stale_or_number(double& value);
  Result<double> number();
  Result<uint64_t> repetitions();  // of "xN"
  Status skip_histogram();
  Status add(uint64_t count, std::optional<double> value, bool histogram = false);
  Status check_room(uint64_t count) const;

  char peek(size_t ahead = 0) const {
    return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= line_.size(); }
  bool at_histogram() const { return line_.substr(at_).starts_with("{{"); }
  bool accept(char c) {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  Status error(size_t start, std::string_view message, Code code = Code::kInvalidArgument) const {
    return parse_error(line_, {start, line_.size()}, message, code);
  }
  Status unexpected() const;

  std::string_view line_;
  size_t at_;
  NotedSeries series_;
};

Result<NotedSeries> PointReader::read() {
  for (;;) {
    const size_t before = at_;
    while (is_blank(peek())) ++at_;
    if (at_end()) break;
    if (at_ == before) return unexpected();  // no blank between two items
    if (Status bad = item(); !bad.ok()) return bad;
  }
  if (!series_.has_histograms) series_.is_histogram.clear();
  return std::move(series_);
}

Status PointReader::item() {
  if (peek() == '_') return blanks();
  if (at_histogram()) return histograms();
  return numbers();
}

// "_" or "_xN".
Status PointReader::blanks() {
  ++at_;
  uint64_t count = 1;
  if (peek() == 'x') {
    const Result<uint64_t> given = repetitions();
    if (!given.ok()) return given.status();
    count = *given;
  }
  return add(count, std::nullopt);
}

// "{{…}}", "{{…}}xN", "{{…}}+{{…}}xN" or "{{…}}-{{…}}xN".
Status PointReader::histograms() {
  if (Status bad = skip_histogram(); !bad.ok()) return bad;
  if (accept('+') || accept('-')) {
    if (!at_histogram()) return unexpected();
    if (Status bad = skip_histogram(); !bad.ok()) return bad;
    if (peek() != 'x') return unexpected();
  }
  uint64_t more = 0;
  if (peek() == 'x') {
    const Result<uint64_t> given = repetitions();
    if (!given.ok()) return given.status();
    more = *given;
  }
  series_.has_histograms = true;
  return add(more + 1, std::nullopt, true);
}

Status PointReader::skip_histogram() {
  const size_t start = at_;
  const size_t end = line_.find("}}", at_);
  const size_t inner = line_.find('{', at_ + 2);
  if (end == std::string_view::npos || inner < end) {
    return error(start, "unclosed native histogram");
  }
  at_ = end + 2;
  return {};
}

// "A", "AxN", "A+BxN", "A-BxN".
Status PointReader::numbers() {
  double value = 0;
  if (Status bad = stale_or_number(value); !bad.ok()) return bad;
  double step = 0;
  if (peek() == '+' || peek() == '-') {
    const Result<double> given = number();
    if (!given.ok()) return given.status();
    step = *given;
    if (peek() != 'x') return unexpected();
  }
  if (peek() != 'x') return add(1, value);
  const Result<uint64_t> more = repetitions();
  if (!more.ok()) return more.status();
  if (Status bad = check_room(*more + 1); !bad.ok()) return bad;
  for (uint64_t i = 0; i <= *more; ++i) {
    // Added up one by one, rounding included, as Prometheus does; a stale marker must stay itself.
    if (Status bad = add(1, value); !bad.ok()) return bad;
    if (step != 0) value += step;
  }
  return {};
}

Status PointReader::stale_or_number(double& value) {
  constexpr std::string_view kStale = "stale";
  if (line_.substr(at_).starts_with(kStale)) {
    at_ += kStale.size();
    value = model::stale_marker();
    return {};
  }
  const Result<double> given = number();
  if (given.ok()) value = *given;
  return given.status();
}

// With or without a sign. "x" never belongs to it: 0x3 is four zeros.
Result<double> PointReader::number() {
  const bool negative = peek() == '-';
  if (!accept('+')) accept('-');
  const size_t start = at_;
  const std::string word = lower(line_.substr(at_, 3));
  if (word == "inf" || word == "nan") {
    at_ += 3;
  } else {
    if (!is_digit(peek()) && !(peek() == '.' && is_digit(peek(1)))) return unexpected();
    while (is_digit(peek()) || peek() == '.' || peek() == '_' || lower(peek()) == 'e') {
      const bool exponent = lower(peek()) == 'e';
      ++at_;
      if (exponent && !accept('+')) accept('-');
    }
  }
  const std::string_view text = line_.substr(start, at_ - start);
  const Result<double> value = parse_number(text);
  if (!value.ok()) return error(start, value.status().message());
  return negative ? -*value : *value;
}

Result<uint64_t> PointReader::repetitions() {
  accept('x');
  const size_t start = at_;
  while (is_word(peek())) ++at_;
  const std::string_view text = line_.substr(start, at_ - start);
  uint64_t count = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (bad != std::errc() || end != text.data() + text.size()) {
    return error(start, "invalid repetition in series values: " + quote_text(text));
  }
  // So that one may be added to it; this many are refused anyway.
  return std::min<uint64_t>(count, kMaxExpandedPoints + 1);
}

Status PointReader::add(uint64_t count, std::optional<double> value, bool histogram) {
  if (Status bad = check_room(count); !bad.ok()) return bad;
  series_.points.insert(series_.points.end(), count, value);
  series_.is_histogram.insert(series_.is_histogram.end(), count, histogram);
  return {};
}

Status PointReader::check_room(uint64_t count) const {
  if (series_.points.size() + count <= kMaxExpandedPoints) return {};
  return error(at_, fmt::format("more than {} points in a series", kMaxExpandedPoints),
               Code::kExhausted);
}

Status PointReader::unexpected() const {
  if (at_end()) return error(at_, "unexpected end of input in series values");
  return error(at_, fmt::format("unexpected character in series sequence: {}",
                                quoted_character(line_.substr(at_, 4))));
}

// Where the labels end: behind a name, and behind the braces that follow it without a blank.
size_t end_of_labels(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && !is_blank(line[at]) && line[at] != '{') ++at;
  if (at >= line.size() || line[at] != '{') return at;
  char quote = '\0';
  for (++at; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == '\0' && c == '}') return at + 1;
    if (quote == '\0' && (c == '"' || c == '\'' || c == '`')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\0' && quote != '`') {
      ++at;
    }
  }
  return line.size();
}

}  // namespace

Result<NotedSeries> parse_series(std::string_view line) {
  size_t start = 0;
  while (start < line.size() && is_blank(line[start])) ++start;
  const size_t end = start + end_of_labels(line.substr(start));
  // From the line's beginning, for the columns in messages.
  model::Labels labels = TRY(parse_labels(line.substr(0, end)));
  NotedSeries series = TRY(PointReader(line, end).read());
  series.labels = std::move(labels);
  return series;
}

}  // namespace gpusight::promql
