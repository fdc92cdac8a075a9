// One opening of the driver's library: from nvmlInit to nvmlShutdown.
#pragma once

#include <memory>
#include <vector>

#include "collect/nvml/event_lane.h"
#include "collect/nvml/nvml_library.h"

namespace gpusight::collect::nvml {

// nvmlShutdown when destroyed, then the library is unloaded. Outlives everything made with it.
class LibrarySession {
 public:
  explicit LibrarySession(std::shared_ptr<NvmlLibrary> library) : library_(std::move(library)) {}
  ~LibrarySession() { library_->api.shutdown(); }
  LibrarySession(const LibrarySession&) = delete;
  LibrarySession& operator=(const LibrarySession&) = delete;

  const NvmlApi& api() const { return library_->api; }

 private:
  std::shared_ptr<NvmlLibrary> library_;
};

class NvmlGeneration final : public Generation {
 public:
  // `opening` counted the calls up to here; it is reported with the first poll.
  NvmlGeneration(std::unique_ptr<LibrarySession> session, std::vector<Gpu> gpus,
                 LaneContext context, std::shared_ptr<KnownDevices> known, CallMeter opening);

  std::span<const model::Device> devices() const override { return devices_; }
  std::span<const std::unique_ptr<Lane>> lanes() const override { return lanes_; }

 private:
  // In the order of their making: lanes go first, the library last.
  std::unique_ptr<LibrarySession> session_;
  std::shared_ptr<KnownDevices> known_;
  CallMeter opening_;
  std::vector<std::unique_ptr<SharedGpu>> gpus_;
  std::vector<model::Device> devices_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace gpusight::collect::nvml
