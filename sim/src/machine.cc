#include "machine.h"

#include <algorithm>
#include <cmath>

#include "waveform.h"

namespace gpusight::sim {
namespace {

// The energy counter of real boards advances in steps of tens of milliseconds.
constexpr double kEnergyStepSeconds = 0.02;
// Thermal mass: the die follows the mean power of about this long.
constexpr double kThermalSeconds = 24;
constexpr double kIdleBelow = 0.015;
constexpr double kClockWindowSeconds = 0.5;
constexpr double kNoiseWatts = 1.5;
constexpr double kNoiseSlotsPerSecond = 50;
constexpr double kNearLimit = 0.97;  // of the power limit: from there on it holds the clocks back
constexpr double kSoftwareSlowdown = 0.75;
constexpr double kHardwareSlowdown = 0.5;
// Of the PCIe link at full activity.
constexpr double kPcieSentShare = 0.06;
constexpr double kPcieReceivedShare = 0.11;
constexpr std::uint64_t kPage = 2 << 20;  // what the driver hands out

// The driver's bits for what holds clocks back.
constexpr std::uint64_t kReasonApplication = 0x2;
constexpr std::uint64_t kReasonPowerCap = 0x4;
constexpr std::uint64_t kReasonHwSlowdown = 0x8;
constexpr std::uint64_t kReasonSyncBoost = 0x10;
constexpr std::uint64_t kReasonSwThermal = 0x20;
constexpr std::uint64_t kReasonHwThermal = 0x40;
constexpr std::uint64_t kReasonPowerBrake = 0x80;

// How many degrees on top of full load make software and hardware slow the board down.
double software_margin(const Board& b) {
  const int limit = b.gpu_max_celsius > 0 ? b.gpu_max_celsius : b.slowdown_celsius - 2;
  return limit > 0 ? limit - b.peak_celsius : 1000;
}
double hardware_margin(const Board& b) {
  return b.slowdown_celsius > 0 ? b.slowdown_celsius - b.peak_celsius : 1000;
}

// Bytes a second of a whole PCIe link.
double link_bytes(unsigned generation, unsigned width) {
  constexpr double kLaneGigabytes[] = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  return kLaneGigabytes[std::min(generation, 6U)] * 1e9 * width;
}

std::int64_t slot_of(double t, double per_second) {
  return static_cast<std::int64_t>(std::floor(t * per_second));
}

}  // namespace

std::optional<double> GpuModel::reading(std::string_view name) const {
  const auto found = gpu_.readings.find(name);
  if (found == gpu_.readings.end()) return std::nullopt;
  return found->second;
}

// A lower power limit scales the whole swing, so that power, its means and the energy counter
// agree.
double GpuModel::watts_at_activity(double activity) const {
  return board().idle_watts + (most_watts() - board().idle_watts) * activity;
}

double GpuModel::most_watts() const {
  const double limit = gpu_.power_limit_watts;
  return limit > 0 ? std::min(board().peak_watts, limit) : board().peak_watts;
}

double GpuModel::power(double t) const {
  if (const auto fixed = reading("power_watts")) return *fixed;
  const double activity = level(workload(), Channel::kActivity, local(t));
  const double jitter =
      noise(scenario_.seed, 100 + position_, slot_of(t, kNoiseSlotsPerSecond)) * kNoiseWatts;
  return std::max(1.0, watts_at_activity(activity) + jitter * (0.3 + activity));
}

double GpuModel::mean_power(double t, double window) const {
  if (const auto fixed = reading("average_watts")) return *fixed;
  const double activity = mean(workload(), Channel::kActivity, local(t) - window, local(t));
  const double jitter = noise(scenario_.seed, 200 + position_, slot_of(t, 10)) * kNoiseWatts;
  return std::max(1.0, watts_at_activity(activity) + jitter * 0.4);
}

double GpuModel::busy_seconds(double t) const {
  const double since_load =
      integral(workload(), Channel::kActivity, local(t)) -
      integral(workload(), Channel::kActivity, local(-scenario_.uptime_seconds));
  return std::max(0.0, since_load);
}

std::uint64_t GpuModel::energy_mj(double t) const {
  const double at = std::floor(t / kEnergyStepSeconds) * kEnergyStepSeconds;
  const Board& b = board();
  const double span = most_watts() - b.idle_watts;
  const double joules =
      b.idle_watts * std::max(0.0, at + scenario_.uptime_seconds) + span * busy_seconds(at);
  return static_cast<std::uint64_t>(joules * 1000);
}

double GpuModel::held_by_reason_seconds(std::uint64_t reason, double t) const {
  const Board& b = board();
  double seconds = conditions_.throttled_seconds(reason, t);
  if (reason == kReasonPowerCap && gpu_.power_limit_watts > 0) {
    // Where the limit lies below what full activity would draw, that share of busy time is held
    // back.
    const double over = std::max(0.0, b.peak_watts - gpu_.power_limit_watts * kNearLimit);
    seconds += busy_seconds(t) * std::min(1.0, over / b.peak_watts);
  }
  if (reason == kReasonSwThermal) seconds += conditions_.heated_seconds(software_margin(b), t);
  if (reason == kReasonHwThermal) seconds += conditions_.heated_seconds(hardware_margin(b), t);
  return seconds;
}

double GpuModel::held_seconds(Held by, double t) const {
  switch (by) {
    case Held::kPower: return held_by_reason_seconds(kReasonPowerCap, t);
    case Held::kThermal:
      return held_by_reason_seconds(kReasonSwThermal, t) +
             held_by_reason_seconds(kReasonHwThermal, t);
    case Held::kSyncBoost: return held_by_reason_seconds(kReasonSyncBoost, t);
    case Held::kBoard: return held_by_reason_seconds(kReasonPowerBrake, t);
    case Held::kIdle: return std::max(0.0, t + scenario_.uptime_seconds - busy_seconds(t));
    case Held::kReliability: return 0;
    case Held::kApplication: return held_by_reason_seconds(kReasonApplication, t);
    case Held::kBase:
      return held_seconds(Held::kPower, t) + held_seconds(Held::kThermal, t) +
             held_seconds(Held::kBoard, t);
  }
  return 0;
}

double GpuModel::busy(double t, double window) const {
  if (const auto fixed = reading("busy")) return *fixed;
  return std::clamp(mean(workload(), Channel::kActivity, local(t) - window, local(t)), 0.0, 1.0);
}

double GpuModel::memory_busy(double t, double window) const {
  if (const auto fixed = reading("memory_busy")) return *fixed;
  return std::clamp(mean(workload(), Channel::kMemory, local(t) - window, local(t)), 0.0, 1.0);
}

double GpuModel::encoder(double t, double window) const {
  if (const auto fixed = reading("encoder")) return *fixed;
  return mean(workload(), Channel::kEncoder, local(t) - window, local(t));
}

double GpuModel::decoder(double t, double window) const {
  if (const auto fixed = reading("decoder")) return *fixed;
  return mean(workload(), Channel::kDecoder, local(t) - window, local(t));
}

double GpuModel::jpeg(double t, double window) const {
  return reading("jpeg").value_or(mean(workload(), Channel::kJpeg, local(t) - window, local(t)));
}

double GpuModel::ofa(double t, double window) const {
  return reading("ofa").value_or(mean(workload(), Channel::kOfa, local(t) - window, local(t)));
}

double GpuModel::tensor(double t, double window) const {
  return mean(workload(), Channel::kTensor, local(t) - window, local(t));
}

double GpuModel::temperature(double t) const {
  if (const auto fixed = reading("celsius")) return *fixed;
  const Board& b = board();
  // Two windows, so that the approach to a new level is quick at first and then slow.
  const double heat = 0.6 * busy(t, kThermalSeconds) + 0.4 * busy(t, 4 * kThermalSeconds);
  return b.idle_celsius + (b.peak_celsius - b.idle_celsius) * heat + conditions_.extra_heat(t);
}

double GpuModel::memory_temperature(double t) const {
  return reading("memory_celsius").value_or(temperature(t) + 7);
}

unsigned GpuModel::fan_percent(double t, unsigned fan) const {
  if (const auto fixed = reading("fan_percent")) return static_cast<unsigned>(*fixed);
  // The driver tells what it intends, and a fan that stands still makes it intend the most.
  if (conditions_.active(FaultKind::kFanStopped, t, fan) != nullptr) return 100;
  // Boards with fans stop them when cool.
  const double celsius = temperature(t);
  if (celsius < 45) return 0;
  return static_cast<unsigned>(std::min(100.0, 30 + (celsius - 45) * 2));
}

unsigned GpuModel::fan_rpm(double t, unsigned fan) const {
  if (conditions_.active(FaultKind::kFanStopped, t, fan) != nullptr) return 0;
  // The fans of one board never turn quite alike.
  const unsigned rpm = fan_percent(t, fan) * board().fan_max_rpm / 100;
  return rpm == 0 ? 0 : rpm + fan * 17;
}

bool GpuModel::idle(double t) const {
  if (const auto fixed = reading("idle")) return *fixed != 0;
  return busy(t, kClockWindowSeconds) < kIdleBelow;
}

bool GpuModel::power_capped(double t) const {
  const Board& b = board();
  if (gpu_.power_limit_watts <= 0) return false;
  const double wanted = b.idle_watts + (b.peak_watts - b.idle_watts) * busy(t, kClockWindowSeconds);
  return wanted > gpu_.power_limit_watts * kNearLimit;
}

std::uint64_t GpuModel::throttle_reasons(double t) const {
  std::uint64_t bits = conditions_.throttle_reasons(t);
  if (power_capped(t)) bits |= kReasonPowerCap;
  const double heat = conditions_.extra_heat(t);
  if (heat > 0 && heat >= software_margin(board())) bits |= kReasonSwThermal;
  if (heat > 0 && heat >= hardware_margin(board())) bits |= kReasonHwThermal | kReasonHwSlowdown;
  // Both causes of hardware slowdown show in the sum of them too.
  if ((bits & (kReasonHwThermal | kReasonPowerBrake)) != 0) bits |= kReasonHwSlowdown;
  return bits;
}

unsigned GpuModel::graphics_mhz(double t) const {
  if (const auto fixed = reading("graphics_mhz")) return static_cast<unsigned>(*fixed);
  const Board& b = board();
  if (idle(t)) return b.idle_graphics_mhz;
  // Clocks move in steps of 15 MHz, and sink a little with the load.
  const double load = busy(t, kClockWindowSeconds);
  const int steps = static_cast<int>(std::lround(load * 6 + (power_capped(t) ? 8 : 0)));
  const auto sunk = static_cast<unsigned>(15 * std::max(0, steps));
  const unsigned free = b.max_graphics_mhz - std::min(sunk, b.max_graphics_mhz);
  double share = conditions_.clock_share(t);
  const std::uint64_t reasons = throttle_reasons(t);
  if ((reasons & kReasonSwThermal) != 0) share *= kSoftwareSlowdown;
  if ((reasons & kReasonHwThermal) != 0) share *= kHardwareSlowdown;
  if (share >= 1) return free;
  return std::max(b.idle_graphics_mhz, static_cast<unsigned>(free * share / 15) * 15);
}

unsigned GpuModel::memory_mhz(double t) const {
  if (const auto fixed = reading("memory_mhz")) return static_cast<unsigned>(*fixed);
  return idle(t) ? board().idle_memory_mhz : board().max_memory_mhz;
}

unsigned GpuModel::video_mhz(double t) const {
  if (const auto fixed = reading("video_mhz")) return static_cast<unsigned>(*fixed);
  return idle(t) ? board().idle_video_mhz : board().max_video_mhz;
}

unsigned GpuModel::performance_state(double t) const {
  if (const auto fixed = reading("pstate")) return static_cast<unsigned>(*fixed);
  return idle(t) ? board().idle_pstate : board().busy_pstate;
}

unsigned GpuModel::pcie_generation(double t) const {
  if (const auto fixed = reading("pcie_generation")) return static_cast<unsigned>(*fixed);
  const unsigned free = idle(t) ? board().pcie_idle_generation : board().pcie_generation;
  const Fault* worse = conditions_.active(FaultKind::kPcieLink, t);
  return worse == nullptr || worse->what == 0 ? free : std::min(free, worse->what);
}

unsigned GpuModel::pcie_width(double t) const {
  if (const auto fixed = reading("pcie_width")) return static_cast<unsigned>(*fixed);
  const Fault* worse = conditions_.active(FaultKind::kPcieLink, t);
  if (worse == nullptr || worse->amount <= 0) return board().pcie_width;
  return std::min(board().pcie_width, static_cast<unsigned>(worse->amount));
}

double GpuModel::pcie_errors(PcieCounter counter, double t) const {
  const double before = counter == PcieCounter::kReplay ? gpu_.replay_counter : 0;
  return before + conditions_.counted(FaultKind::kPcieErrors, static_cast<unsigned>(counter), 0, t);
}

double GpuModel::pcie_bytes(bool sent, double t) const {
  const double share = sent ? kPcieSentShare : kPcieReceivedShare;
  return busy_seconds(t) * link_bytes(board().pcie_generation, board().pcie_width) * share;
}

double GpuModel::pcie_bytes_per_second(bool sent, double t) const {
  if (const auto fixed = reading(sent ? "pcie_sent_kbps" : "pcie_received_kbps")) {
    return *fixed * 1000;
  }
  const double share = sent ? kPcieSentShare : kPcieReceivedShare;
  constexpr double kHousekeeping = 350e3;  // what an idle board's link carries
  return link_bytes(pcie_generation(t), pcie_width(t)) * share * busy(t, 0.02) + kHousekeeping;
}

std::uint64_t GpuModel::ecc_errors(bool uncorrected, bool aggregate, EccLocation where,
                                   double t) const {
  const auto place = static_cast<unsigned>(where);
  double sum = 0;
  conditions_.each(FaultKind::kEccErrors, [&](const Fault& fault) {
    if (fault.what != place || fault.code != (uncorrected ? 1U : 0U) || t < fault.at) return;
    // What is pending is of an earlier life of the driver: only the aggregate has it.
    if (fault.pending && !aggregate) return;
    sum += fault.amount + std::floor(fault.per_second * conditions_.lasted(fault, t));
  });
  constexpr double kMost = 1e17;  // so that all places together are a number too
  return static_cast<std::uint64_t>(std::min(sum, kMost));
}

std::uint64_t GpuModel::ecc_errors(bool uncorrected, bool aggregate, double t) const {
  std::uint64_t sum = 0;
  for (unsigned place = 0; place <= static_cast<unsigned>(EccLocation::kSram); ++place) {
    sum += ecc_errors(uncorrected, aggregate, static_cast<EccLocation>(place), t);
  }
  return sum;
}

bool GpuModel::has_nvlinks() const {
  if (board().nvlinks == 0 || gpu_.mig) return false;
  return !board().nvlink_bridge || scenario_.gpus.size() > 1;
}

bool GpuModel::nvlink_up(unsigned link, double t) const {
  return has_nvlinks() && link < board().nvlinks &&
         conditions_.active(FaultKind::kNvlinkDown, t, link) == nullptr;
}

std::optional<std::size_t> GpuModel::nvlink_peer(unsigned link) const {
  const std::size_t gpus = scenario_.gpus.size();
  if (board().nvswitch || gpus < 2) return std::nullopt;
  if (board().nvlink_bridge) return position_ ^ 1U;  // in pairs
  return (position_ + 1 + link % (gpus - 1)) % gpus;
}

std::uint64_t GpuModel::process_memory(const RunningProcess& process, double t) const {
  const ProcessSpec& spec = *process.spec;
  const double lived = std::max(0.0, t - process.since);
  const double share = spec.memory_share + spec.memory_growth_share * lived;
  const auto most = static_cast<double>(memory_total() - memory_reserved());
  return spec.memory_bytes +
         static_cast<std::uint64_t>(std::min(1.0, share) * most / static_cast<double>(kPage)) *
             kPage;
}

std::uint64_t GpuModel::memory_used(double t) const {
  if (const auto fixed = reading("used_mib")) return static_cast<std::uint64_t>(*fixed) << 20;
  std::uint64_t used = 0;
  for (const RunningProcess& process : processes(t)) used += process_memory(process, t);
  return std::min(used, memory_total() - memory_reserved());
}

std::uint64_t GpuModel::bar1_used(double t) const {
  if (const auto fixed = reading("bar1_used_mib")) return static_cast<std::uint64_t>(*fixed) << 20;
  return (2 + processes(t).size() * 4) << 20;
}

std::optional<RunningProcess> running_at(const ProcessSpec& process, double t) {
  if (t < process.from || t >= process.until) return std::nullopt;
  const double start = std::isinf(process.from) ? 0 : process.from;
  if (process.every_seconds <= 0) return RunningProcess{&process, process.pid, start};
  const double round = std::floor((t - start) / process.every_seconds);
  const double since = start + round * process.every_seconds;
  if (t - since >= process.for_seconds) return std::nullopt;
  const auto later = static_cast<unsigned>(static_cast<std::int64_t>(round) & 0x3FF);
  return RunningProcess{&process, process.pid + later, since};
}

std::vector<RunningProcess> GpuModel::processes(double t) const {
  std::vector<RunningProcess> result;
  for (const ProcessSpec& process : scenario_.processes) {
    const auto here = static_cast<unsigned>(position_);
    if (std::find(process.gpus.begin(), process.gpus.end(), here) == process.gpus.end()) continue;
    if (const auto running = running_at(process, t)) result.push_back(*running);
  }
  return result;
}

const InstanceSpec* GpuModel::instance_in_slot(unsigned slot, double t) const {
  if (!gpu_.mig) return nullptr;
  for (const InstanceSpec& instance : gpu_.instances) {
    if (instance.slot == slot && t >= instance.from && t < instance.until) return &instance;
  }
  return nullptr;
}

const InstanceSpec* GpuModel::instance_of(unsigned gpu_instance, double t) const {
  for (unsigned slot = 0; slot < gpu_.max_instances; ++slot) {
    const InstanceSpec* instance = instance_in_slot(slot, t);
    if (instance != nullptr && instance->gpu_instance == gpu_instance) return instance;
  }
  return nullptr;
}

double GpuModel::instance_share(unsigned gpu_instance, double t) const {
  double share = 0;
  for (const RunningProcess& process : processes(t)) {
    if (process.spec->gpu_instance == gpu_instance) share += process.spec->share;
  }
  return std::min(1.0, share);
}

}  // namespace gpusight::sim
