// Numbers and texts for people, as the functions of Prometheus's templates make them.
// Pure; any thread; UTC.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpusight::promql {

std::string humanize(double number);            // 1234567 → 1.235M
std::string humanize_1024(double number);       // 1536 → 1.5ki
std::string humanize_duration(double seconds);  // 3661 → 1h 1m 1s
std::string humanize_percentage(double ratio);  // 0.1234 → 12.34%
// Seconds since 1970 → 2026-11-30 19:48:22.5 +0000 UTC; fails beyond the years 1678 to 2262.
Result<std::string> humanize_timestamp(double seconds);

// Letters of the Latin, Greek and Cyrillic alphabets.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// The first letter of every word in upper case.
std::string title_case(std::string_view text);

// "host:port" without the port; without what follows the first dot of the host. Addresses stay.
std::string strip_port(std::string_view host_port);
std::string strip_domain(std::string_view host_port);
// As in the query part of a URL.
std::string url_query_escape(std::string_view text);
std::string html_escape(std::string_view text);

}  // namespace gpusight::promql
