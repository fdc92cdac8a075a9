// The source behind nvml_source.h, with what tests replace.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/nvml/bind_watch.h"
#include "collect/nvml/diagnosis.h"
#include "collect/nvml/generation.h"
#include "collect/nvml/known_devices.h"
#include "collect/nvml/nvml_library.h"
#include "collect/nvml/sleep_watch.h"
#include "collect/source.h"

namespace gpusight::collect::nvml {

struct Environment {
  std::function<Loaded(const SourceOptions&)> load = load_library;
  DeviceFiles device_files = real_device_files();
};

class NvmlSource final : public Source {
 public:
  NvmlSource(SourceOptions options, Environment environment);

  std::string_view name() const override { return "nvml"; }
  std::span<const catalog::MetricId> declares() const override;
  Opened open() override;
  Wish watch(const Activity& activity) override;
  std::vector<std::pair<model::Device, model::DeviceState>> untouched() const override;

 private:
  // The devices on the bus as open() sees them.
  struct Bus {
    std::vector<platform::PciDevice> devices;
    std::vector<std::string> awake;  // those of the driver, or of none yet
    std::vector<std::string> asleep;
    bool is_any_taken = false;  // there is one that its driver has lost (bind_watch.h): in neither
    bool all_sleep() const { return awake.empty() && !asleep.empty(); }
  };

  Bus look_at_bus() const;
  Opened open_library(const Bus& bus, const std::shared_ptr<NvmlLibrary>& library);
  model::SourceStatus status_of(const NvmlLibrary& library, const Enumeration& found);
  Opened all_asleep(const Bus& bus);
  Opened absent(const Problem& problem, const Bus& bus);
  void set_untouched(const std::vector<std::string>& asleep,
                     const std::vector<model::Device>& lost);
  void list_released();
  Activity seen(Activity activity) const;
  Wish look_for_change();
  std::string traces() const;

  SourceOptions options_;
  Environment environment_;
  std::shared_ptr<KnownDevices> known_ = std::make_shared<KnownDevices>();
  std::shared_ptr<NvrmWatch> nvrm_ = std::make_shared<NvrmWatch>();
  SleepWatch sleep_;
  BindWatch bind_;

  model::SourcePhase phase_ = model::SourcePhase::kStarting;
  catalog::MessageId message_ = catalog::MessageId::kSourceStarting;
  std::vector<std::pair<model::Device, model::DeviceState>> untouched_;
  std::vector<model::Device> opened_;  // GPUs of the last generation
  bool has_worked_ = false;            // a library was opened and had devices, in this run
  std::string traces_;                 // what the machine looked like at the last open()
  Backoff absent_retry_{std::chrono::seconds(1), std::chrono::seconds(60)};
  Backoff lost_retry_{std::chrono::seconds(10), std::chrono::seconds(60)};
};

}  // namespace gpusight::collect::nvml
