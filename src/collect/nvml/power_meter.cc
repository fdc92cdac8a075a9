#include "collect/nvml/power_meter.h"

namespace gpusight::collect::nvml {

std::optional<PowerMeter::Reading> PowerMeter::update(double joules, MonoTime now) {
  if (!points_.empty() && (joules < points_.back().joules || now < points_.back().at)) reset();
  points_.push_back({joules, now});
  // The newest point that is old enough becomes the base; older ones are of no use.
  while (points_.size() > 2 && now - points_[1].at >= kShortest) points_.pop_front();
  const Point& base = points_.front();
  if (now - base.at < kShortest) return std::nullopt;
  return Reading{.watts = (joules - base.joules) / seconds(now - base.at), .window = now - base.at};
}

}  // namespace gpusight::collect::nvml
