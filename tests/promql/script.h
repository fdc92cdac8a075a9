// A test script for PromQL engines, read into commands.
//
// The language is that of Prometheus's own tests ("The PromQL test scripting language" in its
// promqltest package), whole, with the forms it has given up: eval_fail, eval_warn, eval_info,
// eval_ordered, expected_fail_message, expected_fail_regexp. A block (the lines below load or eval)
// ends at an empty line or a comment. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "promql/engine.h"
#include "promql/series_notation.h"

namespace gpusight::conformance {

struct Load {
  int64_t interval_ms = 0;
  bool with_histograms = false;  // load_with_nhcb
  std::vector<promql::NotedSeries> series;
};

struct Clear {};

// What a message of an error, warning or info must look like.
struct Wanted {
  std::string said;  // as the script has it, for reports
  std::function<bool(std::string_view message)> accepts;
};

struct Eval {
  std::string query;
  bool is_range = false;
  promql::QueryRange range;  // an instant query has start = end and no step

  bool fails = false;  // with `failures` empty, whatever the message
  std::vector<Wanted> failures;
  std::vector<Wanted> warnings;
  std::vector<Wanted> infos;
  bool no_warnings = false;
  bool no_infos = false;
  bool ordered = false;

  // The value: one of these three, else `series`.
  std::optional<double> scalar;
  std::optional<std::string> string;
  std::optional<promql::QueryRange> matrix_times;  // `series` is a range vector at these times
  std::vector<promql::NotedSeries> series;         // each label set once, in the script's order
};

struct Command {
  size_t line = 0;  // of its first line, from 1
  std::variant<Load, Clear, Eval> what;
};

// The message of a script that does not parse begins with "LINE: ".
Result<std::vector<Command>> parse_script(std::string_view text);

}  // namespace gpusight::conformance
