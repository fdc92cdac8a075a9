// The functions that a rule's template may call. Internal to promql/rules.
//
// Source: the functions of Go's text/template and of Prometheus's template reference. Left out are
// those that make no sense in a rule (console pages: tmpl, args, safeHtml's kin js) or call methods
// (toTime, toDuration, call).
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "promql/query_value.h"
#include "promql/rules/template_value.h"

namespace gpusight::promql {

// Answers `query "…"` at the time of evaluation.
using TemplateQuery = std::function<Result<Vector>(std::string_view expression)>;

struct FunctionContext {
  const TemplateQuery& query;  // may be empty: there is nothing to ask
  std::string_view external_url;
  double now_seconds = 0;
  size_t max_bytes = 0;  // of a text that a function makes
};

struct TemplateFunction {
  enum class Kind : uint8_t {
    kPlain,
    kAnd,  // and, or: the executor's own, since they stop at the first argument that decides
    kOr,
  };
  std::string_view name;
  int min_args = 0;
  int max_args = 0;  // -1: any number
  Result<TemplateValue> (*run)(const FunctionContext& context,
                               std::span<const TemplateValue> args) = nullptr;
  Kind kind = Kind::kPlain;
};

const TemplateFunction* find_template_function(std::string_view name);  // nullptr: there is none

}  // namespace gpusight::promql
