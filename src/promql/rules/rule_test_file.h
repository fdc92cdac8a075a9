// The file format of `promtool test rules`, read strictly. Source: the "Unit testing for rules"
// page of Prometheus's documentation. Pure; plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/queryable.h"
#include "promql/rules/yaml_tree.h"

namespace gpusight::promql {

struct RuleTestFile {
  struct Series {
    std::string series;
    std::string values;
    Place place;
  };
  struct ExpectedAlert {
    model::Labels labels;  // without alertname
    model::Labels annotations;
  };
  struct AlertCase {
    int64_t eval_time_ms = 0;
    std::string alertname;
    std::vector<ExpectedAlert> alerts;
  };
  struct ExpectedSample {
    std::string labels;  // as a series is written
    double value = 0;
    std::string histogram;  // native ones, which are not supported; empty: a number
  };
  struct ExprCase {
    std::string expr;
    int64_t eval_time_ms = 0;
    std::vector<ExpectedSample> samples;
  };
  struct Test {
    std::string name;
    int64_t interval_ms = 0;  // of the input; the file's evaluation interval if absent
    int64_t start_ms = 0;
    std::vector<Series> input;
    std::vector<AlertCase> alert_cases;
    std::vector<ExprCase> expr_cases;
    model::Labels external_labels;
    std::string external_url;
  };

  std::vector<std::string> rule_files;  // patterns
  int64_t evaluation_interval_ms = 60'000;
  std::vector<std::string> group_eval_order;
  bool fuzzy_compare = false;
  std::vector<Test> tests;
  std::vector<YamlFault> faults;  // empty: the file can be run
};
RuleTestFile parse_rule_test_file(std::string_view text);

}  // namespace gpusight::promql
