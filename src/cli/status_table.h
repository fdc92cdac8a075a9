// `gpusight status` for people: a table of the GPUs, what is missing and why, a line on the host.
// Pure; any thread.
#pragma once

#include <string>

#include "catalog/metric.h"
#include "cli/format.h"
#include "model/snapshot.h"

namespace gpusight::cli {

struct ViewOptions {
  catalog::Lang lang = catalog::Lang::kEnglish;
  size_t width = 80;  // columns; no line is wider
  bool colour = false;
  TimeZone zone = TimeZone::kLocal;
};

std::string status_text(const model::Snapshot& snapshot, const ViewOptions& options);

}  // namespace gpusight::cli
