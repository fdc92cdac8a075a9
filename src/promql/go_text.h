// Numbers and text as Prometheus's own language writes them, for labels and messages that must read
// the same. Source: the documentation of Go's packages strconv and fmt. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpusight::promql {

// 'f' with the fewest digits: 0.00001, 1000000, NaN, +Inf. What count_values makes a label of.
std::string go_fixed(double number);
// %g: 0.5, 1e+06, 1e-05, NaN, +Inf.
std::string go_general(double number);
// "a\xc5z": in double quotes; control characters and what is no UTF-8 escaped.
std::string go_quoted(std::string_view text);

// A whole text that is a number: decimal, "0x1p-2", "Inf", "NaN", underscores in none of them. What
// is too large for a double is none; what is too small is zero.
std::optional<double> go_parse_number(std::string_view text);

}  // namespace gpusight::promql
