// promql_answers SERIES QUERIES: what our engine answers, for comparison with other engines.
//
// SERIES is a file in OpenMetrics text with a time behind every value; QUERIES has one a line, its
// parts apart by tabs, times in seconds:
//
//   instant  TIME                QUERY
//   range    START  END  STEP    QUERY
//
// Prints for each a line of JSON as Prometheus's API gives it: {"resultType":…,"result":…}, or
// {"error":…}. Names go at once, as Prometheus does without further flags.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "promql/engine.h"
#include "promql/memory_series.h"
#include "promql/parser.h"

namespace gpusight::conformance {
namespace {

std::optional<std::string> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<int64_t> milliseconds(std::string_view seconds) {
  const auto number = parse_double(seconds);
  if (!number) return Status(Code::kInvalidArgument, fmt::format("'{}' is no time", seconds));
  return std::llround(*number * 1000);
}

Result<double> sample_value(std::string_view text) {
  const auto number = parse_double(text.starts_with('+') ? text.substr(1) : text);
  if (!number) return Status(Code::kInvalidArgument, fmt::format("'{}' is no value", text));
  return *number;
}

// "name{…} value time": the two last words are numbers, what stands before are labels.
Status add_line(promql::MemorySeries& data, std::string_view line) {
  const size_t before_time = line.rfind(' ');
  const size_t before_value = before_time == 0 ? before_time : line.rfind(' ', before_time - 1);
  if (before_time == std::string_view::npos || before_value == std::string_view::npos) {
    return {Code::kInvalidArgument, fmt::format("'{}' is no sample with a time", line)};
  }
  const model::Labels labels = TRY(promql::parse_labels(trim(line.substr(0, before_value))));
  const int64_t times_ms[] = {TRY(milliseconds(line.substr(before_time + 1)))};
  const double values[] = {
      TRY(sample_value(line.substr(before_value + 1, before_time - before_value - 1)))};
  return data.add(labels, times_ms, values);
}

Status read_series(promql::MemorySeries& data, std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    TRY(add_line(data, line));
  }
  return {};
}

void write_point(JsonWriter& json, const promql::Point& point) {
  json.begin_array();
  json.number(static_cast<double>(point.time_ms) / 1000);
  json.string(number_text(point.value));
  json.end_array();
}

void write_labels(JsonWriter& json, const model::Labels& labels) {
  json.key("metric").begin_object();
  for (const auto& [name, value] : labels) json.key(name).string(value);
  json.end_object();
}

struct ResultWriter {
  JsonWriter& json;
  void operator()(const promql::Scalar& scalar) const {
    json.key("resultType").string("scalar").key("result");
    write_point(json, scalar.point);
  }
  void operator()(const promql::String& string) const {
    json.key("resultType").string("string").key("result").begin_array();
    json.number(static_cast<double>(string.time_ms) / 1000).string(string.value).end_array();
  }
  void operator()(const promql::Vector& vector) const {
    json.key("resultType").string("vector").key("result").begin_array();
    for (const promql::Sample& sample : vector) {
      json.begin_object();
      write_labels(json, sample.labels);
      json.key("value");
      write_point(json, sample.point);
      json.end_object();
    }
    json.end_array();
  }
  void operator()(const promql::Matrix& matrix) const {
    json.key("resultType").string("matrix").key("result").begin_array();
    for (const promql::Series& series : matrix) {
      json.begin_object();
      write_labels(json, series.labels);
      json.key("values").begin_array();
      for (const promql::Point& point : series.points) write_point(json, point);
      json.end_array().end_object();
    }
    json.end_array();
  }
};

Result<promql::QueryResult> answer(const promql::Engine& engine, const promql::MemorySeries& data,
                                   std::string_view line) {
  const std::vector<std::string_view> parts = split(line, '\t');
  if (parts.size() == 3 && parts[0] == "instant") {
    const promql::ExprPtr expr = TRY(promql::parse(parts[2]));
    return engine.instant(data, *expr, TRY(milliseconds(parts[1])), {});
  }
  if (parts.size() == 5 && parts[0] == "range") {
    const promql::ExprPtr expr = TRY(promql::parse(parts[4]));
    return engine.range(data, *expr,
                        {.start_ms = TRY(milliseconds(parts[1])),
                         .end_ms = TRY(milliseconds(parts[2])),
                         .step_ms = TRY(milliseconds(parts[3]))},
                        {});
  }
  return Status(Code::kInvalidArgument, "neither an instant query nor a range query");
}

void print_answers(const promql::MemorySeries& data, std::string_view queries) {
  const SystemClock clock;
  const promql::Engine engine({}, clock);
  for (const std::string_view line : split(queries, '\n')) {
    if (line.empty()) continue;
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    const auto result = answer(engine, data, line);
    if (result.ok()) {
      std::visit(ResultWriter{json}, result->value);
    } else {
      json.key("error").string(result.status().message());
    }
    json.end_object();
    fmt::print("{}\n", text);
  }
}

int run(const char* series_path, const char* queries_path) {
  const auto series = read_file(series_path);
  const auto queries = read_file(queries_path);
  if (!series || !queries) {
    fmt::print(stderr, "{}: cannot be read\n", series ? queries_path : series_path);
    return 1;
  }
  promql::MemorySeries data;
  if (const Status status = read_series(data, *series); !status.ok()) {
    fmt::print(stderr, "{}: {}\n", series_path, status.message());
    return 1;
  }
  print_answers(data, *queries);
  return 0;
}

}  // namespace
}  // namespace gpusight::conformance

int main(int count, char** arguments) {
  if (count != 3) {
    fmt::print(stderr, "usage: promql_answers SERIES QUERIES\n");
    return 2;
  }
  return gpusight::conformance::run(arguments[1], arguments[2]);
}
