#include "promql/rules/rule_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpusight::promql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRules = R"(groups:
- name: second
  rules:
  - {record: b, expr: a * 2}
- name: first
  rules:
  - {record: a, expr: sum(up)}
  - {alert: Down, expr: 'up == 0', for: 2m, annotations: {text: "{{ $labels.host }}: {{ $value }}"}}
)";

RuleTestReport run(std::string_view tests, std::string_view head = "") {
  const std::string text = "rule_files: [rules.yml]\n" + std::string(head) + std::string(tests);
  const LoadRuleFiles load = [](std::string_view pattern) -> Result<std::vector<RuleFileText>> {
    if (pattern != "rules.yml") return std::vector<RuleFileText>{};
    return std::vector<RuleFileText>{{"rules.yml", std::string(kRules)}};
  };
  return run_rule_tests(text, load, SystemClock());
}

TEST(RuleTests, PassWhereAllIsAsExpected) {
  const RuleTestReport report = run(R"(
group_eval_order: [first, second]
tests:
- interval: 1m
  input_series:
  - {series: 'up{host="x"}', values: '1 0x5'}
  - {series: 'up{host="y"}', values: '1x6'}
  alert_rule_test:
  - {eval_time: 2m, alertname: Down}
  - eval_time: 3m30s
    alertname: Down
    exp_alerts: [{exp_labels: {host: x}, exp_annotations: {text: "x: 0"}}]
  promql_expr_test:
  - {expr: b, eval_time: 0m, exp_samples: [{labels: b, value: 4}]}
  - {expr: b, eval_time: 1m, exp_samples: [{labels: b, value: 2}]}
)");
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(RuleTests, ShowWhatWasExpectedAndWhatCame) {
  const RuleTestReport report = run(R"(
tests:
- name: one
  input_series: [{series: 'up{host="x"}', values: '0x5'}]
  alert_rule_test:
  - {eval_time: 3m, alertname: Down, exp_alerts: [{exp_labels: {host: y}}]}
  - {eval_time: 1m, alertname: Down, exp_alerts: [{}]}
  promql_expr_test:
  - {expr: up + 1, eval_time: 90s, exp_samples: [{labels: '{}', value: 2.5}]}
)");
  EXPECT_THAT(report.errors,
              ElementsAre("    name: one,\n    alertname: Down, time: 1m, \n        exp:[\n"
                          "            0:\n              Labels:{alertname=\"Down\"}\n"
                          "              Annotations:{}\n            ], \n        got:[]",
                          "    name: one,\n    alertname: Down, time: 3m, \n        exp:[\n"
                          "            0:\n              Labels:{alertname=\"Down\", host=\"y\"}\n"
                          "              Annotations:{}\n            ], \n        got:[\n"
                          "            0:\n              Labels:{alertname=\"Down\", host=\"x\"}\n"
                          "              Annotations:{text=\"x: 0\"}\n            ]",
                          "    expr: \"up + 1\", time: 1m30s,\n        exp: {} 2.5E+00\n"
                          "        got: {host=\"x\"} 1E+00"));
}

TEST(RuleTests, CompareFuzzilyWhereAsked) {
  const char* test = R"(
tests:
- promql_expr_test:
  - {expr: 0.1 + 0.2, eval_time: 0m, exp_samples: [{labels: '{}', value: 0.3}]}
)";
  EXPECT_EQ(run(test).errors.size(), 1U);
  EXPECT_THAT(run(test, "fuzzy_compare: true\n").errors, IsEmpty());
}

TEST(RuleTests, NanIsNan) {
  EXPECT_THAT(
      run("tests:\n- promql_expr_test:\n"
          "  - {expr: 0 / 0, eval_time: 0m, exp_samples: [{labels: '{}', value: .nan}]}\n"
          "  - {expr: -1 / 0, eval_time: 0m, exp_samples: [{labels: '{}', value: -.inf}]}\n")
          .errors,
      IsEmpty());
}

TEST(RuleTests, BeginWhenTheyAreToldTo) {
  EXPECT_THAT(run(R"(
tests:
- start_timestamp: 2026-11-30T19:48:22.5+01:00
  input_series: [{series: up, values: '1 2 3'}]
  promql_expr_test:
  - {expr: time(), eval_time: 1m, exp_samples: [{labels: '{}', value: 1796064562.5}]}
  - {expr: up, eval_time: 1m, exp_samples: [{labels: up, value: 2}]}
- start_timestamp: 1000
  promql_expr_test:
  - {expr: time(), eval_time: 1m, exp_samples: [{labels: '{}', value: 1060}]}
)")
                  .errors,
              IsEmpty());
  EXPECT_THAT(run("tests:\n- start_timestamp: yesterday\n").errors,
              ElementsAre("3:20: cannot parse \"yesterday\" to a valid timestamp"));
}

