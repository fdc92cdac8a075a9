// A query, a label set or a duration from anyone: an error with its place, or something that is
// printed, on one line and broken up, and reads back as the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "promql/parser.h"

using namespace gpusight;
using namespace gpusight::promql;

namespace {

// Escapes and blanks make a printed text longer than what was read.
bool can_be_read(const std::string& text) { return text.size() <= kMaxQueryLength; }

void check_query(std::string_view query) {
  const Result<ExprPtr> expr = parse(query);
  if (!expr.ok()) {
    const std::string& message = expr.status().message();
    CHECK(message.find(": parse error: ") != std::string::npos, "an error without its place");
    return;
  }
  touched_by(**expr);
  const std::string once = print(**expr);
  for (const std::string& text : {once, print_pretty(**expr)}) {
    if (!can_be_read(text)) continue;
    const Result<ExprPtr> again = parse(text);
    CHECK(again.ok(), "what was printed cannot be read: " + again.status().message());
    CHECK(print(**again) == once, "reading a printed query changed it");
  }
}

void check_labels(std::string_view text) {
  const Result<model::Labels> labels = parse_labels(text);
  if (!labels.ok()) return;
  const std::string printed = print_labels(*labels);
  if (!can_be_read(printed)) return;
  const Result<model::Labels> again = parse_labels(printed);
  CHECK(again.ok() && *again == *labels, "reading printed labels changed them");
}

void check_duration(std::string_view text) {
  const Result<int64_t> ms = parse_duration(text);
  if (!ms.ok()) return;
  const Result<int64_t> again = parse_duration(print_duration(*ms));
  CHECK(again.ok() && *again == *ms, "reading a printed duration changed it");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_query(text);
  check_labels(text);
  check_duration(text);
  return 0;
}
