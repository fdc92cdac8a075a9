// The configuration file, in both languages: any bytes are either a configuration or an error for the
// user, and what is taken reads back to the same value.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "config/toml_file.h"
#include "config/value.h"

using namespace gpusight;

namespace {

void check_read_back(const config::OptionRow& row, const config::FileValue& value) {
  CHECK(value.line > 0, row.flag);
  const config::Parsed again =
      config::parse_value(row, config::value_text(row, value.value), catalog::Lang::kEnglish);
  CHECK(std::holds_alternative<config::OptionValue>(again), row.flag);
  // A duration finer than its text may differ in the last nanosecond.
  if (row.type == config::OptionType::kDuration) return;
  CHECK(std::get<config::OptionValue>(again) == value.value, row.flag);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto english = config::parse_toml_file(text, "f", catalog::Lang::kEnglish);
  const auto chinese = config::parse_toml_file(text, "f", catalog::Lang::kChinese);
  CHECK(english.ok() == chinese.ok(), "one language takes what the other refuses");
  if (!english.ok()) {
    CHECK(!english.status().message().empty(), "refused without a word");
    CHECK(is_valid_utf8(chinese.status().message()), "an error is clean text");
    return 0;
  }
  for (const config::OptionRow& row : config::kOptions) {
    const auto& value = (*english)[static_cast<size_t>(row.id)];
    if (value) check_read_back(row, *value);
  }
  return 0;
}
