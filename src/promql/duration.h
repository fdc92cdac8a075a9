// Seconds as PromQL takes them for durations; the text forms are in parser.h.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace gpusight::promql {

// Refused beyond what Prometheus can hold (292 years).
Result<int64_t> seconds_to_ms(double seconds);

}  // namespace gpusight::promql
