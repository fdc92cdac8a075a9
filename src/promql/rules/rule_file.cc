#include "promql/rules/rule_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/parser.h"
#include "promql/rules/yaml_reader.h"

namespace gpusight::promql {
namespace {

bool is_name(std::string_view name) { return !name.empty() && is_valid_utf8(name); }

// Where the fields of a rule stand that faults point to.
struct RulePlaces {
  Place record, alert, expr, labels, annotations;
};

// One rule of one group: reads it and finds its faults.
class RuleReader {
 public:
  RuleReader(YamlReader& yaml, const RuleGroup& group, int number, std::vector<RuleFault>& faults)
      : yaml_(yaml), group_(group), number_(number), faults_(faults) {}

  Rule read(const YamlValue& value) {
    rule_.place = value.place;
    places_ = {.record = value.place,
               .alert = value.place,
               .expr = value.place,
               .labels = value.place,
               .annotations = value.place};
    yaml_.map(value, "a rule", [&](const YamlValue::Entry& entry) { return field(entry); });
    rule_.kind = alert_.empty() ? Rule::Kind::kRecord : Rule::Kind::kAlert;
    rule_.name = alert_.empty() ? record_ : alert_;
    check_names();
    check_expression();
    if (!record_.empty()) check_recording();
    check_labels();
    merge_group_labels();
    if (rule_.kind == Rule::Kind::kAlert) parse_templates();
    return std::move(rule_);
  }

 private:
  bool field(const YamlValue::Entry& entry) {
    const YamlValue& value = *entry.value;
    if (entry.key == "record") {
      record_ = yaml_.text(value);
      places_.record = value.place;
    } else if (entry.key == "alert") {
      alert_ = yaml_.text(value);
      places_.alert = value.place;
    } else if (entry.key == "expr") {
      rule_.expr_text = yaml_.text(value);
      places_.expr = value.place;
    } else if (entry.key == "for") {
      rule_.for_ms = yaml_.duration_ms(value);
    } else if (entry.key == "keep_firing_for") {
      rule_.keep_firing_for_ms = yaml_.duration_ms(value);
    } else if (entry.key == "labels") {
      rule_.own_labels = yaml_.labels(value);
      places_.labels = value.place;
    } else if (entry.key == "annotations") {
      rule_.annotations = yaml_.labels(value);
      places_.annotations = value.place;
    } else {
      return false;
    }
    return true;
  }

  void note(Place place, std::string message, std::optional<Place> other = std::nullopt) {
    faults_.push_back({.place = place,
                       .other_place = other,
                       .group = group_.name,
                       .rule = number_,
                       .rule_name = alert_.empty() ? record_ : alert_,
                       .message = std::move(message)});
  }

  void check_names() {
    if (!record_.empty() && !alert_.empty()) {
      note(places_.record, "only one of 'record' and 'alert' must be set", places_.alert);
    }
    if (record_.empty() && alert_.empty()) {
      note(places_.record, "one of 'record' or 'alert' must be set");
    }
  }

  void check_expression() {
    if (rule_.expr_text.empty()) return note(places_.expr, "field 'expr' must be set in rule");
    Result<ExprPtr> expr = parse(rule_.expr_text);
    if (expr.ok()) {
      rule_.expr = std::move(expr).value();
    } else {
      note(places_.expr, "could not parse expression: " + expr.status().message());
    }
  }

  void check_recording() {
    for (const auto& [is_set, name] : {std::pair(!rule_.annotations.empty(), "annotations"),
                                       {rule_.for_ms != 0, "for"},
                                       {rule_.keep_firing_for_ms != 0, "keep_firing_for"}}) {
      if (is_set) note(places_.record, fmt::format("invalid field '{}' in recording rule", name));
    }
    if (!is_name(record_)) {
      note(places_.record, fmt::format("invalid recording rule name: {}", clean_text(record_)));
    }
    if (record_.find_first_of("{}") != std::string::npos) {
      note(places_.record,
           fmt::format("braces present in the recording rule name; should it be in expr?: {}",
                       clean_text(record_)));
    }
  }

  void check_labels() {
    for (const auto& [name, value] : rule_.own_labels) {
      if (!is_name(name) || name == "__name__") {
        note(places_.labels, fmt::format("invalid label name: {}", clean_text(name)));
      }
      if (!is_valid_utf8(value)) {
        note(places_.labels, fmt::format("invalid label value: {}", clean_text(value)));
      }
    }
    for (const auto& [name, value] : rule_.annotations) {
      if (!is_name(name)) {
        note(places_.annotations, fmt::format("invalid annotation name: {}", clean_text(name)));
      }
    }
  }

  void merge_group_labels() {
    rule_.labels = rule_.own_labels;
    for (const auto& label : group_.labels) {
      const bool is_own = std::ranges::any_of(
          rule_.own_labels, [&](const auto& own) { return own.first == label.first; });
      if (!is_own) rule_.labels.push_back(label);
    }
    std::ranges::sort(rule_.labels);
  }

  void parse_templates() {
    const std::string name = "__alert_" + rule_.name;
    const auto parse_all = [&](const model::Labels& texts, Place place, std::string_view what,
                               std::vector<RuleTemplate>& into) {
      for (const auto& [key, text] : texts) {
        Result<RuleTemplate> made = RuleTemplate::parse(text, name);
        if (made.ok()) {
          into.push_back(std::move(made).value());
        } else {
          note(place, fmt::format("{} {}: {}", what, go_quoted(key), made.status().message()));
        }
      }
    };
    parse_all(rule_.labels, places_.labels, "label", rule_.label_templates);
    parse_all(rule_.annotations, places_.annotations, "annotation", rule_.annotation_templates);
  }

