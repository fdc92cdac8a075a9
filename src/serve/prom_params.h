// The parameters of Prometheus's API, read as Prometheus reads them: an empty one is not there, of
// a repeated one the first counts (but match[], which is a list). Pure functions over hostile text.
//
// Errors are kInvalidArgument in Prometheus's words.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/queryable.h"
#include "serve/http_text.h"

namespace gpusight::serve {

// What "since ever" and "for ever" mean, in milliseconds since 1970: the ends of Prometheus's time.
inline constexpr int64_t kMinTimeMs = -9'223'309'901'257'974'000;
inline constexpr int64_t kMaxTimeMs = 9'223'309'901'257'974'999;

// The first of that name; empty when there is none.
std::string_view parameter(const Parameters& parameters, std::string_view name);

// Unix seconds with a fraction, or RFC 3339, to milliseconds since 1970.
Result<int64_t> parse_api_time(std::string_view text);
// Seconds with a fraction, or a duration such as 1h30m; may be negative.
Result<Duration> parse_api_duration(std::string_view text);

// As above for a parameter that may be missing.
Result<int64_t> time_parameter(const Parameters& parameters, std::string_view name,
                               int64_t otherwise_ms);
// The most entries wanted of an answer; 0: all there are.
Result<size_t> limit_parameter(const Parameters& parameters);

// One set of matchers a match[]; each selects something: a set that every series fulfils is
// refused.
using MatcherSets = std::vector<std::vector<model::Matcher>>;
Result<MatcherSets> matcher_parameters(const Parameters& parameters);

// `invalid parameter "step": …`, as Prometheus introduces what is wrong with one.
Status invalid_parameter(std::string_view name, std::string_view what);

}  // namespace gpusight::serve
