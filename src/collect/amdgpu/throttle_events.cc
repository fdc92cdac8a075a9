#include "collect/amdgpu/throttle_events.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::EventKind;

model::Event event_of(EventKind kind, const std::string& uuid, const std::string& reason) {
  return {.kind = kind,
          .severity = catalog::event_kind(kind).severity,
          .uuid = uuid,
          .fields = {{"reason", reason}},
          .arguments = {reason}};
}

}  // namespace

void ThrottleEvents::update(const std::string& uuid, Report& report) {
  std::vector<std::pair<std::string, bool>> told;  // events are put into the same report
  for (const model::Sample& sample : report.samples()) {
    const auto active = sample.value.fresh_number();
    if (sample.metric != catalog::MetricId::kGpuThrottle || !active) continue;
    told.emplace_back(sample.label, *active > 0);
  }
  for (const auto& [reason, is_active] : told) {
    const auto at = began_.find(reason);
    if (is_active == (at != began_.end())) continue;
    if (is_active) {
      began_.emplace(reason, report.now());
      report.event(event_of(EventKind::kThrottleBegin, uuid, reason));
      continue;
    }
    // Tenths: no tick is shorter.
    const double lasted = std::round(seconds(report.now() - at->second) * 10) / 10;
    began_.erase(at);
    model::Event end = event_of(EventKind::kThrottleEnd, uuid, reason);
    end.fields.emplace_back("seconds", number_text(lasted));
    end.arguments.push_back(number_text(lasted));
    report.event(std::move(end));
  }
}

}  // namespace gpusight::collect::amdgpu
