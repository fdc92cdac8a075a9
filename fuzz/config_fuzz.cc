// The configuration file: any bytes are either a configuration or an error for the user. What is
// taken reads back to the same value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "config/toml_file.h"
#include "config/value.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpusight;
  using namespace gpusight::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const catalog::Lang lang = size % 2 == 0 ? catalog::Lang::kEnglish : catalog::Lang::kChinese;
  const Result<FileValues> values = parse_toml_file(text, "gpusight.toml", lang);
  if (!values.ok()) {
    CHECK(values.status().code() == Code::kInvalidArgument, values.status().message());
    CHECK(!values.status().message().empty(), "an error says what is wrong");
    return 0;
  }
  for (const OptionRow& row : kOptions) {
    const auto& value = (*values)[static_cast<size_t>(row.id)];
    if (!value) continue;
    CHECK(value->line > 0, row.flag);
    const Parsed again = parse_value(row, value_text(row, value->value), lang);
    CHECK(std::holds_alternative<OptionValue>(again), row.flag);
    // A duration finer than its text may differ in the last nanosecond.
    if (row.type == OptionType::kDuration) continue;
    CHECK(std::get<OptionValue>(again) == value->value, row.flag);
  }
  return 0;
}
