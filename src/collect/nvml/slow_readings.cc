#include "collect/nvml/slow_readings.h"

#include <algorithm>
#include <array>

#include "collect/nvml/field_tables.h"
#include "collect/nvml/readings.h"
#include "collect/nvml/video_sessions.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using enum catalog::MetricId;

constexpr double kPerCent = 0.01;
constexpr double kMilli = 0.001;
constexpr double kMicro = 1e-6;
constexpr double kMegahertz = 1e6;
constexpr double kKibi = 1024;
constexpr double kKilo = 1000;
constexpr unsigned kMostFans = 8;  // asked one by one
constexpr unsigned kMostVgpus = 64;
constexpr uint32_t kSlowBatch = 1;
constexpr uint32_t kLinkCountBatch = 2;
constexpr uint32_t kLinkBatch = 3;
constexpr uint32_t kFieldLinkCount = 91;
// The driver measures the traffic of that long for an answer, and blocks meanwhile.
constexpr Duration kThroughputWindow = std::chrono::milliseconds(20);

// clang-format off
// One number of 32 bits, one call.
struct NumberRow {
  Return (*NvmlApi::*call)(Handle, unsigned*);
  MetricId metric;
  double unit = 1;
};
constexpr NumberRow kNumbers[] = {
    {&NvmlApi::power_limit, kGpuPowerLimit, kMilli},
    {&NvmlApi::power_limit_requested, kGpuPowerLimitRequested, kMilli},
    {&NvmlApi::power_limit_default, kGpuPowerLimitDefault, kMilli},
    {&NvmlApi::pcie_generation, kGpuPcieGeneration},
    {&NvmlApi::pcie_width, kGpuPcieWidth},
    {&NvmlApi::pcie_max_generation, kGpuPcieGenerationLimit},
    {&NvmlApi::pcie_max_width, kGpuPcieWidthLimit},
    {&NvmlApi::pcie_replays, kGpuPcieReplays},
    {&NvmlApi::persistence_mode, kGpuPersistenceMode},
    {&NvmlApi::compute_mode, kGpuComputeMode},
    {&NvmlApi::display_mode, kGpuDisplayMode},
    {&NvmlApi::display_active, kGpuDisplayActive},
    {&NvmlApi::accounting_mode, kGpuAccountingMode},
    {&NvmlApi::virtualization_mode, kGpuVirtualizationMode},
    {&NvmlApi::power_source, kGpuPowerSource},
};

struct ClockRow {
  Query query;
  Return (*NvmlApi::*call)(Handle, ClockType, unsigned*);
  ClockType type;
  MetricId metric;
  std::string_view label;
};
constexpr ClockRow kClocks[] = {
    {Query::kMaxClock, &NvmlApi::max_clock, ClockType::kGraphics, kGpuClockLimit, "graphics"},
    {Query::kMaxClock, &NvmlApi::max_clock, ClockType::kSm, kGpuClockLimit, "sm"},
    {Query::kMaxClock, &NvmlApi::max_clock, ClockType::kMemory, kGpuClockLimit, "memory"},
    {Query::kMaxClock, &NvmlApi::max_clock, ClockType::kVideo, kGpuClockLimit, "video"},
    {Query::kApplicationClock, &NvmlApi::application_clock, ClockType::kGraphics, kGpuApplicationClock, "graphics"},
    {Query::kApplicationClock, &NvmlApi::application_clock, ClockType::kMemory, kGpuApplicationClock, "memory"},
    {Query::kApplicationClockDefault, &NvmlApi::application_clock_default, ClockType::kGraphics, kGpuApplicationClockDefault, "graphics"},
    {Query::kApplicationClockDefault, &NvmlApi::application_clock_default, ClockType::kMemory, kGpuApplicationClockDefault, "memory"},
    {Query::kCustomerClock, &NvmlApi::customer_clock, ClockType::kGraphics, kGpuClockCustomerLimit, "graphics"},
    {Query::kCustomerClock, &NvmlApi::customer_clock, ClockType::kMemory, kGpuClockCustomerLimit, "memory"},
};

struct ThresholdRow {
  Threshold threshold;
  std::string_view label;
};
constexpr ThresholdRow kThresholds[] = {
    {Threshold::kShutdown, "shutdown"}, {Threshold::kSlowdown, "slowdown"},
    {Threshold::kMemoryMax, "memory_max"}, {Threshold::kGpuMax, "gpu_max"},
};

