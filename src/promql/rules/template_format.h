// Numbers, texts and values as Go's packages strconv and fmt write them, since templates of rules
// must read as they do in Prometheus: what go_text.h has not. Pure; any thread; no locale.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "promql/rules/template_value.h"

namespace gpusight::promql {

// 'E' with the fewest digits: 1E+00, 2.5E-01.
std::string go_exponent(double number);
// %.<digits>g.
std::string go_significant(double number, int digits);

// Sprintf. What is wrong with a format shows in the text: "%!d(string=hi)", "%!s(MISSING)".
std::string go_printf(std::string_view format, std::span<const TemplateValue> args);
// Sprint: a blank between two operands of which neither is a text.
std::string go_print(std::span<const TemplateValue> args);
// Sprintln: blanks between all, a line feed at the end.
std::string go_println(std::span<const TemplateValue> args);

}  // namespace gpusight::promql
