// The driver's own events: XID errors and changes of MIG. One set for a generation, made when it is
// opened; the lane waits on it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collect/nvml/call_meter.h"
#include "collect/nvml/lane_parts.h"

namespace gpusight::collect::nvml {

// The set, freed when destroyed. What happened before a device was registered is not delivered.
class DriverEvents {
 public:
  // nullptr when no device can be registered. Sets `no_events` of every device whose XID errors
  // will not be told.
  static std::unique_ptr<DriverEvents> create(CallMeter& call, const NvmlApi& api,
                                              std::span<const std::unique_ptr<SharedGpu>> gpus);
  ~DriverEvents();
  DriverEvents(const DriverEvents&) = delete;
  DriverEvents& operator=(const DriverEvents&) = delete;

  EventSet set() const { return set_; }

 private:
  DriverEvents(const NvmlApi& api, EventSet set) : api_(api), set_(set) {}

  const NvmlApi& api_;
  EventSet set_;
};

class EventLane final : public Lane {
 public:
  EventLane(const LaneContext& context, std::span<const std::unique_ptr<SharedGpu>> gpus,
            std::unique_ptr<DriverEvents> events);

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  Return wait(EventData& data, unsigned timeout_ms, Report& report);
  // False when the event means that everything must be listed again.
  bool tell(const EventData& data, Report& report);
  std::string uuid_of(Handle handle) const;

  LaneContext context_;
  LaneInfo info_;
  std::vector<std::pair<Handle, std::string>> uuids_;
  std::unique_ptr<DriverEvents> events_;
};

}  // namespace gpusight::collect::nvml
