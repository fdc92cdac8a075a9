// What the lanes of a GPU have in common: whether it sleeps comes before everything, a device that
// is gone is lost, and what nothing was said of is said to be not supported.
//
// Threads: as collect/source.h says. A generation is gone before the next one's lanes begin.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "collect/amdgpu/amd_device.h"
#include "collect/amdgpu/file_reader.h"
#include "collect/amdgpu/throttle_events.h"
#include "collect/source.h"

namespace gpusight::collect::amdgpu {

// What outlives a generation of a GPU: when it last showed work, which its fast lane writes and the
// control thread reads, and what only the fast lane in hand uses.
class DeviceWork {
 public:
  explicit DeviceWork(MonoTime now) { note(now); }
  void note(MonoTime now) { last_.store(now.time_since_epoch().count()); }
  MonoTime last() const { return MonoTime(MonoTime::duration(last_.load())); }
  ThrottleEvents& throttle_events() { return throttle_events_; }

 private:
  std::atomic<MonoTime::duration::rep> last_{0};
  ThrottleEvents throttle_events_;
};

class DeviceLane : public Lane {
 public:
  const LaneInfo& info() const final { return info_; }
  Verdict poll(Report& report) final;
  // Files opened by the last poll.
  unsigned reads() const { return reader_.reads(); }

 protected:
  DeviceLane(const platform::RootFs& root, std::shared_ptr<const AmdDevice> gpu,
             LaneCadence cadence);
  // The device is awake and there.
  virtual void read(Report& report) = 0;
  virtual std::span<const catalog::MetricId> metrics() const = 0;

  const AmdDevice& gpu() const { return *gpu_; }
  FileReader& reader() { return reader_; }

 private:
  platform::RootFs root_;
  std::shared_ptr<const AmdDevice> gpu_;
  LaneInfo info_;
  FileReader reader_{root_};
};

// What was set of a metric in this poll, about the subject in hand; nullopt: nothing fresh.
std::optional<double> told(const Report& report, catalog::MetricId metric,
                           std::string_view label = {});

}  // namespace gpusight::collect::amdgpu