  YamlReader& yaml_;
  const RuleGroup& group_;
  int number_ = 0;
  std::vector<RuleFault>& faults_;
  Rule rule_;
  RulePlaces places_;
  std::string record_;
  std::string alert_;
};

class FileReader {
 public:
  RuleFile read(const YamlValue& root) {
    yaml_.map(root, "a rule file", [&](const YamlValue::Entry& entry) {
      if (entry.key != "groups") return false;
      yaml_.sequence(*entry.value, "a sequence of groups",
                     [&](const YamlValue& group) { read_group(group); });
      return true;
    });
    // As in promtool, a file whose shape is wrong is not judged further.
    if (yaml_.faults().empty()) return std::move(file_);
    RuleFile unusable;
    for (const YamlFault& fault : yaml_.faults()) {
      unusable.faults.push_back({.place = fault.place, .message = fault.message});
    }
    return unusable;
  }

 private:
  void read_group(const YamlValue& value) {
    RuleGroup group;
    group.place = value.place;
    const YamlValue* rules = nullptr;
    yaml_.map(value, "a rule group", [&](const YamlValue::Entry& entry) {
      if (entry.key == "rules") {
        rules = entry.value.get();
        return true;
      }
      return group_field(group, entry);
    });
    check_group(group);
    // After the labels that they take from the group.
    if (rules != nullptr) {
      yaml_.sequence(*rules, "a sequence of rules", [&](const YamlValue& rule) {
        const int number = static_cast<int>(group.rules.size()) + 1;
        group.rules.push_back(RuleReader(yaml_, group, number, file_.faults).read(rule));
      });
    }
    file_.groups.push_back(std::move(group));
  }

  bool group_field(RuleGroup& group, const YamlValue::Entry& entry) {
    const YamlValue& value = *entry.value;
    const bool is_null = value.kind == YamlValue::Kind::kNull;
    if (entry.key == "name") {
      group.name = yaml_.text(value);
    } else if (entry.key == "interval") {
      if (const int64_t ms = yaml_.duration_ms(value); ms != 0) group.interval_ms = ms;
    } else if (entry.key == "query_offset") {
      if (!is_null) group.query_offset_ms = yaml_.duration_ms(value);
    } else if (entry.key == "limit") {
      group.limit = yaml_.integer(value);
    } else if (entry.key == "labels") {
      group.labels = yaml_.labels(value);
    } else {
      return false;
    }
    return true;
  }

  void check_group(const RuleGroup& group) {
    const auto note = [&](std::string message) {
      file_.faults.push_back({.place = group.place, .message = std::move(message)});
    };
    if (group.name.empty()) note("Groupname must not be empty");
    if (!names_.insert(group.name).second) {
      note(fmt::format("groupname: {} is repeated in the same file", go_quoted(group.name)));
    }
    for (const auto& [name, value] : group.labels) {
      if (!is_name(name) || name == "__name__") {
        note(fmt::format("invalid label name: {}", clean_text(name)));
      }
      if (!is_valid_utf8(value)) note(fmt::format("invalid label value: {}", clean_text(value)));
    }
  }

  YamlReader yaml_;
  RuleFile file_;
  std::set<std::string> names_;
};

}  // namespace

std::string text_of(const RuleFault& fault) {
  std::string out = text_of(fault.place) + ": ";
  if (fault.other_place) out += text_of(*fault.other_place) + ": ";
  if (fault.rule > 0) {
    out += fmt::format("group {}, rule {}, {}: ", go_quoted(fault.group), fault.rule,
                       go_quoted(fault.rule_name));
  }
  return out + fault.message;
}

size_t RuleFile::rule_count() const {
  size_t count = 0;
  for (const RuleGroup& group : groups) count += group.rules.size();
  return count;
}

RuleFile parse_rule_file(std::string_view text) {
  const YamlDocument document = parse_yaml(text);
  if (document.root != nullptr) return FileReader().read(*document.root);
  RuleFile unusable;
  unusable.faults.push_back({.place = document.fault.place, .message = document.fault.message});
  return unusable;
}

std::vector<DuplicateRule> duplicate_rules(const RuleFile& file) {
  std::vector<DuplicateRule> all;
  for (const RuleGroup& group : file.groups) {
    for (const Rule& rule : group.rules) all.push_back({rule.name, rule.own_labels});
  }
  const auto key = [](const DuplicateRule& rule) { return std::tie(rule.name, rule.labels); };
  std::ranges::stable_sort(
      all, [&](const DuplicateRule& a, const DuplicateRule& b) { return key(a) < key(b); });
  std::vector<DuplicateRule> repeated;
  for (size_t i = 1; i < all.size(); ++i) {
    const bool is_known = !repeated.empty() && key(all[i]) == key(repeated.back());
    if (key(all[i]) == key(all[i - 1]) && !is_known) repeated.push_back(all[i]);
  }
  return repeated;
}

std::string lint_text(const std::vector<DuplicateRule>& duplicates) {
  std::string out = fmt::format("{} duplicate rule(s) found.\n", duplicates.size());
  for (const DuplicateRule& rule : duplicates) {
    out += fmt::format("Metric: {}\nLabel(s):\n", clean_text(rule.name));
    for (const auto& [name, value] : rule.labels) {
      out += fmt::format("\t{}: {}\n", clean_text(name), clean_text(value));
    }
  }
  return out + "Might cause inconsistency while recording expressions";
}

}  // namespace gpusight::promql