TEST(RuleTests, TheFutureCannotBeSeen) {
  EXPECT_THAT(run(R"(
tests:
- input_series: [{series: up, values: '1 2 3 4 5'}]
  promql_expr_test:
  - {expr: 'max_over_time(up[1m] offset -2m)', eval_time: 0m, exp_samples: [{labels: '{}', value: 3}]}
  - {expr: up offset -4m, eval_time: 2m, exp_samples: [{labels: up, value: 3}]}
)")
                  .errors,
              IsEmpty());
}

TEST(RuleTests, ARuleThatFailsEndsTheTest) {
  const std::string text =
      "rule_files: [x]\ntests:\n- promql_expr_test:\n"
      "  - {expr: up, eval_time: 2m, exp_samples: [{labels: up, value: 3}]}\n";
  const LoadRuleFiles load = [](std::string_view) -> Result<std::vector<RuleFileText>> {
    return std::vector<RuleFileText>{
        {"x.yml", "groups: [{name: g, rules: [{record: r, expr: 'up[5m]'}]}]"}};
  };
  EXPECT_THAT(run_rule_tests(text, load, SystemClock()).errors,
              ElementsAre("    rule: r, time: 0s, err: rule result is not a vector or scalar"));
}

TEST(RuleTests, RuleFilesWithFaultsAreShown) {
  const LoadRuleFiles load = [](std::string_view) -> Result<std::vector<RuleFileText>> {
    return std::vector<RuleFileText>{{"x.yml", "groups: [{name: ''}]"}};
  };
  EXPECT_THAT(run_rule_tests("rule_files: [x]\ntests: [{}]\n", load, SystemClock()).errors,
              ElementsAre("x.yml: 1:10: Groupname must not be empty"));
}

TEST(RuleTests, APatternThatMatchesNothingIsAWarning) {
  const RuleTestReport report = run_rule_tests(
      "rule_files: [none*]\n",
      [](std::string_view) -> Result<std::vector<RuleFileText>> {
        return std::vector<RuleFileText>{};
      },
      SystemClock());
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre("no file match pattern none*"));
}

TEST(RuleTests, WhatIsWrongWithTheFileIsFoundAtOnce) {
  EXPECT_THAT(run("nonsense: 1\ntests:\n- interval: x\n  input_series: 3\n  promql_expr_test:\n"
                  "  - {expr: up, eval_time: 1m, exp_samples: [{labels: up, value: text}]}\n")
                  .errors,
              ElementsAre("2:1: field nonsense not found in a rule test file",
                          "4:13: not a valid duration string: \"x\"",
                          "5:17: cannot unmarshal `3` into a sequence of series",
                          "7:65: cannot unmarshal `text` into a number"));
}

TEST(RuleTests, WhatIsWrongWithATestIsSaid) {
  EXPECT_THAT(run("tests:\n- name: n\n  alert_rule_test: [{eval_time: 5m}]\n").errors,
              ElementsAre("an item under alert_rule_test misses required attribute alertname at "
                          "eval_time 5m (in TestGroup n)"));
  EXPECT_THAT(run("group_eval_order: [a, a]\n").errors,
              ElementsAre("group name repeated in evaluation order: a"));
  EXPECT_THAT(run("tests:\n- input_series: [{series: 'up{', values: '1'}]\n").errors,
              ElementsAre(HasSubstr("3:18: ")));
  EXPECT_THAT(run("tests:\n- input_series: [{series: up, values: '{{schema:1}}'}]\n").errors,
              ElementsAre(HasSubstr("native histograms are not supported")));
  EXPECT_THAT(run("tests:\n- input_series: [{series: up, values: '1'}, {series: up, values: '2'}]\n"
                  "  promql_expr_test: [{expr: up, eval_time: 0m}]\n")
                  .errors,
              ElementsAre("series {__name__=\"up\"}: duplicate sample for timestamp"));
  EXPECT_THAT(
      run("evaluation_interval: 1ms\ntests:\n- promql_expr_test: [{expr: up, eval_time: 1d}]\n")
          .errors,
      ElementsAre("more than 1000000 evaluations"));
  std::string large = "tests:\n- input_series:\n";
  for (int i = 0; i < 12; ++i) {
    large += "  - {series: s" + std::to_string(i) + ", values: _x900000}\n";
  }
  EXPECT_THAT(run(large).errors, ElementsAre("15:5: more than 10000000 points in a test"));
}

}  // namespace
}  // namespace gpusight::promql
