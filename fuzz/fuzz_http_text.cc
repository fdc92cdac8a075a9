// The parts of HTTP that we read ourselves, over any bytes.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "serve/http_text.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = serve::parse_target(text); target.ok()) {
    CHECK(target->path.starts_with('/') && is_valid_utf8(target->path), "a path that is none");
    CHECK(target->parameters.size() <= serve::kMaxParameters, "more parameters than allowed");
  }
  const size_t middle = text.find('\n');
  const std::string_view first = text.substr(0, middle);
  const std::string_view second =
      middle == std::string_view::npos ? std::string_view() : text.substr(middle + 1);
  (void)serve::is_local_host(first);
  (void)serve::is_same_origin(first, second);
  (void)serve::accepted_encodings(text);
  (void)serve::prefers_open_metrics(text);
  (void)serve::names_etag(first, second);
  return 0;
}
