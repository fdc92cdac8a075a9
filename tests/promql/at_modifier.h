// The same query with its time written into it: "@" appended to every selector and subquery that
// has none. Such a query gives the same answer whenever it is evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpusight::conformance {

// nullopt where the answer depends on the time of evaluation whatever the selectors do: time(),
// predict_linear() and others. Selectors inside of a subquery follow it and stay as they are.
Result<std::optional<std::string>> with_at_modifier(std::string_view query, int64_t time_ms);

// Whether start() or end() stand in the query: an instant query and a range query around the
// instant have them at different times.
bool asks_for_bounds(std::string_view query);

// Times at which a query of `time_ms` is then tried.
std::vector<int64_t> other_times(int64_t time_ms);

}  // namespace gpusight::conformance