struct ErrorRow {
  ErrorType type;
  ErrorCounter counter;
  MetricId total;
  MetricId by_location;
};
constexpr ErrorRow kErrors[] = {
    {ErrorType::kCorrected, ErrorCounter::kVolatile, kGpuEccVolatileCorrected, kGpuEccVolatileCorrectedAt},
    {ErrorType::kUncorrected, ErrorCounter::kVolatile, kGpuEccVolatileUncorrected, kGpuEccVolatileUncorrectedAt},
    {ErrorType::kCorrected, ErrorCounter::kAggregate, kGpuEccAggregateCorrected, kGpuEccAggregateCorrectedAt},
    {ErrorType::kUncorrected, ErrorCounter::kAggregate, kGpuEccAggregateUncorrected, kGpuEccAggregateUncorrectedAt},
};

// Two bits each of the fabric's health mask: 0 not told, 1 true, 2 false.
struct FabricFault {
  unsigned shift;
  std::string_view label;
};
constexpr FabricFault kFabricFaults[] = {
    {0, "degraded_bandwidth"}, {2, "route_recovery"},
    {4, "route_unhealthy"}, {6, "access_timeout_recovery"},
};
constexpr unsigned kWrongConfigurationShift = 8;  // four bits: 0 not told, 1 none, else which
// clang-format on

template <typename T>
Reading reading(Return code, T number, double unit = 1) {
  return {code, static_cast<double>(number) * unit};
}

void read_numbers(Conversation& talk, Gathering& found) {
  for (size_t i = 0; i < std::size(kNumbers); ++i) {
    const NumberRow& row = kNumbers[i];
    if (found.has(row.metric)) continue;
    unsigned number = 0;
    const Return code =
        talk.ask(Query::kNumber, static_cast<uint32_t>(i), talk.api().*row.call, &number);
    found.put(row.metric, reading(code, number_of(number), row.unit));
  }
  if (found.has(kGpuPowerLimitLowest) && found.has(kGpuPowerLimitHighest)) return;
  unsigned lowest = 0;
  unsigned highest = 0;
  const Return code =
      talk.ask(Query::kPowerLimitRange, 0, talk.api().power_limit_range, &lowest, &highest);
  found.put(kGpuPowerLimitLowest, reading(code, lowest, kMilli));
  found.put(kGpuPowerLimitHighest, reading(code, highest, kMilli));
}

void read_clock_limits(Conversation& talk, Gathering& found) {
  for (const ClockRow& row : kClocks) {
    unsigned megahertz = 0;
    const Return code = talk.ask(row.query, static_cast<uint32_t>(row.type), talk.api().*row.call,
                                 row.type, &megahertz);
    found.put(row.metric, reading(code, megahertz, kMegahertz), row.label);
  }
}

void read_thresholds(Conversation& talk, Gathering& found) {
  for (const ThresholdRow& row : kThresholds) {
    unsigned celsius = 0;
    const Return code = talk.ask(Query::kThreshold, static_cast<uint32_t>(row.threshold),
                                 talk.api().threshold, row.threshold, &celsius);
    // Boards without it may say 0.
    if (code == Return::kSuccess && celsius == 0) continue;
    found.put(kGpuTemperatureThreshold, reading(code, celsius), row.label);
  }
}

void read_memory_windows(Conversation& talk, Gathering& found) {
  Bar1Memory bar1{};
  Return code = talk.ask(Query::kBar1, 0, talk.api().bar1, &bar1);
  found.put(kGpuBar1Used, reading(code, bar1.used));
  found.put(kGpuBar1Free, reading(code, bar1.free));
  found.put(kGpuBar1Total, reading(code, bar1.total));
  MemoryV1 used{};
  code = talk.ask(Query::kProtectedMemory, 0, talk.api().protected_memory, &used);
  found.put(kGpuProtectedMemoryUsed, reading(code, used.used));
  ProtectedMemorySize size{};
  code = talk.ask(Query::kProtectedSize, 0, talk.api().protected_size, &size);
  found.put(kGpuProtectedMemoryTotal, reading(code, size.protected_kib, kKibi));
}

void read_engines(Conversation& talk, Gathering& found) {
  read_engine_utilization(talk, found, kGpuJpegUtilization);
  read_engine_utilization(talk, found, kGpuOfaUtilization);
}

