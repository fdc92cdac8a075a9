// For tests of the engine: series in script notation, queries as text, answers as text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "promql/engine.h"
#include "promql/memory_series.h"
#include "promql/parser.h"
#include "promql/series_notation.h"

namespace gpusight::promql {

inline std::string text_of(const Point& point) {
  return fmt::format("{}@{}", number_text(point.value), point.time_ms / 1000.0);
}

// One line for each element: `m{a="1"} 3` of a vector, `m{a="1"} 3@60 4@120` (times in seconds) of
// a matrix, the number of a scalar, the text of a string; "error: …" of a failure.
inline std::vector<std::string> lines_of(const Result<QueryResult>& result) {
  if (!result.ok()) return {"error: " + result.status().message()};
  const auto& value = result.value().value;
  std::vector<std::string> lines;
  if (const auto* scalar = std::get_if<Scalar>(&value)) {
    lines.push_back(number_text(scalar->point.value));
  } else if (const auto* text = std::get_if<String>(&value)) {
    lines.push_back(text->value);
  } else if (const auto* vector = std::get_if<Vector>(&value)) {
    for (const Sample& sample : *vector) {
      lines.push_back(print_labels(sample.labels) + " " + number_text(sample.point.value));
    }
  } else {
    for (const Series& series : std::get<Matrix>(value)) {
      lines.push_back(print_labels(series.labels));
      for (const Point& point : series.points) lines.back() += " " + text_of(point);
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

class EngineTest : public ::testing::Test {
 protected:
  // Series in script notation, a point every `interval_ms` from time 0 on.
  void load(int64_t interval_ms, std::initializer_list<std::string_view> series) {
    for (const std::string_view line : series) load_into(data_, interval_ms, line);
  }
  static void load_into(MemorySeries& data, int64_t interval_ms, std::string_view line) {
    const auto noted = parse_series(line);
    ASSERT_TRUE(noted.ok()) << noted.status().message();
    std::vector<int64_t> times_ms;
    std::vector<double> values;
    for (size_t i = 0; i < noted.value().points.size(); ++i) {
      if (!noted.value().points[i]) continue;
      times_ms.push_back(static_cast<int64_t>(i) * interval_ms);
      values.push_back(*noted.value().points[i]);
    }
    const Status added = data.add(noted.value().labels, times_ms, values);
    ASSERT_TRUE(added.ok()) << added.message();
  }

  Result<QueryResult> instant(std::string_view query, int64_t time_ms) const {
    return instant(data_, query, time_ms);
  }
  Result<QueryResult> instant(const model::Queryable& data, std::string_view query, int64_t time_ms,
                              std::stop_token stop = {}) const {
    const auto expr = parse(query);
    if (!expr.ok()) return expr.status();
    return Engine(options_, *clock_).instant(data, *expr.value(), time_ms, std::move(stop));
  }
  Result<QueryResult> range(std::string_view query, QueryRange range) const {
    return this->range(data_, query, range);
  }
  Result<QueryResult> range(const model::Queryable& data, std::string_view query,
                            QueryRange range) const {
    const auto expr = parse(query);
    if (!expr.ok()) return expr.status();
    return Engine(options_, *clock_).range(data, *expr.value(), range, {});
  }

  // Rendered annotations of a query's answer.
  static Lines remarks(const Result<QueryResult>& result, std::string_view query) {
    Lines lines;
    if (!result.ok()) return {"error: " + result.status().message()};
    for (const Annotation& annotation : result.value().annotations.all()) {
      lines.push_back(render(annotation, query));
    }
    return lines;
  }

  MemorySeries data_;
  EngineOptions options_;
  SystemClock system_clock_;
  const Clock* clock_ = &system_clock_;
};

}  // namespace gpusight::promql
