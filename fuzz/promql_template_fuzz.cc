// Templates of rules: any bytes either parse or are refused with words, and what parses ends,
// within its bounds, with a text or an error.
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "promql/rules/rule_template.h"

using namespace gpusight;

namespace {

Result<promql::Vector> answer(std::string_view expression) {
  if (expression.empty()) return Status(Code::kInvalidArgument, "nothing was asked");
  const double special = std::numeric_limits<double>::quiet_NaN();
  return promql::Vector{{.labels = {{"__name__", "a"}, {"n", "1"}}, .point = {.value = 1.5}},
                        {.labels = {{"n", "2"}}, .point = {.value = special}}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<promql::RuleTemplate> made = promql::RuleTemplate::parse(text, "t");
  if (!made.ok()) {
    CHECK(made.status().message().starts_with("template: t:"), made.status().message());
    return 0;
  }
  const model::Labels labels = {{"host", "gpu-07:9400"}, {"job", "node"}};
  const Result<std::string> expanded = made->expand({.labels = labels,
                                                     .value = -2.5,
                                                     .external_labels = labels,
                                                     .external_url = "http://a.example/b",
                                                     .time_ms = 1'796'068'102'000,
                                                     .query = answer});
  if (expanded.ok()) {
    CHECK(expanded->size() <= promql::kMaxTemplateOutput, "longer than it may be");
  } else {
    CHECK(!expanded.status().message().empty(), "failed without a word");
  }
  return 0;
}
