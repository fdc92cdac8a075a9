// One option's value from text, checked against its row. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "config/option.h"

namespace gpusight::config {

// Why a text is no value of the option: "a duration from 100ms to 1m is wanted".
struct Unwanted {
  std::string why;
};
using Parsed = std::variant<OptionValue, Unwanted>;

Parsed parse_value(const OptionRow& row, std::string_view text, catalog::Lang lang);

// A value in the syntax parse_value() reads; durations in the largest unit that divides them.
std::string value_text(const OptionRow& row, const OptionValue& value);
std::string duration_text(Duration duration);

// What the option is when nobody set it: its `initial`, else the type's empty value.
OptionValue initial_value(const OptionRow& row);

// The one of `known` a mistyped word probably means: begun alike, or spelled almost alike. Empty if
// none is near.
std::string_view suggestion(std::string_view word, const std::vector<std::string_view>& known);
// "; did you mean X?" with X = before + suggestion; empty without one.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view before, catalog::Lang lang);

}  // namespace gpusight::config
