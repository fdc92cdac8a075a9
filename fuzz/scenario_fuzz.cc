// Scenario and control files of the simulated machine.
#include <cstdint>
#include <string_view>

#include "scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)gpusight::sim::parse_scenario(text, "f");
  (void)gpusight::sim::parse_control(text, "f", 8);
  return 0;
}
