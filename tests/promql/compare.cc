#include "tests/promql/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"
#include "promql/parser.h"

namespace gpusight::conformance {
namespace {

using Difference = std::optional<std::string>;

std::string text_of(std::span<const promql::Point> points) {
  std::string text;
  for (const promql::Point& point : points) {
    if (!text.empty()) text += ' ';
    text += number_text(point.value);
    text += fmt::format("@{}s", number_text(static_cast<double>(point.time_ms) / 1000));
  }
  return text.empty() ? "nothing" : text;
}

std::string text_of(const promql::NotedSeries& series) {
  std::string text = promql::print_labels(series.labels);
  for (const std::optional<double>& point : series.points) {
    text += ' ';
    text += point ? number_text(*point) : "_";
  }
  return text;
}

std::string text_of(const promql::Vector& vector) {
  std::string text;
  for (const promql::Sample& sample : vector) {
    if (!text.empty()) text += ", ";
    text += promql::print_labels(sample.labels) + ' ' + number_text(sample.point.value);
  }
  return text.empty() ? "nothing" : text;
}

std::string kind_of(const QueryValue& value) {
  static constexpr const char* kKinds[] = {"a scalar", "a string", "an instant vector",
                                           "a range vector"};
  return kKinds[value.index()];
}

std::string kind_of(const Eval& eval) {
  if (eval.scalar) return "a scalar";
  if (eval.string) return "a string";
  return eval.is_range || eval.matrix_times ? "a range vector" : "an instant vector";
}

const promql::NotedSeries* find(const Eval& eval, const model::Labels& labels) {
  const auto at = std::ranges::find(eval.series, labels, &promql::NotedSeries::labels);
  return at == eval.series.end() ? nullptr : &*at;
}

// The points of `series` at start, start + step, …
std::vector<promql::Point> points_of(const promql::NotedSeries& series,
                                     const promql::QueryRange& times) {
  std::vector<promql::Point> points;
  for (size_t i = 0; i < series.points.size(); ++i) {
    if (!series.points[i]) continue;
    points.push_back({times.start_ms + static_cast<int64_t>(i) * times.step_ms, *series.points[i]});
  }
  return points;
}

bool same_points(std::span<const promql::Point> a, std::span<const promql::Point> b) {
  return std::ranges::equal(a, b, [](const promql::Point& x, const promql::Point& y) {
    return x.time_ms == y.time_ms && almost_equal(x.value, y.value);
  });
}

// Every expected series that was not seen.
template <typename Seen>
Difference missing(const Eval& eval, const Seen& seen) {
  for (const promql::NotedSeries& series : eval.series) {
    if (!seen.contains(series.labels)) {
      return fmt::format("expected {}, which is not in the result", text_of(series));
    }
  }
  return std::nullopt;
}

Difference matrix_differs(const Eval& eval, const promql::Matrix& got) {
  const promql::QueryRange times = eval.matrix_times.value_or(eval.range);
  if (!std::ranges::is_sorted(got, {}, &promql::Series::labels)) {
    return "the series are not sorted by their labels";
  }
  std::set<model::Labels> seen;
  for (const promql::Series& series : got) {
    const std::string name = promql::print_labels(series.labels);
    const promql::NotedSeries* wanted = find(eval, series.labels);
    if (wanted == nullptr) {
      return fmt::format("got {} {}, which is not expected", name, text_of(series.points));
    }
    if (!seen.insert(series.labels).second) return fmt::format("got {} twice", name);
    const auto points = points_of(*wanted, times);
    if (!points.empty() && points.back().time_ms > times.end_ms) {
      return fmt::format("{} is expected to have points after the query's end", name);
    }
    if (!same_points(points, series.points)) {
      return fmt::format("expected {} {}, got {}", name, text_of(points), text_of(series.points));
    }
  }
  return missing(eval, seen);
}

Difference vector_differs(const Eval& eval, const promql::Vector& got, bool ordered) {
  std::set<model::Labels> seen;
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string name = promql::print_labels(got[i].labels);
    const promql::NotedSeries* wanted = find(eval, got[i].labels);
    if (wanted == nullptr) {
      return fmt::format("got {} {}, which is not expected", name, number_text(got[i].point.value));
    }
    if (!seen.insert(got[i].labels).second) return fmt::format("got {} twice", name);
    if (ordered && wanted != &eval.series[i]) {
      return fmt::format("{} is at place {} and expected at {}; got {}", name, i + 1,
                         wanted - eval.series.data() + 1, text_of(got));
    }
    const std::optional<double> value =
        wanted->points.empty() ? std::nullopt : wanted->points.front();
    if (!value) return fmt::format("got {} without an expected value", name);
    if (!almost_equal(*value, got[i].point.value)) {
      return fmt::format("expected {} {}, got {}", name, number_text(*value),
                         number_text(got[i].point.value));
    }
  }
  return missing(eval, seen);
}

Difference scalar_differs(const Eval& eval, double got) {
  if (!eval.scalar) return fmt::format("expected {}, got a scalar", kind_of(eval));
  if (almost_equal(*eval.scalar, got)) return std::nullopt;
  return fmt::format("expected {}, got {}", number_text(*eval.scalar), number_text(got));
}

// Every pattern finds a message, and every message a pattern where there are any.
Difference messages_differ(std::string_view kind, const std::vector<Wanted>& wanted, bool none,
                           const std::vector<std::string>& got) {
  const std::string all = got.empty() ? "none" : fmt::format("{}", fmt::join(got, "; "));
  if (none && !got.empty()) return fmt::format("expected no {}, got {}", kind, all);
  for (const Wanted& one : wanted) {
    if (std::ranges::none_of(got, one.accepts)) {
      return fmt::format("expected {}: {}, got {}", kind, one.said, all);
    }
  }
  for (const std::string& message : got) {
    const auto accepts = [&](const Wanted& one) { return one.accepts(message); };
    if (!wanted.empty() && std::ranges::none_of(wanted, accepts)) {
      return fmt::format("unexpected {}: {}", kind, message);
    }
  }
  return std::nullopt;
}

}  // namespace

