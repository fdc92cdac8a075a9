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

void append_point(JsonWriter& json, const promql::Point& point) {
  json.begin_array().raw(prom_time(point.time_ms)).string(prom_number(point.value)).end_array();
}

class ResultWriter {
 public:
  ResultWriter(PromText& text, size_t max_bytes) : text_(text), max_bytes_(max_bytes) {}

  Status operator()(const promql::Scalar& scalar) const {
    begin("scalar");
    // Of which Prometheus writes every digit.
    const auto& [time_ms, value] = scalar.point;
    text_.data().begin_array().raw(prom_time(time_ms)).string(promql::go_fixed(value)).end_array();
    return {};
  }
  Status operator()(const promql::String& string) const {
    begin("string");
    text_.data().begin_array().raw(prom_time(string.time_ms)).string(string.value).end_array();
    return check();
  }
  Status operator()(const promql::Vector& vector) const {
    begin("vector");
    JsonWriter& json = text_.data().begin_array();
    for (const promql::Sample& sample : vector) {
      TRY(check());
      json.begin_object().key("metric");
      append_metric(json, sample.labels);
      json.key("value");
      append_point(json, sample.point);
      json.end_object();
    }
    json.end_array();
    return {};
  }
  Status operator()(const promql::Matrix& matrix) const {
    begin("matrix");
    JsonWriter& json = text_.data().begin_array();
    for (const promql::Series& series : matrix) {
      json.begin_object().key("metric");
      append_metric(json, series.labels);
      json.key("values").begin_array();
      for (const promql::Point& point : series.points) {
        TRY(check());
        append_point(json, point);
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

std::string prom_number(double number) {
  // Beyond these Prometheus writes an exponent.
  constexpr double kSmallest = 1e-6;
  constexpr double kLargest = 1e21;
  const double size = std::abs(number);
  if (!std::isfinite(number) || size == 0 || (size >= kSmallest && size < kLargest)) {
    return promql::go_fixed(number);
  }
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  return {buffer, end.ptr};
}

std::string prom_time(int64_t time_ms) {
  const auto size =
      time_ms < 0 ? 0 - static_cast<uint64_t>(time_ms) : static_cast<uint64_t>(time_ms);
  const std::string_view sign = time_ms < 0 ? "-" : "";
  if (size % 1000 == 0) return fmt::format("{}{}", sign, size / 1000);
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

}  // namespace gpusight::serve
