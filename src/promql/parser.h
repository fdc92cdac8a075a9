// Text to syntax tree and back.
//
// parse() takes PromQL as Prometheus 3 does, UTF-8 names in quotes included. An error message
// begins with "LINE:COLUMN: parse error: " and says what was found and what was wanted, in
// Prometheus's words where it has them; code kInvalidArgument. What Prometheus has but we have not
// (experimental functions, native histograms, metadata labels) is refused by name with code
// kUnsupported.
//
// Length and depth are bounded (kMaxQueryLength, kMaxDepth): hostile text costs no more than its
// length, and whatever walks a tree may recurse. The depth is that of the tree, in which a chain
// like a + b + c is as deep as it is long.
//
// All functions are pure and may be called from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "promql/ast.h"

namespace gpusight::promql {

inline constexpr size_t kMaxQueryLength = 65'536;  // bytes
inline constexpr int kMaxDepth = 200;              // nodes one below the other

Result<ExprPtr> parse(std::string_view query);

// One line, canonical: parse(print(e)) gives the tree of a parsed e again, and print of that the
// same text (unless blanks and escapes made it longer than kMaxQueryLength).
std::string print(const Expr& expr);
// As print, but broken and indented where a line would be longer than 100 columns.
std::string print_pretty(const Expr& expr);

// `{a="b"}` or `name{a="b"}` with equality only, as rule tests and test scripts write series. A
// label without a value is left out, one that is there twice an error.
Result<model::Labels> parse_labels(std::string_view text);
// `name{a="b", "utf-8 name"="c"}`, quoted as Prometheus 3 prints a metric.
std::string print_labels(const model::Labels& labels);

// "1h30m" → milliseconds; "30" and "1.5" are seconds where PromQL takes them so.
Result<int64_t> parse_duration(std::string_view text);
std::string print_duration(int64_t duration_ms);

// What an expression reads and names: for completion, rule checks and who-depends-on-what.
struct Touched {
  std::vector<std::string> metrics;  // named by equality; sorted, each once
  std::vector<std::string> labels;   // in matchers, groupings, matchings, label functions; the same
  bool any_metric = false;           // a selector names no metric, or by a pattern
};
Touched touched_by(const Expr& expr);

}  // namespace gpusight::promql
