#include "collect/amdgpu/amdgpu_source.h"

#include <algorithm>
#include <map>
#include <set>

#include "collect/amdgpu/amd_device.h"
#include "collect/amdgpu/idle_release.h"
#include "collect/amdgpu/lanes.h"
#include "collect/amdgpu/process_lane.h"

namespace gpusight::collect {
namespace amdgpu {
namespace {

using catalog::MessageId;
using catalog::MetricId;
using model::DeviceState;
using model::SourcePhase;
using platform::DrmDevice;
using platform::RootFs;

constexpr std::string_view kDriver = "amdgpu";

const std::vector<MetricId>& declared() {
  static const std::vector<MetricId> kDeclared = [] {
    std::set<MetricId> all;
    for (const auto metrics : {fast_metrics(), slow_metrics(), process_metrics()}) {
      all.insert(metrics.begin(), metrics.end());
    }
    return std::vector<MetricId>(all.begin(), all.end());
  }();
  return kDeclared;
}

std::vector<DrmDevice> amdgpu_devices(const RootFs& root) {
  std::vector<DrmDevice> devices = platform::drm_devices(root);
  std::erase_if(devices, [](const DrmDevice& device) {
    return device.driver != kDriver || device.address.empty();
  });
  std::ranges::stable_sort(devices, platform::natural_less, &DrmDevice::address);
  return devices;
}

class AmdgpuGeneration final : public Generation {
 public:
  explicit AmdgpuGeneration(const SourceOptions& options)
      : root_(options.root), disabled_(options.disabled) {}

  void add(AmdDevice device, std::shared_ptr<DeviceWork> work) {
    const auto gpu = std::make_shared<const AmdDevice>(std::move(device));
    devices_.push_back(gpu->device);
    lanes_.push_back(make_fast_lane(root_, gpu, work));
    lanes_.push_back(make_slow_lane(root_, gpu, disabled_));
    gpus_.push_back({gpu, std::move(work)});
  }

  // After the last GPU was added.
  void add_processes() {
    const bool is_wanted = !disabled_.has(MetricId::kGpuProcesses);
    lanes_.push_back(make_process_lane(root_, std::move(gpus_), is_wanted));
  }

  std::span<const model::Device> devices() const override { return devices_; }
  std::span<const std::unique_ptr<Lane>> lanes() const override { return lanes_; }

 private:
  RootFs root_;
  catalog::MetricSet disabled_;
  std::vector<model::Device> devices_;
  std::vector<ProcessesOf> gpus_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

class AmdgpuSource final : public Source {
 public:
  explicit AmdgpuSource(const SourceOptions& options) : options_(options) {}

  std::string_view name() const override { return kDriver; }
  std::span<const MetricId> declares() const override { return declared(); }
  Opened open() override;
  Wish watch(const Activity& activity) override;
  std::vector<std::pair<model::Device, DeviceState>> untouched() const override {
    return untouched_;
  }

 private:
  // What the source knows of a device, by its address, for as long as it is there.
  struct Seen {
    std::string node;
    bool is_opened = false;
    std::optional<model::Device> known;  // as it was read when it was last awake
    std::shared_ptr<DeviceWork> work;    // while it is opened
    IdleRelease release;
  };

  void open_device(const DrmDevice& drm, AmdgpuGeneration& generation);
  void leave_alone(const DrmDevice& drm);
  model::SourceStatus status() const;
  void explain_absence(model::SourceStatus& status) const;
  bool wants_change(const DrmDevice& drm, Seen& seen);

  const RootFs& root() const { return options_.root; }
  MonoTime now() const { return options_.clock->mono(); }

