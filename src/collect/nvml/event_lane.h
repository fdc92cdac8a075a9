// What happens to devices between two ticks: the driver's own events, of which there is one set for
// a generation, and what its kernel module writes to the kernel log. The lane waits on the set.
#pragma once

#include <map>
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
            std::unique_ptr<DriverEvents> events);  // nullptr: only the log

  const LaneInfo& info() const override { return info_; }
  Verdict poll(Report& report) override;

 private:
  Return wait(EventData& data, unsigned timeout_ms, Report& report);
  // False when the event means that everything must be listed again.
  bool tell(const EventData& data, Report& report);
  void tell_xid(model::Event event, XidWay way, Report& report);
  void read_log(Report& report);
  // Such events may come many times a second: one in a while, with how many there were.
  bool is_due(const model::Event& event, MonoTime now, uint64_t& more);
  std::string uuid_of(Handle handle) const;
  std::string uuid_at(const std::string& pci) const;

  LaneContext context_;
  LaneInfo info_;
  std::vector<std::pair<Handle, std::string>> uuids_;
  std::map<std::string, std::string> uuid_by_pci_;
  const KnownDevices* known_ = nullptr;
  std::unique_ptr<DriverEvents> events_;

  struct Frequent {
    MonoTime told_at{};
    uint64_t more = 0;
  };
  std::map<std::pair<std::string, int64_t>, Frequent> frequent_;  // by device and mask
};

}  // namespace gpusight::collect::nvml
