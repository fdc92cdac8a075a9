#include "collect/nvml/generation.h"

#include "collect/nvml/fast_lane.h"
#include "collect/nvml/slow_lane.h"

namespace gpusight::collect::nvml {

NvmlGeneration::NvmlGeneration(std::unique_ptr<LibrarySession> session, std::vector<Gpu> gpus,
                               LaneContext context, std::shared_ptr<KnownDevices> known,
                               CallMeter opening)
    : session_(std::move(session)), known_(std::move(known)), opening_(opening) {
  context.api = &session_->api();
  context.holders = std::make_shared<HolderWatch>(context.root);
  for (Gpu& gpu : gpus) {
    auto shared = std::make_unique<SharedGpu>();
    shared->gpu = std::move(gpu);
    shared->known = known_.get();
    devices_.push_back(shared->gpu.device);
    for (const MigDevice& mig : shared->gpu.instances) devices_.push_back(mig.device);
    gpus_.push_back(std::move(shared));
  }
  std::unique_ptr<DriverEvents> events = DriverEvents::create(opening_, *context.api, gpus_);
  const bool has_log = context.nvrm != nullptr && context.nvrm->is_open();
  if (has_log) {
    for (const auto& gpu : gpus_) gpu->no_events.reset();  // the log tells of them
  }
  for (size_t i = 0; i < gpus_.size(); ++i) {
    SharedGpu& gpu = *gpus_[i];
    lanes_.push_back(std::make_unique<FastLane>(context, gpu, i == 0 ? &opening_ : nullptr));
    lanes_.push_back(std::make_unique<SlowLane>(context, gpus_, i));
    if (context.interval > kLongestDrain) {
      lanes_.push_back(std::make_unique<RingLane>(context, gpu));
    }
  }
  if (events != nullptr || has_log) {
    lanes_.push_back(std::make_unique<EventLane>(context, gpus_, std::move(events)));
  }
}

}  // namespace gpusight::collect::nvml
