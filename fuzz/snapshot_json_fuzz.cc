// A snapshot document from anyone: an error, or something that can be written and read again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/snapshot_json.h"

using namespace gpusight::model;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = parse_snapshot_json({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok()) return 0;
  const Caller admin{.identity = LocalUser{0}, .role = Role::kAdmin};
  const std::string once = snapshot_json(*parsed, admin, "0");
  const auto again = parse_snapshot_json(once);
  CHECK(again.ok(), "a document of ours cannot be read");
  CHECK(snapshot_json(*again, admin, "0") == once, "reading a document changed it");
  return 0;
}