  SourceOptions options_;
  std::map<std::string, Seen> seen_;
  std::set<std::string> uuids_;  // of the generation in hand
  std::vector<std::pair<model::Device, DeviceState>> untouched_;
};

Opened AmdgpuSource::open() {
  const std::vector<DrmDevice> devices = amdgpu_devices(root());
  std::erase_if(seen_, [&](const auto& item) {
    return std::ranges::find(devices, item.first, &DrmDevice::address) == devices.end();
  });
  untouched_.clear();
  uuids_.clear();
  auto generation = std::make_unique<AmdgpuGeneration>(options_);
  for (const DrmDevice& drm : devices) {
    const bool sleeps = platform::is_asleep(platform::runtime_status_in(root(), drm.folder));
    Seen& seen = seen_[drm.address];
    seen.node = drm.node;
    seen.is_opened = !sleeps && !seen.release.is_released();
    if (seen.is_opened) {
      open_device(drm, *generation);
    } else {
      leave_alone(drm);
    }
  }
  Opened opened{.status = status(), .untouched = untouched_};
  if (generation->devices().empty()) return opened;
  generation->add_processes();
  opened.generation = std::move(generation);
  return opened;
}

void AmdgpuSource::open_device(const DrmDevice& drm, AmdgpuGeneration& generation) {
  Seen& seen = seen_[drm.address];
  AmdDevice gpu = read_amd_device(root(), drm);
  // Boards that were given one number identify nobody: the later ones go by their place.
  if (!uuids_.insert(gpu.device.uuid).second) gpu.device.uuid = "PCI-" + drm.address;
  seen.known = gpu.device;
  if (!seen.work) seen.work = std::make_shared<DeviceWork>(now());
  generation.add(std::move(gpu), seen.work);
}

void AmdgpuSource::leave_alone(const DrmDevice& drm) {
  Seen& seen = seen_[drm.address];
  seen.work.reset();
  untouched_.emplace_back(seen.known.value_or(device_on_bus(root(), drm)), DeviceState::kAsleep);
}

model::SourceStatus AmdgpuSource::status() const {
  model::SourceStatus status{.name = std::string(kDriver)};
  const auto opened = std::ranges::find_if(seen_, [](const auto& s) { return s.second.is_opened; });
  if (opened != seen_.end()) {
    status.phase = SourcePhase::kRunning;
    status.message = MessageId::kSourceRunning;
    status.arguments = {std::to_string(seen_.size()), opened->second.known->driver};
  } else if (!seen_.empty()) {
    status.phase = SourcePhase::kAsleep;
    status.message = MessageId::kAmdgpuAllAsleep;
  } else {
    status.phase = SourcePhase::kAbsent;
    explain_absence(status);
  }
  return status;
}

// A GPU of AMD that another driver holds, or none.
void AmdgpuSource::explain_absence(model::SourceStatus& status) const {
  status.message = MessageId::kAmdgpuNone;
  const auto tell = [&](const std::string& address, const std::string& driver) {
    status.message = driver.empty() ? MessageId::kAmdgpuNoDriver : MessageId::kAmdgpuOtherDriver;
    status.arguments = {address};
    if (!driver.empty()) status.arguments.push_back(driver);
  };
  for (const auto& device : platform::display_devices(root(), platform::kVendorAmd)) {
    if (device.driver != kDriver) return tell(device.address, device.driver);
  }
  for (const DrmDevice& device : platform::drm_devices(root())) {
    const bool is_other = device.vendor == platform::kVendorAmd && device.driver != kDriver;
    if (is_other && !device.address.empty()) return tell(device.address, device.driver);
  }
}

Wish AmdgpuSource::watch(const Activity& activity) {
  const std::vector<DrmDevice> devices = amdgpu_devices(root());
  bool open = devices.size() != seen_.size();
  for (const DrmDevice& drm : devices) {
    const auto at = seen_.find(drm.address);
    open = at == seen_.end() || wants_change(drm, at->second) || open;
  }
  if (open) return Wish::kOpen;
  // Somebody closed what should be open.
  const bool should_be_open =
      std::ranges::any_of(seen_, [](const auto& item) { return item.second.is_opened; });
  return should_be_open && !activity.is_open ? Wish::kOpen : Wish::kStay;
}

bool AmdgpuSource::wants_change(const DrmDevice& drm, Seen& seen) {
  const auto status = platform::runtime_status_in(root(), drm.folder);
  if (drm.node != seen.node) return true;
  if (seen.release.is_released()) return seen.release.should_return(status, now());
  if (platform::is_asleep(status) == seen.is_opened) return true;
  if (!seen.is_opened || !seen.work) return false;
  // Work is seen once a tick only: what was busy at the last look may be so until the next.
  constexpr Duration kUsualTick = std::chrono::seconds(1);
  const Duration unseen = 2 * std::max<Duration>(options_.interval - kUsualTick, {});
  const Duration idle_for = now() - seen.work->last() - unseen;
  if (idle_for < std::chrono::seconds(1)) return false;
  if (platform::drives_a_screen(root(), drm)) return false;
  const auto power = platform::pci_power_in(root(), drm.folder);
  return seen.release.should_release(power, idle_for, now());
}

}  // namespace
}  // namespace amdgpu

std::unique_ptr<Source> create_amdgpu_source(const SourceOptions& options) {
  return std::make_unique<amdgpu::AmdgpuSource>(options);
}

}  // namespace gpusight::collect
