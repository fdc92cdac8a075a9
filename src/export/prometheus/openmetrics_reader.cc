#include "export/prometheus/openmetrics_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"

namespace gpusight::prometheus {
namespace {

// So far a time can be told to the millisecond as a double: the year 287 396.
constexpr double kMaxSeconds = 9e12;

Status fault(std::string what) { return {Code::kCorrupt, std::move(what)}; }

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}
bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

// What is left of a line, taken from its front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  // Empty when there is none.
  std::string_view name() {
    size_t size = 0;
    if (!text_.empty() && begins_name(text_[0])) {
      while (size < text_.size() && continues_name(text_[size])) ++size;
    }
    return cut(size);
  }

  std::string_view word() { return cut(std::min(text_.find(' '), text_.size())); }

  // What stands between quotes, its escapes undone; nullopt without the closing one, or with an
  // escape that there is not.
  std::optional<std::string> quoted() {
    if (!take('"')) return std::nullopt;
    std::string out;
    while (!text_.empty()) {
      char c = text_[0];
      text_.remove_prefix(1);
      if (c == '"') return out;
      if (c == '\\') {
        if (text_.empty()) return std::nullopt;
        c = text_[0];
        text_.remove_prefix(1);
        if (c == 'n') {
          c = '\n';
        } else if (c != '\\' && c != '"') {
          return std::nullopt;
        }
      }
      out += c;
    }
    return std::nullopt;
  }

  std::string_view rest() const { return text_; }

 private:
  std::string_view cut(size_t size) {
    const std::string_view front = text_.substr(0, size);
    text_.remove_prefix(size);
    return front;
  }

  std::string_view text_;
};

Status read_labels(Cursor& cursor, model::Labels& labels) {
  while (!cursor.take('}')) {
    if (labels.size() > OpenMetricsReader::kMaxLabels) return fault("it has too many labels");
    const std::string_view name = cursor.name();
    if (name.empty()) return fault("a label's name is wanted, or the closing brace");
    if (!cursor.take('=')) return fault("= is wanted behind the label " + std::string(name));
    std::optional<std::string> value = cursor.quoted();
    if (!value) return fault("the value of the label " + std::string(name) + " is not quoted well");
    // Empty is the same as not there.
    if (!value->empty()) labels.emplace_back(name, std::move(*value));
    if (!cursor.take(',') && !cursor.rest().starts_with('}')) {
      return fault("a comma or the closing brace is wanted behind the label " + std::string(name));
    }
  }
  return {};
}

Status sort_labels(model::Labels& labels) {
  std::ranges::sort(labels);
  const auto same = std::ranges::adjacent_find(
      labels, [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same != labels.end()) return fault("the label " + same->first + " stands there twice");
  return {};
}

Result<int64_t> read_time(std::string_view text) {
  if (text.empty()) return fault("it has no time; samples of the past need one");
  const std::optional<double> seconds = parse_double(text);
  if (!seconds || !(std::abs(*seconds) < kMaxSeconds)) {
    return fault("its time is no number of seconds");
  }
  return std::llround(*seconds * 1000);
}

Status read_sample(std::string_view line, TimedSample& sample) {
  Cursor cursor(line);
  const std::string_view name = cursor.name();
  if (name.empty()) return fault("it begins with no metric's name");
  sample.labels.clear();
  sample.labels.emplace_back("__name__", name);
  if (cursor.take('{')) TRY(read_labels(cursor, sample.labels));
  TRY(sort_labels(sample.labels));
  if (!cursor.take(' ')) return fault("a blank and a number are wanted behind the name and labels");
  std::string_view value = cursor.word();
  if (value.starts_with('+')) value.remove_prefix(1);
  const std::optional<double> number = parse_double(value);
  if (!number) return fault("its value is no number");
  sample.number = *number;
  cursor.take(' ');
  sample.time_ms = TRY(read_time(cursor.word()));
  // What else may stand there is an exemplar.
  if (!cursor.rest().empty() && !cursor.rest().starts_with(" # {")) {
    return fault("something follows its time");
  }
  return {};
}

Status check_comment(std::string_view line) {
  Cursor cursor(line.substr(1));
  if (!cursor.take(' ')) return fault("a comment begins with \"# \"");
  const std::string_view keyword = cursor.word();
  if (keyword != "HELP" && keyword != "TYPE" && keyword != "UNIT") {
    return fault("comments are # HELP, # TYPE, # UNIT and # EOF");
  }
  if (!cursor.take(' ') || cursor.name().empty()) {
    return fault("# " + std::string(keyword) + " needs a metric's name");
  }
  if (!cursor.rest().empty() && !cursor.take(' ')) {
    return fault("# " + std::string(keyword) + " has a wrong metric's name");
  }
  return {};
}

}  // namespace

Result<OpenMetricsReader::Line> OpenMetricsReader::read(std::string_view line,
                                                        TimedSample& sample) {
  ++line_number_;
  if (has_ended_) return fault("something follows # EOF");
  if (line.size() > kMaxLine) return fault("the line is longer than 64 KiB");
  if (!is_valid_utf8(line)) return fault("it is not UTF-8");
  if (line == "# EOF") {
    has_ended_ = true;
    return Line::kEnd;
  }
  if (line.starts_with('#')) {
    TRY(check_comment(line));
    return Line::kComment;
  }
  TRY(read_sample(line, sample));
  return Line::kSample;
}

Status OpenMetricsReader::check_end() const {
  if (has_ended_) return {};
  return fault("the text ends without # EOF: it was cut off");
}

}  // namespace gpusight::prometheus
