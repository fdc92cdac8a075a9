#include "promql/rules/rule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "promql/rules/yaml_reader.h"

namespace gpusight::promql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> faults_of(std::string_view text) {
  std::vector<std::string> found;
  for (const RuleFault& fault : parse_rule_file(text).faults) found.push_back(text_of(fault));
  return found;
}

// The rules of one group called "g".
std::string group(std::string_view rules) {
  return "groups:\n- name: g\n  rules:\n" + std::string(rules);
}

TEST(RuleFile, ReadsEveryField) {
  const RuleFile file = parse_rule_file(R"(
groups:
  - name: node
    interval: 30s
    query_offset: 1m30s
    limit: 10
    labels: {team: infra, tier: "1"}
    rules:
      - record: job:up:sum
        expr: sum by (job) (up)
        labels: {tier: "2"}
      - alert: Down
        expr: |
          up
            == 0
        for: 5m
        keep_firing_for: 1h
        labels: {severity: page}
        annotations: {summary: "{{ $labels.job }}"}
)");
  ASSERT_THAT(file.faults, IsEmpty());
  ASSERT_EQ(file.groups.size(), 1U);
  const RuleGroup& node = file.groups[0];
  EXPECT_EQ(node.name, "node");
  EXPECT_EQ(node.interval_ms, 30'000);
  EXPECT_EQ(node.query_offset_ms, 90'000);
  EXPECT_EQ(node.limit, 10);
  EXPECT_EQ(file.rule_count(), 2U);
  const Rule& record = node.rules[0];
  EXPECT_EQ(record.kind, Rule::Kind::kRecord);
  EXPECT_EQ(record.name, "job:up:sum");
  // The rule's own label wins over the group's.
  EXPECT_THAT(record.labels, ElementsAre(std::pair("team", "infra"), std::pair("tier", "2")));
  EXPECT_THAT(record.own_labels, ElementsAre(std::pair("tier", "2")));
  const Rule& alert = node.rules[1];
  EXPECT_EQ(alert.kind, Rule::Kind::kAlert);
  EXPECT_EQ(alert.expr_text, "up\n  == 0\n");
  EXPECT_NE(alert.expr, nullptr);
  EXPECT_EQ(alert.for_ms, 300'000);
  EXPECT_EQ(alert.keep_firing_for_ms, 3'600'000);
  EXPECT_EQ(alert.label_templates.size(), alert.labels.size());
  EXPECT_EQ(alert.annotation_templates.size(), 1U);
}

TEST(RuleFile, WhatIsNotSetIsAbsent) {
  const RuleFile file = parse_rule_file(group("  - record: x\n    expr: up\n"));
  ASSERT_THAT(file.faults, IsEmpty());
  EXPECT_EQ(file.groups[0].interval_ms, std::nullopt);
  EXPECT_EQ(file.groups[0].query_offset_ms, std::nullopt);
  EXPECT_EQ(file.groups[0].limit, 0);
}

TEST(RuleFile, EmptyFilesAreSound) {
  EXPECT_THAT(faults_of(""), IsEmpty());
  EXPECT_THAT(faults_of("# nothing\n"), IsEmpty());
  EXPECT_THAT(faults_of("groups:\n"), IsEmpty());
  EXPECT_THAT(faults_of("groups:\n- name: g\n  rules:\n"), IsEmpty());
}

TEST(RuleFile, ARuleIsEitherARecordOrAnAlert) {
  EXPECT_THAT(
      faults_of(group("  - record: a\n    alert: b\n    expr: up\n")),
      ElementsAre("4:13: 5:12: group \"g\", rule 1, \"b\": only one of 'record' and 'alert' "
                  "must be set"));
  EXPECT_THAT(
      faults_of(group("  - expr: up\n")),
      ElementsAre("4:5: group \"g\", rule 1, \"\": one of 'record' or 'alert' must be set"));
}

TEST(RuleFile, RecordsHaveNoFieldsOfAlerts) {
  EXPECT_THAT(
      faults_of(group("  - record: a\n    expr: up\n    for: 1m\n    keep_firing_for: 1m\n"
                      "    annotations: {a: b}\n")),
      ElementsAre(
          "4:13: group \"g\", rule 1, \"a\": invalid field 'annotations' in recording rule",
          "4:13: group \"g\", rule 1, \"a\": invalid field 'for' in recording rule",
          "4:13: group \"g\", rule 1, \"a\": invalid field 'keep_firing_for' in recording rule"));
}

TEST(RuleFile, ExpressionsMustParse) {
  EXPECT_THAT(faults_of(group("  - record: a\n")),
              ElementsAre("4:5: group \"g\", rule 1, \"a\": field 'expr' must be set in rule"));
  EXPECT_THAT(faults_of(group("  - record: a\n    expr: sum(\n")),
              ElementsAre(HasSubstr("5:11: group \"g\", rule 1, \"a\": could not parse expression: "
                                    "1:5: parse error: ")));
}

TEST(RuleFile, NamesAreAnyUtf8ButNotEmpty) {
  EXPECT_THAT(
      faults_of(group("  - record: \"temp \u00b0C\"\n    expr: up\n    labels: {\"a b\": c}\n")),
      IsEmpty());
  EXPECT_THAT(faults_of(group("  - record: 'a{b=\"c\"}'\n    expr: up\n")),
              ElementsAre(HasSubstr("braces present in the recording rule name; should it be in "
                                    "expr?: a{b=\"c\"}")));
  EXPECT_THAT(faults_of(group("  - record: a\n    expr: up\n    labels: {__name__: b}\n")),
              ElementsAre("6:13: group \"g\", rule 1, \"a\": invalid label name: __name__"));
  EXPECT_THAT(faults_of(group("  - alert: a\n    expr: up\n    annotations: {\"\": b}\n")),
              ElementsAre("6:18: group \"g\", rule 1, \"a\": invalid annotation name: "));
}

TEST(RuleFile, TemplatesOfAlertsMustParse) {
  EXPECT_THAT(
      faults_of(group("  - alert: A\n    expr: up\n    labels: {l: '{{ $labels.x'}\n"
                      "    annotations: {n: '{{ nope }}'}\n")),
      ElementsAre("6:13: group \"g\", rule 1, \"A\": label \"l\": template: __alert_A:1: unclosed "
                  "action",
                  "7:18: group \"g\", rule 1, \"A\": annotation \"n\": template: __alert_A:1: "
                  "function \"nope\" not defined"));
  // A record's labels are no templates.
  EXPECT_THAT(faults_of(group("  - record: A\n    expr: up\n    labels: {l: '{{ x'}\n")),
              IsEmpty());
}

TEST(RuleFile, GroupsHaveNamesOfTheirOwn) {
  EXPECT_THAT(faults_of("groups:\n- name: g\n- name: g\n- rules:\n"),
              ElementsAre("3:3: groupname: \"g\" is repeated in the same file",
                          "4:3: Groupname must not be empty"));
}

TEST(RuleFile, AllThatIsWrongWithTheShapeIsFoundAtOnce) {
  EXPECT_THAT(
      faults_of(
          "groups:\n- name: g\n  limit: x\n  interval: 5\n  nonsense: 1\n  rules:\n"
          "  - alert: [a]\n    labels: 3\n    expr: up\n    expr: up\n    foo: bar\nmore: 1\n"),
      ElementsAre(
          "3:10: cannot unmarshal `x` into an integer", "4:13: not a valid duration string: \"5\"",
          "5:3: field nonsense not found in a rule group",
          "7:12: cannot unmarshal a sequence into a string",
          "8:13: cannot unmarshal `3` into a map of strings",
          "10:5: mapping key \"expr\" already defined at line 9",
          "11:5: field foo not found in a rule", "12:1: field more not found in a rule file"));
}

TEST(RuleFile, AnchorsAndMergesAreFollowed) {
  const RuleFile file =
      parse_rule_file(group("  - &a\n    alert: A\n    expr: &e up == 0\n    for: 1m\n"
                            "  - <<: *a\n    alert: B\n    for: 2m\n  - {record: c, expr: *e}\n"));
  ASSERT_THAT(file.faults, IsEmpty());
  EXPECT_EQ(file.groups[0].rules[1].name, "B");
  EXPECT_EQ(file.groups[0].rules[1].expr_text, "up == 0");
  EXPECT_EQ(file.groups[0].rules[1].for_ms, 120'000);
  EXPECT_EQ(file.groups[0].rules[2].expr_text, "up == 0");
}

TEST(RuleFile, OnlyTheFirstDocumentCounts) {
  EXPECT_EQ(parse_rule_file("groups: []\n---\nnonsense: [\n").faults.size(), 0U);
}

TEST(RuleFile, WhatIsNoYamlSaysWhere) {
  EXPECT_THAT(faults_of("groups:\n- name: \"g\n"), ElementsAre(HasSubstr("yaml: ")));
  EXPECT_THAT(faults_of("a:\n  b\xff"), ElementsAre("2:4: yaml: invalid UTF-8"));
  EXPECT_THAT(faults_of("x: &a [*a]"), ElementsAre("1:8: yaml: anchor value contains itself"));
  EXPECT_THAT(faults_of("[1, 2]"),
              ElementsAre("1:1: cannot unmarshal a sequence into a rule file"));
}

TEST(RuleFile, HostileYamlIsRefused) {
  EXPECT_THAT(faults_of(std::string(100'000, '[')), ElementsAre(HasSubstr("nested too deeply")));
  EXPECT_THAT(faults_of(std::string(kMaxYamlLength + 1, '#')),
              ElementsAre(HasSubstr("longer than")));
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += (k > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    laughs += "]\n";
  }
  EXPECT_THAT(faults_of(laughs), ElementsAre(HasSubstr("values")));
}

TEST(RuleFile, LargeYamlTakesTimeInProportion) {
  const std::string long_line(kMaxYamlLength - 10, 'x');
  EXPECT_THAT(faults_of(long_line + "\xff"),
              ElementsAre("1:" + std::to_string(long_line.size() + 1) + ": yaml: invalid UTF-8"));
  constexpr int kKeys = 50'000;
  std::string merged = "a: &a\n";
  for (int i = 0; i < kKeys; ++i) merged += "  a" + std::to_string(i) + ": 1\n";
  merged += "b:\n  <<: *a\n";
  for (int i = 0; i < kKeys; ++i) merged += "  b" + std::to_string(i) + ": 1\n";
  const YamlDocument document = parse_yaml(merged);
  ASSERT_NE(document.root, nullptr) << document.fault.message;
  EXPECT_EQ(document.root->entries.back().value->entries.size(), 2UL * kKeys);
}

TEST(RuleFile, RepeatedRulesAreFoundByLint) {
  const RuleFile file = parse_rule_file(
      group("  - {record: a, expr: up, labels: {x: y}}\n  - {record: a, expr: up}\n"
            "  - {record: a, expr: down, labels: {x: y}}\n"
            "  - {record: a, expr: down, labels: {x: y}}\n  - {alert: b, expr: up}\n"));
  ASSERT_THAT(file.faults, IsEmpty());
  const std::vector<DuplicateRule> found = duplicate_rules(file);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(lint_text(found),
            "1 duplicate rule(s) found.\nMetric: a\nLabel(s):\n\tx: y\nMight cause inconsistency "
            "while recording expressions");
}

TEST(RuleDuration, HasUnitsInOrder) {
  EXPECT_EQ(*parse_rule_duration("0"), 0);
  EXPECT_EQ(*parse_rule_duration("1m30s"), 90'000);
  EXPECT_EQ(*parse_rule_duration("250ms"), 250);
  EXPECT_EQ(*parse_rule_duration("1y2w3d4h5m6s7ms"),
            ((((365 + 14 + 3) * 24LL + 4) * 60 + 5) * 60 + 6) * 1000 + 7);
  for (const char* text : {"5", "1.5h", "1m1h", "1m1m", "m", "-1m", "1 m", "1m ", "1.", "00"}) {
    EXPECT_THAT(parse_rule_duration(text).status().message(),
                HasSubstr("not a valid duration string"))
        << text;
  }
  EXPECT_EQ(parse_rule_duration("1x").status().message(), "unknown unit \"x\" in duration \"1x\"");
  EXPECT_EQ(parse_rule_duration("").status().message(), "empty duration string");
  EXPECT_EQ(parse_rule_duration("300y").status().message(), "duration out of range");
  EXPECT_EQ(parse_rule_duration("99999999999999999999m").status().message(),
            "duration out of range");
}

}  // namespace
}  // namespace gpusight::promql
