#include "collect/amdgpu/device_lane.h"

#include <algorithm>

namespace gpusight::collect::amdgpu {

using model::DeviceState;

DeviceLane::DeviceLane(const platform::RootFs& root, std::shared_ptr<const AmdDevice> gpu,
                       LaneCadence cadence)
    : root_(root), gpu_(std::move(gpu)) {
  const std::string& uuid = gpu_->device.uuid;
  info_ = {.name = "amdgpu/" + uuid + (cadence == LaneCadence::kFast ? "/fast" : "/slow"),
           .cadence = cadence,
           .uuids = {uuid}};
}

Verdict DeviceLane::poll(Report& report) {
  reader_.start();
  report.about(gpu_->device.uuid);
  if (platform::is_asleep(reader_.runtime_status(gpu_->drm.folder))) {
    report.state(DeviceState::kAsleep);
    return Verdict::kGood;
  }
  if (!root_.exists(gpu_->drm.folder)) {
    report.state(DeviceState::kLost);
    return Verdict::kDeviceLost;
  }
  read(report);
  // It may have fallen asleep since: newer drivers then refuse rather than wake it.
  if (reader_.was_refused() && platform::is_asleep(reader_.runtime_status(gpu_->drm.folder))) {
    report.state(DeviceState::kAsleep);
    return Verdict::kGood;
  }
  for (const catalog::MetricId metric : metrics()) {
    if (std::ranges::find(report.samples(), metric, &model::Sample::metric) !=
        report.samples().end()) {
      continue;
    }
    report.absent(metric, model::Reason::kNotSupported);
  }
  return Verdict::kGood;
}

std::optional<double> told(const Report& report, catalog::MetricId metric, std::string_view label) {
  for (const model::Sample& sample : report.samples()) {
    if (sample.metric != metric || sample.label != label) continue;
    if (const auto number = sample.value.fresh_number()) return number;
  }
  return std::nullopt;
}

}  // namespace gpusight::collect::amdgpu
