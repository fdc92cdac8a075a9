// Prometheus's rule files: groups of recording and alerting rules.
//
//   groups:
//     - name: node
//       interval: 1m            # optional, as are query_offset, limit, labels
//       rules:
//         - record: job:up:sum
//           expr: sum by (job) (up)
//         - alert: Down
//           expr: up == 0
//           for: 5m             # optional, as are keep_firing_for, labels, annotations
//           annotations: {summary: "{{ $labels.instance }} is down"}
//
// Everything is checked: unknown fields are refused, expressions and templates are parsed, names
// are valid as in Prometheus 3 (any UTF-8). All faults of a file are found at once. Pure functions;
// what they give belongs to the caller and may be read by several threads. Source: the recording
// and alerting rules pages of Prometheus's documentation, and what promtool says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/queryable.h"
#include "promql/ast.h"
#include "promql/rules/rule_template.h"
#include "promql/rules/yaml_tree.h"

namespace gpusight::promql {

struct Rule {
  enum class Kind : uint8_t { kRecord, kAlert };
  Kind kind = Kind::kRecord;
  std::string name;
  std::string expr_text;  // as written
  ExprPtr expr;           // null only in a file with faults
  int64_t for_ms = 0;
  int64_t keep_firing_for_ms = 0;
  model::Labels labels;      // the rule's own and those of its group; values may be empty
  model::Labels own_labels;  // without the group's
  model::Labels annotations;
  // Of an alerting rule: the templates of `labels` and `annotations`, in their order.
  std::vector<RuleTemplate> label_templates;
  std::vector<RuleTemplate> annotation_templates;
  Place place;
};

struct RuleGroup {
  std::string name;
  std::optional<int64_t> interval_ms;      // absent: whoever evaluates it has a default
  std::optional<int64_t> query_offset_ms;  // the same
  int64_t limit = 0;                       // series or alerts of a rule; 0: none
  model::Labels labels;
  std::vector<Rule> rules;
  Place place;
};

struct RuleFault {
  Place place;
  std::optional<Place> other_place;  // of the second of two fields that clash
  std::string group;                 // with `rule`, and then also the rule's name
  int rule = 0;                      // its number in the group, from 1; 0: of no single rule
  std::string rule_name;
  std::string message;
};
// `5:13: group "node", rule 1, "Down": could not parse expression: …`
std::string text_of(const RuleFault& fault);

struct RuleFile {
  std::vector<RuleGroup> groups;
  std::vector<RuleFault> faults;  // empty: the file can be used
  size_t rule_count() const;
};
RuleFile parse_rule_file(std::string_view text);

// Rules of a file with the same name and the same labels of their own: allowed, but most often a
// mistake. Each once, sorted. `lint_text` is what promtool's lint says of them.
struct DuplicateRule {
  std::string name;
  model::Labels labels;
};
std::vector<DuplicateRule> duplicate_rules(const RuleFile& file);
std::string lint_text(const std::vector<DuplicateRule>& duplicates);

}  // namespace gpusight::promql
