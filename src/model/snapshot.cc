#include "model/snapshot.h"

#include <algorithm>

namespace gpusight::model {
namespace {
constexpr std::string_view kPhases[] = {"starting", "running", "degraded", "absent",
                                        "asleep",   "stuck",   "released"};
}  // namespace

const Value* find_sample(std::span<const Sample> samples, catalog::MetricId metric,
                         std::string_view label) {
  const auto before = [](const Sample& s, const std::pair<catalog::MetricId, std::string_view>& k) {
    return std::pair(s.metric, std::string_view(s.label)) < k;
  };
  const auto at =
      std::lower_bound(samples.begin(), samples.end(), std::pair(metric, label), before);
  const bool found = at != samples.end() && at->metric == metric && at->label == label;
  return found ? &at->value : nullptr;
}

std::string_view source_phase_key(SourcePhase phase) { return kPhases[static_cast<size_t>(phase)]; }

std::optional<SourcePhase> find_source_phase(std::string_view key) {
  const auto at = std::ranges::find(kPhases, key);
  if (at == std::end(kPhases)) return std::nullopt;
  return static_cast<SourcePhase>(at - std::begin(kPhases));
}

}  // namespace gpusight::model
