// What the catalogue says of metrics, in the form of Prometheus's /api/v1/metadata. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json_writer.h"

namespace gpusight::serve {

// {NAME: [{"type":…,"help":…,"unit":…}], …}: of that metric, or of all where the name is empty. At
// most `limit` metrics unless that is negative.
void append_metadata(JsonWriter& json, std::string_view metric, int64_t limit);

}  // namespace gpusight::serve
