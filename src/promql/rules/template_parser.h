// A template's text to its tree. Internal to promql/rules.
#pragma once

#include <string_view>

#include "base/result.h"
#include "promql/rules/template_tree.h"

namespace gpusight::promql {

// Messages are "LINE: what is wrong" in Go's words. Depth is bounded.
Result<TemplateNodes> parse_template(std::string_view text);

}  // namespace gpusight::promql
