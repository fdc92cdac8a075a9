// What drivers say of a client, through a file of /proc of some process.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "platform/drm_fdinfo.h"

using namespace gpusight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto client = platform::parse_drm_fdinfo(text);
  if (!client.ok()) return 0;
  CHECK(is_valid_utf8(client->driver) && is_valid_utf8(client->address), "not cleaned");
  CHECK(client->engines.size() <= platform::kMostDrmEngines, "too many engines");
  CHECK(client->regions.size() <= platform::kMostDrmRegions, "too many regions");
  for (const auto& engine : client->engines) {
    CHECK(engine.capacity > 0 && is_valid_utf8(engine.name), "an engine that cannot be");
  }
  return 0;
}
