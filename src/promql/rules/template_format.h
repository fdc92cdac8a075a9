// Numbers, texts and values as Go's packages strconv and fmt write them, since templates of rules
// must read as they do in Prometheus: what go_text.h has not. Pure; any thread; no locale.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "promql/rules/template_value.h"

namespace gpusight::promql {

// 'E' with the fewest digits: 1E+00, 2.5E-01.
std::string go_exponent(double number);
// %.<digits>g.
std::string go_significant(double number, int digits);
// UTF-8 of a code point.
void append_utf8(std::string& out, uint32_t code_point);
// A whole text that is a number: decimal, "0x1p-2", "Inf", "NaN", underscores in none of them.
std::optional<double> go_parse_number(std::string_view text);

// Sprintf. What is wrong with a format shows in the text: "%!d(string=hi)", "%!s(MISSING)".
std::string go_printf(std::string_view format, std::span<const TemplateValue> args);
// Sprint: a blank between two operands of which neither is a text.
std::string go_print(std::span<const TemplateValue> args);
// Sprintln: blanks between all, a line feed at the end.
std::string go_println(std::span<const TemplateValue> args);

}  // namespace gpusight::promql