void read_ecc(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  if (!found.has(kGpuEccMode)) {
    unsigned current = 0;
    unsigned pending = 0;
    const Return code = talk.ask(Query::kEccMode, 0, api.ecc_mode, &current, &pending);
    found.put(kGpuEccMode, reading(code, current));
    found.put(kGpuEccModePending, reading(code, pending));
  }
  for (const ErrorRow& row : kErrors) {
    const uint32_t sub = static_cast<uint32_t>(row.type) << 1 | static_cast<uint32_t>(row.counter);
    unsigned long long count = 0;
    if (!found.has(row.total)) {
      const Return code =
          talk.ask(Query::kEccTotal, sub, api.ecc_total, row.type, row.counter, &count);
      found.put(row.total, reading(code, count));
    }
    // There is no field for the SRAM as a whole, which is where newer boards count.
    const Return code = talk.ask(Query::kEccSram, sub, api.ecc_at, row.type, row.counter,
                                 unsigned{kLocationSram}, &count);
    found.put(row.by_location, reading(code, count), "sram");
  }
  SramErrors sram{.version = struct_version<SramErrors>(1)};
  const Return code = talk.ask(Query::kSramErrors, 0, api.sram_errors, &sram);
  found.put(kGpuEccSramThreshold, reading(code, sram.threshold_exceeded != 0 ? 1 : 0));
}

void read_repairs(Conversation& talk, Gathering& found) {
  RowRemapHistogram banks{};
  Return code = talk.ask(Query::kRemapHistogram, 0, talk.api().remap_histogram, &banks);
  found.put(kGpuRowRemapBanks, reading(code, banks.max), "max");
  found.put(kGpuRowRemapBanks, reading(code, banks.high), "high");
  found.put(kGpuRowRemapBanks, reading(code, banks.partial), "partial");
  found.put(kGpuRowRemapBanks, reading(code, banks.low), "low");
  found.put(kGpuRowRemapBanks, reading(code, banks.none), "none");
  RepairStatus repair{.version = struct_version<RepairStatus>(1)};
  code = talk.ask(Query::kRepairStatus, 0, talk.api().repair_status, &repair);
  found.put(kGpuRepairPending, reading(code, repair.channel_pending != 0 ? 1 : 0),
            "memory_channel");
  found.put(kGpuRepairPending, reading(code, repair.tpc_pending != 0 ? 1 : 0), "tpc");
}

struct Fabric {
  Return code = Return::kNotSupported;
  uint8_t state = 0;
  uint32_t health = 0;
};

// The newest form that the library takes.
Fabric ask_fabric(Conversation& talk) {
  const NvmlApi& api = talk.api();
  FabricInfoV3 v3{.v2 = {.version = struct_version<FabricInfoV3>(3)}};
  Return code = talk.ask(Query::kFabric, 3, api.fabric_v, static_cast<void*>(&v3));
  if (code == Return::kSuccess) return {code, v3.v2.state, v3.v2.health_mask};
  if (!is_unsupported(code)) return {code};
  FabricInfoV2 v2{.version = struct_version<FabricInfoV2>(2)};
  code = talk.ask(Query::kFabric, 2, api.fabric_v, static_cast<void*>(&v2));
  if (code == Return::kSuccess) return {code, v2.state, v2.health_mask};
  if (!is_unsupported(code)) return {code};
  FabricInfoV1 v1{};
  code = talk.ask(Query::kFabric, 1, api.fabric_v1, &v1);
  return {code, v1.state, 0};
}

void read_fabric(Conversation& talk, Gathering& found) {
  const Fabric fabric = ask_fabric(talk);
  found.put(kGpuFabricState, reading(fabric.code, fabric.state));
  if (fabric.code != Return::kSuccess) {
    found.put(kGpuFabricFault, {fabric.code, 0});
    return;
  }
  for (const FabricFault& fault : kFabricFaults) {
    const unsigned told = fabric.health >> fault.shift & 3;
    if (told == 1 || told == 2)
      found.put(kGpuFabricFault, reading(fabric.code, told == 1), fault.label);
  }
  const unsigned wrong = fabric.health >> kWrongConfigurationShift & 0xF;
  if (wrong != 0)
    found.put(kGpuFabricFault, reading(fabric.code, wrong > 1), "wrong_configuration");
}

void read_sharing(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  ConfidentialSettings settings{.version = struct_version<ConfidentialSettings>(1)};
  Return code = talk.ask_library(Query::kConfidential, 2, api.confidential_settings, &settings);
  ConfidentialState state{.is_on = settings.is_on};
  if (is_unsupported(code)) {
    code = talk.ask_library(Query::kConfidential, 1, api.confidential_state, &state);
  }
  found.put(kGpuConfidential, reading(code, state.is_on != 0 ? 1 : 0));
  // How many there are is said even when they do not fit.
  std::array<unsigned, kMostVgpus> instances{};
  unsigned count = kMostVgpus;
  code = talk.ask(Query::kActiveVgpus, 0, api.active_vgpus, &count, instances.data());
  if (code == Return::kInsufficientSize) code = Return::kSuccess;
  found.put(kGpuVirtualInstances, reading(code, count));
}

