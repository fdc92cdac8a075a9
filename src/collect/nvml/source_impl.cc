#include "collect/nvml/source_impl.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "collect/nvml/descriptor_limit.h"
#include "collect/nvml/lane_parts.h"
#include "collect/nvml/nvml_source.h"
#include "collect/nvml/return_code.h"

namespace gpusight::collect {
namespace nvml {
namespace {

using catalog::MessageId;
using catalog::MetricId;
using model::DeviceState;
using model::SourcePhase;

// What the lanes set, the companions of the means, and why XID errors cannot be counted (counting
// is done from the events).
const std::vector<MetricId>& declared() {
  static const std::vector<MetricId> kDeclared = [] {
    std::set<MetricId> all{MetricId::kGpuXidErrors, MetricId::kGpuXidCodeErrors,
                           MetricId::kGpuXidLast, MetricId::kGpuXidLastTime};
    for (const auto metrics : {fast_metrics(), slow_metrics(), instance_metrics()}) {
      all.insert(metrics.begin(), metrics.end());
    }
    for (const catalog::MetricRow& row : catalog::metrics()) {
      if (row.mean_row && all.contains(*row.mean_row)) all.insert(row.id);
    }
    return std::vector<MetricId>(all.begin(), all.end());
  }();
  return kDeclared;
}

// One whose place is not known is held as an empty address: it never sleeps.
std::vector<std::string> addresses_of(const std::vector<Gpu>& gpus) {
  std::vector<std::string> addresses;
  addresses.reserve(gpus.size());
  for (const Gpu& gpu : gpus) addresses.push_back(gpu.device.pci);
  return addresses;
}

}  // namespace

NvmlSource::NvmlSource(SourceOptions options, Environment environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      sleep_(options_.root, *options_.clock),
      bind_(options_.root, *options_.clock) {
  nvrm_->open(options_.root);  // what is logged before the driver is opened counts as well
}

std::span<const MetricId> NvmlSource::declares() const { return declared(); }

std::vector<std::pair<model::Device, DeviceState>> NvmlSource::untouched() const {
  return untouched_;
}

NvmlSource::Bus NvmlSource::look_at_bus() const {
  Bus bus;
  bus.devices = platform::display_devices(options_.root, platform::kVendorNvidia);
  const std::vector<std::string> taken = bind_.taken();
  for (const platform::PciDevice& device : bus.devices) {
    if (std::ranges::find(taken, device.address) != taken.end() &&
        platform::pci_driver(options_.root, device.address) != "nvidia") {
      bus.is_any_taken = true;
      continue;
    }
    // Another driver's device is nothing that this library could wake or read.
    if (!device.driver.empty() && device.driver != "nvidia") continue;
    const auto status = platform::runtime_status(options_.root, device.address);
    (platform::is_asleep(status) ? bus.asleep : bus.awake).push_back(device.address);
  }
  return bus;
}

Opened NvmlSource::open() {
  traces_ = traces();
  Bus bus = look_at_bus();
  // A simulated library on a real machine has nothing to do with what is on its bus. To know, the
  // library is opened, which calls nothing in it; only one that was named can be simulated.
  std::optional<Loaded> loaded;
  if (!options_.nvml_path.empty() && options_.root.is_real()) {
    loaded = environment_.load(options_);
    const auto* library = std::get_if<std::shared_ptr<NvmlLibrary>>(&*loaded);
    if (library != nullptr && (*library)->simulated) bus = {};
  }
  if (bus.all_sleep()) return all_asleep(bus);
  if (!loaded) loaded = environment_.load(options_);
  if (const auto* problem = std::get_if<Problem>(&*loaded)) {
    const Diagnosis diagnosis(options_.root, bus.devices, environment_.device_files);
    // What was named by hand is what must be put right, whatever is on the bus.
    const bool named = !options_.nvml_path.empty();
    return absent(named ? *problem : diagnosis.without_library(*problem), bus);
  }
  return open_library(bus, std::get<std::shared_ptr<NvmlLibrary>>(*loaded));
}

Opened NvmlSource::open_library(const Bus& bus, const std::shared_ptr<NvmlLibrary>& library) {
  if (const auto before = lower_descriptor_limit()) {
    log::info(
        "lowered the limit of open files from {} to {}: the NVIDIA library would walk through "
        "all of them",
        *before, kMostDescriptors);
  }
  const Diagnosis diagnosis(options_.root, bus.devices, environment_.device_files);
  CallMeter meter(*options_.clock);
  const Return started = meter(library->api.init);
  if (started != Return::kSuccess) {
    return absent(diagnosis.init_failed(started, *library, meter), bus);
  }
  auto session = std::make_unique<LibrarySession>(library);
  // With a sleeper on the bus, asking by index would wake it; and hold again what is being unbound.
  const bool may_ask_all = bus.asleep.empty() && !bus.is_any_taken;
  Enumeration found = may_ask_all ? enumerate_all(meter, library->api, bus.devices, *known_)
                                  : enumerate_at(meter, library->api, bus.awake, *known_);
  // When no device answers and none is lost, what they say is the thing to show.
  if (found.gpus.empty() && found.lost.size() == found.failed) {
    return absent(diagnosis.no_devices(found.failure, found.refused), bus);
  }
  opened_.clear();
  for (const Gpu& gpu : found.gpus) {
    known_->remember(gpu.device);
    opened_.push_back(gpu.device);
  }
  absent_retry_.restart();
  // Addresses of simulated devices may be those of real ones.
  const bool on_this_bus = !library->simulated || !options_.root.is_real();
  const std::vector<std::string> addresses =
      on_this_bus ? addresses_of(found.gpus) : std::vector<std::string>();
  sleep_.opened(addresses, bus.asleep);
  bind_.opened(addresses);
  set_untouched(bus.asleep, found.lost);
  Opened result{.status = status_of(*library, found), .untouched = untouched_};
  if (found.gpus.empty()) return result;  // all lost: nothing to read, everything to show
  LaneContext context{.clock = options_.clock,
                      .root = options_.root,
                      .interval = options_.interval,
                      .pace = options_.pace,
                      .disabled = not_needed(options_.disabled)};
  if (!on_this_bus) context.kernel_files = KernelFiles::kOfOthers;
  if (on_this_bus && nvrm_->open(options_.root)) context.nvrm = nvrm_;
  result.generation = std::make_unique<NvmlGeneration>(std::move(session), std::move(found.gpus),
                                                       context, known_, meter);
  return result;
}

// What an opened library's devices make of the source; also starts or ends the retries.
model::SourceStatus NvmlSource::status_of(const NvmlLibrary& library, const Enumeration& found) {
  model::SourceStatus status{.name = std::string(name()), .simulated = library.simulated};
  const size_t all = found.gpus.size() + found.lost.size();
  has_worked_ = true;
  if (found.lost.empty()) {
    phase_ = SourcePhase::kRunning;
    message_ = library.simulated ? MessageId::kSourceSimulated : MessageId::kSourceRunning;
    status.arguments = {std::to_string(all), found.gpus.front().device.driver};
    lost_retry_.restart();
  } else {
    phase_ = SourcePhase::kDegraded;
    message_ = MessageId::kSourceDegraded;
    const auto pause = std::chrono::duration_cast<std::chrono::seconds>(lost_retry_.wait());
    status.arguments = {std::to_string(found.gpus.size()), std::to_string(all),
                        std::to_string(pause.count())};
    lost_retry_.schedule(options_.clock->mono());
  }
  status.phase = phase_;
  status.message = message_;
  return status;
}

Opened NvmlSource::all_asleep(const Bus& bus) {
  phase_ = SourcePhase::kAsleep;
  message_ = MessageId::kNvmlAllAsleep;
  opened_.clear();
  sleep_.opened({}, bus.asleep);
  bind_.opened({});
  set_untouched(bus.asleep, {});
  absent_retry_.restart();
  return {.status = {.name = std::string(name()), .phase = phase_, .message = message_},
          .untouched = untouched_};
}

Opened NvmlSource::absent(const Problem& problem, const Bus& bus) {
  phase_ = SourcePhase::kAbsent;
  message_ = problem.message;
  opened_.clear();
  sleep_.opened({}, bus.asleep);
  bind_.opened({});
  set_untouched(bus.asleep, {});
  absent_retry_.schedule(options_.clock->mono());
  return {.status = {.name = std::string(name()),
                     .phase = phase_,
                     .message = message_,
                     .arguments = problem.arguments},
          .untouched = untouched_};
}

void NvmlSource::set_untouched(const std::vector<std::string>& asleep,
                               const std::vector<model::Device>& lost) {
  untouched_.clear();
  for (const std::string& address : asleep) {
    untouched_.emplace_back(known_->by_pci(address).value_or(device_at(address)),
                            DeviceState::kAsleep);
  }
  for (const model::Device& device : lost) untouched_.emplace_back(device, DeviceState::kLost);
  for (const std::string& address : bind_.taken()) {
    if (const auto device = known_->by_pci(address)) {
      untouched_.emplace_back(*device, DeviceState::kReleased);
    }
  }
}

// All that was open a moment ago, and what was taken before.
void NvmlSource::list_released() {
  std::erase_if(untouched_,
                [](const auto& entry) { return entry.second == DeviceState::kReleased; });
  for (const model::Device& device : opened_) {
    // One that left the bus was not taken by anybody: it is missed.
    const bool is_there = device.pci.empty() || platform::is_on_bus(options_.root, device.pci);
    untouched_.emplace_back(device, is_there ? DeviceState::kReleased : DeviceState::kLost);
  }
  for (const std::string& address : bind_.taken()) {
    const bool is_listed = std::ranges::any_of(
        opened_, [&](const model::Device& device) { return device.pci == address; });
    const auto device = known_->by_pci(address);
    if (!is_listed && device) untouched_.emplace_back(*device, DeviceState::kReleased);
  }
}

// Where nobody looks whether a device works it is never idle: processes tell of computing only.
Activity NvmlSource::seen(Activity activity) const {
  if (options_.disabled.has(MetricId::kGpuUtilization)) activity.idle_for = {};
  return activity;
}

Wish NvmlSource::watch(const Activity& activity) {
  const MonoTime now = options_.clock->mono();
  if (const Wish wish = bind_.look(activity.is_open); wish != Wish::kStay || bind_.has_let_go()) {
    if (wish == Wish::kLetGo) list_released();
    return wish;
  }
  const Wish wish = sleep_.look(seen(activity));
  if (wish == Wish::kClose) {
    // Let go of; they are on their way to sleep, and nobody touches them.
    for (const model::Device& device : opened_) {
      untouched_.emplace_back(device, DeviceState::kAsleep);
    }
  }
  if (wish != Wish::kStay) return wish;
  if (phase_ == SourcePhase::kDegraded && !sleep_.has_released() && lost_retry_.is_due(now)) {
    return Wish::kOpen;
  }
  if (!activity.is_open && phase_ == SourcePhase::kAbsent && absent_retry_.is_due(now)) {
    return look_for_change();
  }
  return Wish::kStay;
}

// Opening again is worth it when the machine looks different, and now and then for what leaves no
// trace outside the driver.
Wish NvmlSource::look_for_change() {
  absent_retry_.schedule(options_.clock->mono());
  if (traces() != traces_) {
    absent_retry_.restart();
    return Wish::kOpen;
  }
  // A library that was named by hand or has worked before is meant to work: it is tried at each
  // turn.
  if (!options_.nvml_path.empty() || has_worked_) return Wish::kOpen;
  const bool traceless = message_ == MessageId::kNvmlInitFailed ||
                         message_ == MessageId::kNvmlNoDevices ||
                         message_ == MessageId::kNvmlAccessRevoked;
  return traceless && absent_retry_.is_at_longest() ? Wish::kOpen : Wish::kStay;
}

// Whatever of the machine would change if a driver or a library came or went: names, drivers, times
// and modes, nothing that is opened.
std::string NvmlSource::traces() const {
  std::string seen = kernel_driver_version(options_.root);
  const auto add_file = [&seen](const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return;
    seen += fmt::format(";{}:{}:{}:{}:{}:{:o}", path, info.st_ino, info.st_mtim.tv_sec, info.st_uid,
                        info.st_gid, info.st_mode);
  };
  for (const auto& device : platform::display_devices(options_.root, platform::kVendorNvidia)) {
    seen += fmt::format(";{}={}", device.address, device.driver);
  }
  add_file(options_.root.real_path("/dev/nvidiactl"));
  if (!options_.nvml_path.empty()) {
    add_file(options_.nvml_path);
    return seen;
  }
  add_file(options_.root.real_path("/etc/ld.so.cache"));
  for (const std::string& path : known_places(options_.root)) add_file(path);
  return seen;
}

}  // namespace nvml

std::unique_ptr<Source> create_nvml_source(const SourceOptions& options) {
  return std::make_unique<nvml::NvmlSource>(options, nvml::Environment{});
}

}  // namespace gpusight::collect
