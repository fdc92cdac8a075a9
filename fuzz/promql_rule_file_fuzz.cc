// Rule files and rule tests: any bytes are either a file that can be used or faults with words, and
// what is taken is whole. Tests are read, not run: that is the engine's work, which has its own.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "promql/rules/rule_file.h"
#include "promql/rules/rule_test_file.h"

using namespace gpusight;

namespace {

void check_whole(const promql::Rule& rule) {
  CHECK(rule.expr != nullptr, rule.name);
  CHECK(!rule.name.empty(), "a rule without a name is taken");
  CHECK(is_valid_utf8(rule.name), "a name is UTF-8");
  if (rule.kind == promql::Rule::Kind::kRecord) return;
  CHECK(rule.label_templates.size() == rule.labels.size(), rule.name);
  CHECK(rule.annotation_templates.size() == rule.annotations.size(), rule.name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const promql::RuleFile file = promql::parse_rule_file(text);
  for (const promql::RuleFault& fault : file.faults) {
    CHECK(!fault.message.empty(), "refused without a word");
    CHECK(is_valid_utf8(text_of(fault)), "a fault is clean text");
  }
  if (file.faults.empty()) {
    for (const promql::RuleGroup& group : file.groups) {
      for (const promql::Rule& rule : group.rules) check_whole(rule);
    }
    CHECK(!lint_text(duplicate_rules(file)).empty(), "lint has words");
  }
  for (const promql::YamlFault& fault : promql::parse_rule_test_file(text).faults) {
    CHECK(!fault.message.empty(), "refused without a word");
  }
  return 0;
}
