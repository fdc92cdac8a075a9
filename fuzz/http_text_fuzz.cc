// What the server reads of a request by itself, on any bytes.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "serve/http_text.h"
#include "serve/listener.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = serve::parse_target(text); target.ok()) {
    CHECK(target->path.starts_with('/') && is_valid_utf8(target->path), "a path that is none");
    CHECK(target->parameters.size() <= serve::kMaxParameters, "too many parameters");
    for (const auto& [name, value] : target->parameters) {
      CHECK(is_valid_utf8(name) && is_valid_utf8(value), "a parameter that is no text");
      constexpr std::string_view kInNames("\0\t\n\r", 4);
      constexpr std::string_view kInValues("\0\x1b\x7f", 3);
      CHECK(name.find_first_of(kInNames) == name.npos, "a control character in a name");
      CHECK(value.find_first_of(kInValues) == value.npos, "a control character in a value");
    }
  }
  if (serve::is_local_host(text)) {
    constexpr std::string_view kPossible = "0123456789.:[]localhostLOCALHOST";
    CHECK(text.find_first_not_of(kPossible) == text.npos, "a foreign host taken for local");
  }
  const size_t half = size / 2;
  if (serve::is_same_origin(text.substr(0, half), text.substr(half))) {
    CHECK(half == size - half + 7, "an origin of another length than its host");
  }
  (void)serve::accepted_encodings(text);
  (void)serve::prefers_open_metrics(text);
  (void)serve::names_etag(text.substr(0, half), text.substr(half));
  (void)serve::parse_listen_address(text, catalog::Lang::kEnglish);
  return 0;
}