// Only where the driver has no byte counters: each direction blocks for the window.
void read_pcie_throughput(Conversation& talk, Gathering& found, const SharedGpu& shared) {
  if (shared.pcie_counters != PcieCounters::kNone) return;
  for (const auto& [direction, metric] :
       {std::pair(PcieDirection::kTransmit, kGpuPcieTransmitRate),
        std::pair(PcieDirection::kReceive, kGpuPcieReceiveRate)}) {
    unsigned kilobytes = 0;
    const Return code = talk.ask(Query::kPcieThroughput, static_cast<uint32_t>(direction),
                                 talk.api().pcie_throughput, direction, &kilobytes);
    found.put(metric, reading(code, kilobytes, kKilo), {}, kThroughputWindow);
  }
}

}  // namespace

SlowReadings::SlowReadings(SharedGpu& shared)
    : shared_(shared),
      driver_(parse_driver_version(shared.gpu.device.driver)),
      fields_(kSlowBatch, slow_fields(), driver_),
      link_count_(kLinkCountBatch, {{.id = kFieldLinkCount, .metric = kGpuNvlinkState}}, driver_),
      turns_(turns()) {}

// What users look at first comes first.
std::vector<Turn> SlowReadings::turns() {
  return {
      read_numbers,
      read_thresholds,
      read_ecc,
      read_fabric,
      [this](auto& talk, auto& found) { read_links_by_calls(talk, found); },
      read_memory_windows,
      read_sessions,
      read_engines,
      read_repairs,
      read_sharing,
      read_clock_limits,
      [this](auto& talk, auto& found) { read_fan_rpm(talk, found); },
      [this](auto& talk, auto& found) { read_pcie_throughput(talk, found, shared_); },
  };
}

void SlowReadings::read(Conversation& talk, Gathering& found) {
  fields_.read_into(talk, found, &shared_.driver_clock);
  read_links(talk, found);
  turns_.take(talk, found);
  found.finish(slow_metrics(), turns_.unasked());
}

void SlowReadings::read_links(Conversation& talk, Gathering& found) {
  if (!links_) {
    const Reading count = link_count_.read(talk).front();
    if (!count.ok()) {
      found.put(kGpuNvlinkState, count);
      return;
    }
    link_versions_.resize(link_count(count));
    links_.emplace(kLinkBatch, link_fields(link_count(count)), driver_);
  }
  links_->read_into(talk, found);
}

// Before 520 there are no fields of a link's state and version: a call each. The version is the
// hardware's, so it is asked for once: as many calls again would leave others no room.
void SlowReadings::read_links_by_calls(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  for (unsigned link = 0; link < link_versions_.size(); ++link) {
    const std::string label = std::to_string(link);
    unsigned number = 0;
    if (!found.has(kGpuNvlinkState, label)) {
      const Return code = talk.ask(Query::kLinkState, link, api.link_state, link, &number);
      found.put(kGpuNvlinkState, reading(code, number), label);
    }
    if (found.has(kGpuNvlinkVersion, label)) continue;
    Reading& version = link_versions_[link];
    if (!version.ok()) {
      const Return code = talk.ask(Query::kLinkVersion, link, api.link_version, link, &number);
      version = reading(code, number);
    }
    found.put(kGpuNvlinkVersion, version, label);
  }
}

void SlowReadings::read_fan_rpm(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  if (api.fan_rpm == nullptr) return;
  if (!fans_) {
    unsigned count = 0;
    const Return code = talk.ask(Query::kFanCount, 0, api.fan_count, &count);
    if (code != Return::kSuccess) return found.put(kGpuFanRpm, {code, 0});
    fans_ = std::min(count, kMostFans);
  }
  for (unsigned fan = 0; fan < *fans_; ++fan) {
    FanSpeedInfo info{.version = struct_version<FanSpeedInfo>(1), .fan = fan};
    const Return code = talk.ask(Query::kFanRpm, fan, api.fan_rpm, &info);
    found.put(kGpuFanRpm, reading(code, info.rpm), std::to_string(fan));
  }
}

}  // namespace gpusight::collect::nvml
