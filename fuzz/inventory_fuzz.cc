// The inventory file: what is read can be written and read again to the same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/inventory.h"

using namespace gpusight::store;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto known = parse_inventory({reinterpret_cast<const char*>(data), size});
  if (!known.ok()) return 0;
  const auto again = parse_inventory(inventory_text(*known));
  CHECK(again.ok() && *again == *known, "the inventory does not come back");
  return 0;
}
