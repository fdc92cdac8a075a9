#include "serve/prom_json.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "promql/go_text.h"

namespace gpusight::serve {
namespace {

struct ErrorRow {
  PromError error;
  std::string_view type;
  unsigned status;
};
constexpr ErrorRow kErrors[] = {
    {PromError::kBadData, "bad_data", 400},  {PromError::kExecution, "execution", 422},
    {PromError::kCanceled, "canceled", 503}, {PromError::kTimeout, "timeout", 503},
    {PromError::kInternal, "internal", 500}, {PromError::kUnavailable, "unavailable", 503},
};

constexpr size_t kMostRemarks = 10;

void append_list(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.key(name).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

char digit(uint64_t number) { return static_cast<char>('0' + number); }

// [TIME,"VALUE"], a million of them in some answers.
class PointWriter {
 public:
  explicit PointWriter(JsonWriter& json) : json_(json) {}
  void append(const promql::Point& point) {
    text_ = '[';
    append_prom_time(text_, point.time_ms);
    text_ += ",\"";
    append_prom_number(text_, point.value);
    text_ += "\"]";
    json_.raw(text_);
  }

 private:
  JsonWriter& json_;
  std::string text_;
};

// The same with the value as text.
void append_text_point(JsonWriter& json, int64_t time_ms, std::string_view value) {
  std::string time;
  append_prom_time(time, time_ms);
  json.begin_array().raw(time).string(value).end_array();
}

class ResultWriter {
 public:
  ResultWriter(PromText& text, size_t max_bytes) : text_(text), max_bytes_(max_bytes) {}

  Status operator()(const promql::Scalar& scalar) const {
    begin("scalar");
    // Of which Prometheus writes every digit.
    append_text_point(text_.data(), scalar.point.time_ms, promql::go_fixed(scalar.point.value));
    return {};
  }
  Status operator()(const promql::String& string) const {
    begin("string");
    append_text_point(text_.data(), string.time_ms, string.value);
    return check();
  }
  Status operator()(const promql::Vector& vector) const {
    begin("vector");
    JsonWriter& json = text_.data().begin_array();
    PointWriter points(json);
    for (const promql::Sample& sample : vector) {
      TRY(check());
      json.begin_object().key("metric");
      append_metric(json, sample.labels);
      json.key("value");
      points.append(sample.point);
      json.end_object();
    }
    json.end_array();
    return {};
  }
  Status operator()(const promql::Matrix& matrix) const {
    begin("matrix");
    JsonWriter& json = text_.data().begin_array();
    PointWriter points(json);
    for (const promql::Series& series : matrix) {
      json.begin_object().key("metric");
      append_metric(json, series.labels);
      json.key("values").begin_array();
      for (const promql::Point& point : series.points) {
        TRY(check());
        points.append(point);
      }
      json.end_array().end_object();
    }
    json.end_array();
    return {};
  }

 private:
  void begin(std::string_view type) const {
    text_.data().key("resultType").string(type).key("result");
  }
  Status check() const {
    if (text_.size() <= max_bytes_) return {};
    return {Code::kExhausted,
            fmt::format("the answer is longer than its limit of {} bytes; fewer series or a longer "
                        "step are wanted",
                        max_bytes_)};
  }

  PromText& text_;
  const size_t max_bytes_;
};

}  // namespace

Response prom_error(PromError error, std::string_view message) {
  const ErrorRow& row = kErrors[static_cast<size_t>(error)];
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("status").string("error").key("errorType").string(row.type);
  json.key("error").string(message).end_object();
  Response response = prom_response(std::move(out));
  response.status = row.status;
  return response;
}

Response prom_response(std::string text) {
  return {.headers = {{"Cache-Control", "no-store"}}, .body = Body::of(std::move(text))};
}

PromRemarks remarks_of(const promql::Annotations& annotations, std::string_view query) {
  PromRemarks remarks;
  size_t more_warnings = 0;
  size_t more_infos = 0;
  for (const promql::Annotation& annotation : annotations.all()) {
    const bool is_warning = annotation.severity == promql::Annotation::Severity::kWarning;
    auto& texts = is_warning ? remarks.warnings : remarks.infos;
    if (texts.size() == kMostRemarks) {
      ++(is_warning ? more_warnings : more_infos);
    } else {
      texts.push_back(render(annotation, query));
    }
  }
  if (more_warnings > 0) {
    remarks.warnings.push_back(fmt::format("{} more warning annotations omitted", more_warnings));
  }
  if (more_infos > 0) {
    remarks.infos.push_back(fmt::format("{} more info annotations omitted", more_infos));
  }
  return remarks;
}

std::string PromText::finish(const PromRemarks& remarks) {
  append_list(writer_, "warnings", remarks.warnings);
  append_list(writer_, "infos", remarks.infos);
  writer_.end_object();
  return std::move(text_);
}

void append_metric(JsonWriter& json, const model::Labels& labels) {
  json.begin_object();
  for (const auto& [name, value] : labels) json.key(name).string(value);
  json.end_object();
}

Status append_result(PromText& text, const promql::QueryResult& result, size_t max_bytes) {
  return std::visit(ResultWriter(text, max_bytes), result.value);
}

void append_prom_number(std::string& out, double number) {
  // Beyond these Prometheus writes an exponent …
  constexpr double kSmallest = 1e-6;
  constexpr double kLargest = 1e21;
  // … and beyond this every digit of to_chars is not the fewest.
  constexpr double kFirstInexact = 9007199254740992.0;
  const double size = std::abs(number);
  const bool is_plain = size == 0 || (size >= kSmallest && size < kLargest);
  if (!std::isfinite(number) || (is_plain && size >= kFirstInexact)) {
    out += promql::go_fixed(number);
    return;
  }
  char buffer[40];
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number, format).ptr);
}

void append_prom_time(std::string& out, int64_t time_ms) {
  if (time_ms < 0) out += '-';
  const auto size =
      time_ms < 0 ? 0 - static_cast<uint64_t>(time_ms) : static_cast<uint64_t>(time_ms);
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, size / 1000).ptr);
  if (const uint64_t rest = size % 1000; rest != 0) {
    const char places[] = {'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)};
    out.append(places, sizeof places);
  }
}

}  // namespace gpusight::serve
