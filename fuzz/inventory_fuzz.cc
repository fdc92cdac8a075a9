// Any text as an inventory file: it is refused, or what it says is written and read again the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/inventory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpusight::store;
  const auto known = parse_inventory(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!known.ok()) return 0;
  const auto again = parse_inventory(inventory_text(*known));
  CHECK(again.ok() && *again == *known, "what was read writes and reads again as the same");
  return 0;
}
