// A form as it comes in at Prometheus's API, on any bytes.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/prom_params.h"

using namespace gpusight;

namespace {

void check_matchers(const serve::MatcherSets& sets) {
  for (const auto& matchers : sets) {
    CHECK(std::ranges::any_of(matchers, [](const auto& m) { return !m.accepts(""); }),
          "a selector that selects everything");
  }
}

void check_times(const serve::Parameters& parameters) {
  for (const auto* name : {"time", "start", "end"}) {
    const auto time = serve::time_parameter(parameters, name, 7);
    if (!time.ok()) continue;
    CHECK(*time == 7 || !serve::parameter(parameters, name).empty(), "a time from nowhere");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = serve::parse_api_time(text); time.ok()) {
    CHECK(*time >= serve::kMinTimeMs && *time <= serve::kMaxTimeMs, "a time beyond all time");
  }
  (void)serve::parse_api_duration(text);
  (void)serve::is_form(text);
  serve::Parameters parameters;
  if (!serve::add_parameters(text, parameters).ok()) return 0;
  CHECK(parameters.size() <= serve::kMaxParameters, "too many parameters");
  check_times(parameters);
  (void)serve::limit_parameter(parameters);
  if (const auto sets = serve::matcher_parameters(parameters); sets.ok()) check_matchers(*sets);
  return 0;
}
