// Runs rule tests as `promtool test rules` does: series are loaded, groups evaluated step by step,
// and alerts and expressions compared with what is expected.
//
// Like promtool, and unlike a server, every group is evaluated at each evaluation interval, and
// only samples up to the time reached can be seen. A NaN that is expected equals a NaN that is
// found (promtool finds them different). Native histograms are refused. One thread; no files are
// read here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpusight::promql {

inline constexpr int64_t kMaxRuleTestSteps = 1'000'000;   // evaluations in a test
inline constexpr size_t kMaxRuleTestPoints = 10'000'000;  // of all series of a test

struct RuleFileText {
  std::string path;  // for messages
  std::string text;
};
// The rule files that a pattern of `rule_files` names, relative to the test's folder; none is a
// warning.
using LoadRuleFiles = std::function<Result<std::vector<RuleFileText>>(std::string_view pattern)>;

struct RuleTestReport {
  std::vector<std::string> errors;  // in promtool's form, several lines each; empty: all passed
  std::vector<std::string> warnings;
};
RuleTestReport run_rule_tests(std::string_view text, const LoadRuleFiles& load, const Clock& clock);

}  // namespace gpusight::promql
