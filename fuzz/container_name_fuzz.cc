// What a runtime says of a container: its names and labels are whoever's who started it.
#include <cstdint>
#include <string>
#include <string_view>

#include "attribute/container_names.h"
#include "base/check.h"
#include "base/text.h"

using namespace gpusight;

namespace {

void check(const std::optional<attribute::ContainerName>& found) {
  if (!found) return;
  for (const std::string* text :
       {&found->name, &found->image, &found->pod, &found->pod_namespace}) {
    CHECK(clean_text(*text) == *text, "a name that was not cleaned");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(attribute::parse_docker_container(text));
  check(attribute::parse_bundle(text));
  check(attribute::parse_storage_list(text, "a"));
  return 0;
}
