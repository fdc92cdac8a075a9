// The parts of HTTP's text that we read ourselves: request targets, Host, Origin and the Accept
// family. Pure functions over hostile text: whatever it is, they return.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpusight::serve {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// "/path?name=value&…", both decoded. Parameters stand in their order and may repeat.
struct Target {
  std::string path;
  Parameters parameters;
};
inline constexpr size_t kMaxParameters = 32;
// Refuses what is no path, escapes that are none, text that is not UTF-8 and control characters; a
// value may have tabs and line breaks.
Result<Target> parse_target(std::string_view target);
// The same of what follows the question mark, or is the body of a form, behind those there are.
Status add_parameters(std::string_view text, Parameters& parameters);
// "application/x-www-form-urlencoded", whatever follows it.
bool is_form(std::string_view content_type);

// True for names that can only mean this machine: localhost, 127.0.0.0/8 and [::1], with a port or
// without. Everything else may be a foreign name that was made to point here.
bool is_local_host(std::string_view host);
// True if a page of this Origin was served under this Host: "http://" and the same text.
bool is_same_origin(std::string_view origin, std::string_view host);

struct Encodings {
  bool gzip = false;
  bool brotli = false;
};
Encodings accepted_encodings(std::string_view accept_encoding);

// True if the client would rather have OpenMetrics 1.0.0 than Prometheus's plain text.
bool prefers_open_metrics(std::string_view accept);

// If-None-Match holds this entity tag (given with its quotes), or "*".
bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace gpusight::serve
