// Label matchers with what they accept compiled in.
//
// Patterns are RE2 and match the whole value, "." a newline too, as in Prometheus. The matchers are
// plain values that several threads may use at once.
#pragma once

#include <string>

#include "base/result.h"
#include "model/queryable.h"

namespace gpusight::promql {

// Fails for a pattern that does not compile.
Result<model::Matcher> make_matcher(std::string name, model::Matcher::Kind kind, std::string value);

}  // namespace gpusight::promql
