// The table of readings of AMD's firmware, as the kernel hands it out; with what else stands in
// files beside it.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "collect/amdgpu/dpm_table.h"
#include "collect/amdgpu/gpu_metrics.h"
#include "collect/amdgpu/ras_counts.h"

using namespace gpusight;
using namespace gpusight::collect::amdgpu;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto table = parse_gpu_metrics(bytes); table.ok()) {
    for (size_t field = 0; field < kMetricFieldCount; ++field) {
      for (const auto& element : table->elements(static_cast<MetricField>(field))) {
        CHECK(std::isfinite(element.number) && element.number >= 0, "a number that cannot be");
        CHECK(element.index < kMostElements, "an element beyond its array");
      }
    }
  }
  const DpmTable dpm = parse_dpm_table(bytes);
  CHECK(!dpm.current || (dpm.highest && *dpm.current <= *dpm.highest), "a level above the highest");
  (void)parse_ras_count(bytes);
  (void)parse_bad_pages(bytes);
  return 0;
}