bool almost_equal(double a, double b) {
  constexpr double kEpsilon = 1e-6;
  constexpr double kSmallestNormal = std::numeric_limits<double>::min();
  if (model::is_stale_marker(a) || model::is_stale_marker(b)) {
    return model::is_stale_marker(a) && model::is_stale_marker(b);
  }
  if (std::isnan(a) && std::isnan(b)) return true;
  if (a == b) return true;
  const double sum = std::abs(a) + std::abs(b);
  const double apart = std::abs(a - b);
  if (a == 0 || b == 0 || sum < kSmallestNormal) return apart < kEpsilon * kSmallestNormal;
  return apart / std::min(sum, std::numeric_limits<double>::max()) < kEpsilon;
}

Difference differs(const Eval& eval, const QueryValue& got) {
  if (const auto* scalar = std::get_if<promql::Scalar>(&got)) {
    return scalar_differs(eval, scalar->point.value);
  }
  if (const auto* string = std::get_if<promql::String>(&got); string && eval.string) {
    if (string->value == *eval.string) return std::nullopt;
    return fmt::format("expected \"{}\", got \"{}\"", clean_text(*eval.string),
                       clean_text(string->value));
  }
  const bool wants_matrix = eval.is_range || eval.matrix_times;
  if (!eval.scalar && !eval.string) {
    const auto* vector = std::get_if<promql::Vector>(&got);
    if (vector && !wants_matrix) return vector_differs(eval, *vector, eval.ordered);
    const auto* matrix = std::get_if<promql::Matrix>(&got);
    if (matrix && wants_matrix) return matrix_differs(eval, *matrix);
  }
  return fmt::format("expected {}, got {}", kind_of(eval), kind_of(got));
}

Difference differs_at(const Eval& eval, const promql::Matrix& got, int64_t time_ms) {
  promql::Vector vector;
  for (const promql::Series& series : got) {
    const auto at = std::ranges::find(series.points, time_ms, &promql::Point::time_ms);
    if (at != series.points.end()) vector.push_back({series.labels, *at});
  }
  if (!std::ranges::is_sorted(got, {}, &promql::Series::labels)) {
    return "the series are not sorted by their labels";
  }
  if (!eval.scalar) return vector_differs(eval, vector, false);
  if (vector.size() != 1 || !vector.front().labels.empty()) {
    return fmt::format("expected {}, got {}", number_text(*eval.scalar), text_of(vector));
  }
  return scalar_differs(eval, vector.front().point.value);
}

Difference differs(const Eval& eval, const promql::Annotations& got, std::string_view query) {
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
  for (const promql::Annotation& annotation : got.all()) {
    const bool is_warning = annotation.severity == promql::Annotation::Severity::kWarning;
    (is_warning ? warnings : infos).push_back(promql::render(annotation, query));
  }
  if (auto difference = messages_differ("warning", eval.warnings, eval.no_warnings, warnings)) {
    return difference;
  }
  return messages_differ("info", eval.infos, eval.no_infos, infos);
}

Difference differs(const Eval& eval, const Status& error) {
  // Scripts name an error of the parser without the place that our messages begin with.
  static const RE2 kPlace(R"(^\d+:\d+: (?:parse error: )?)");
  std::string without_place = error.message();
  RE2::Replace(&without_place, kPlace, "");
  for (const Wanted& wanted : eval.failures) {
    if (!wanted.accepts(error.message()) && !wanted.accepts(without_place)) {
      return fmt::format("expected an error with {}, got: {}", wanted.said, error.message());
    }
  }
  return std::nullopt;
}

}  // namespace gpusight::conformance
