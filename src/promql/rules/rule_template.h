// The templates in a rule's labels and annotations: the part of Go's text/template that rules use,
// with Prometheus's functions.
//
//   {{ $labels.instance }} is at {{ $value | humanize }}
//   {{ range query "up == 0" }}{{ .Labels.instance }} {{ end }}
//
// Actions: if/else if/else, with, range (also break and continue), variables, pipelines, comments,
// trim marks; functions as in template_functions.h. Templates inside of templates (define,
// template, block) are refused. $labels, $externalLabels, $externalURL and $value are known, as are
// .Labels and so on.
//
// Hostile templates are bounded: kMaxTemplateLength, depth, and kMaxTemplateSteps and
// kMaxTemplateOutput in an expansion (of its text, and of what variables and the arguments of a
// call hold); passing one is an error (kExhausted for the last two).
//
// A RuleTemplate is immutable; any number of threads may expand it at once. Source: Prometheus's
// template reference and the documentation of Go's text/template.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/rules/template_functions.h"

namespace gpusight::promql {

inline constexpr size_t kMaxTemplateLength = 64UL * 1024;   // bytes
inline constexpr size_t kMaxTemplateOutput = 256UL * 1024;  // bytes
inline constexpr size_t kMaxTemplateSteps = 100'000;        // nodes visited in an expansion

struct TemplateInput {
  const model::Labels& labels;  // of the series
  double value = 0;
  const model::Labels& external_labels;
  std::string_view external_url;
  int64_t time_ms = 0;  // of the evaluation
  TemplateQuery query;  // empty: `query` fails
};

struct TemplateNode;

class RuleTemplate {
 public:
  // `name` stands in messages, which begin with "template: NAME:LINE: ".
  static Result<RuleTemplate> parse(std::string_view text, std::string_view name);
  ~RuleTemplate();
  RuleTemplate(RuleTemplate&&) noexcept;
  RuleTemplate& operator=(RuleTemplate&&) noexcept;

  Result<std::string> expand(const TemplateInput& input) const;
  const std::string& text() const { return text_; }

 private:
  RuleTemplate();
  std::string text_;
  std::string name_;
  std::vector<TemplateNode> nodes_;
};

}  // namespace gpusight::promql
