// The snapshot document that a command gets from a daemon: it may come from anything that sits on
// the socket.
#include <cstdint>
#include <string_view>

#include "model/snapshot_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)gpusight::model::parse_snapshot_json({reinterpret_cast<const char*>(data), size});
  return 0;
}
