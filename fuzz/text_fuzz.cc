// Text from outside: cleaned text is always printable UTF-8 within its bound, whatever came in.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/display_width.h"
#include "base/json_writer.h"
#include "base/text.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string clean = clean_text(text);
  CHECK(clean.size() <= 256 && is_valid_utf8(clean), "cleaned text is not clean");
  CHECK(clean_text(clean) == clean, "cleaning twice changes the text");
  for (const char byte : clean) {
    CHECK(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f, "a control character was left");
  }
  CHECK(is_valid_utf8(json_string(text)), "JSON that is not UTF-8");
  const size_t width = size % 64;
  CHECK(display_width(fit_width(clean, width)) <= width, "wider than asked for");
  (void)wrap_lines(clean, width + 1);
  if (const auto number = parse_double(text); number && std::isfinite(*number)) {
    CHECK(parse_double(number_text(*number)) == number, "a number that does not come back");
  }
  (void)parse_int(text);
  (void)parse_uint(text, 16);
  (void)parse_duration_seconds(text);
  (void)split_words(text);
  return 0;
}
