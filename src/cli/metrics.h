// `gpusight metrics`: the catalogue for people, programs and the documentation. Pure; any thread.
#pragma once

#include <string>

#include "cli/status_table.h"

namespace gpusight::cli {

std::string metrics_text(const ViewOptions& options);
std::string metrics_markdown();  // docs/reference/metrics.md; English

}  // namespace gpusight::cli
