#include "collect/nvml/slow_readings.h"

#include <algorithm>
#include <array>

#include "collect/nvml/fabric_reading.h"
#include "collect/nvml/field_tables.h"
#include "collect/nvml/readings.h"
#include "collect/nvml/video_sessions.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using enum catalog::MetricId;

constexpr double kMilli = 0.001;
constexpr double kNano = 1e-9;
constexpr double kMegahertz = 1e6;
constexpr double kKibi = 1024;
constexpr double kKilo = 1000;
constexpr unsigned kMostFans = 8;  // asked one by one
constexpr unsigned kMostVgpus = 64;
constexpr uint32_t kSlowBatch = 1;  // others are those of link_readings.cc
constexpr uint32_t kPcieBatch = 7;
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
    {&NvmlApi::pcie_device_generation, kGpuPcieGenerationDeviceLimit},
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

// From 590 on the calls of application clocks are gone; what they gave is one of a call's clocks.
struct ClockIdRow {
  MetricId metric;
  ClockId id;
};
constexpr ClockIdRow kClockIds[] = {
    {kGpuApplicationClock, ClockId::kApplication},
    {kGpuApplicationClockDefault, ClockId::kApplicationDefault},
};

// Time held back, which drivers tell in fields as well.
struct ViolationRow {
  Policy policy;
  std::string_view label;
};
constexpr ViolationRow kViolations[] = {
    {Policy::kPower, "power"}, {Policy::kThermal, "thermal"}, {Policy::kSyncBoost, "sync_boost"},
    {Policy::kBoardLimit, "board_limit"}, {Policy::kLowUtilization, "low_utilization"},
    {Policy::kReliability, "reliability"}, {Policy::kApplicationClocks, "application_clocks"},
    {Policy::kBaseClocks, "base_clocks"},
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
// clang-format on

template <typename T>
Reading reading(Return code, T number, double unit = 1) {
  return {code, static_cast<double>(number) * unit};
}

void read_numbers(Conversation& talk, Gathering& found) {
  for (size_t i = 0; i < std::size(kNumbers); ++i) {
    const NumberRow& row = kNumbers[i];
    if (!found.lacks(row.metric)) continue;
    unsigned number = 0;
    const Return code =
        talk.ask(Query::kNumber, static_cast<uint32_t>(i), talk.api().*row.call, &number);
    found.put(row.metric, reading(code, number_of(number), row.unit));
  }
  if (!found.lacks(kGpuPowerLimitLowest) && !found.lacks(kGpuPowerLimitHighest)) return;
  unsigned lowest = 0;
  unsigned highest = 0;
  const Return code =
      talk.ask(Query::kPowerLimitRange, 0, talk.api().power_limit_range, &lowest, &highest);
  found.put(kGpuPowerLimitLowest, reading(code, lowest, kMilli));
  found.put(kGpuPowerLimitHighest, reading(code, highest, kMilli));
}

void read_clock_by_id(Conversation& talk, Gathering& found, const ClockRow& row) {
  for (const ClockIdRow& by_id : kClockIds) {
    if (by_id.metric != row.metric) continue;
    unsigned megahertz = 0;
    const auto sub = static_cast<uint32_t>(by_id.id) << 4 | static_cast<uint32_t>(row.type);
    const Return code = talk.ask(Query::kClockById, sub, talk.api().clock_by_id,
                                 ClockType{row.type}, ClockId{by_id.id}, &megahertz);
    found.put(row.metric, reading(code, megahertz, kMegahertz), row.label);
  }
}

void read_clock_limits(Conversation& talk, Gathering& found) {
  for (const ClockRow& row : kClocks) {
    if (!found.wants(row.metric)) continue;
    unsigned megahertz = 0;
    const Return code = talk.ask(row.query, static_cast<uint32_t>(row.type), talk.api().*row.call,
                                 row.type, &megahertz);
    found.put(row.metric, reading(code, megahertz, kMegahertz), row.label);
    if (is_unsupported(code)) read_clock_by_id(talk, found, row);
  }
}

// Fields that a driver has are put by then.
void read_violations(Conversation& talk, Gathering& found) {
  for (const ViolationRow& row : kViolations) {
    if (found.has(kGpuViolationSeconds, row.label)) continue;
    ViolationTime time{};
    const Return code = talk.ask(Query::kViolation, static_cast<uint32_t>(row.policy),
                                 talk.api().violation, Policy{row.policy}, &time);
    found.put(kGpuViolationSeconds, reading(code, time.held_ns, kNano), row.label);
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

void read_bar1(Conversation& talk, Gathering& found) {
  Bar1Memory bar1{};
  const Return code = talk.ask(Query::kBar1, 0, talk.api().bar1, &bar1);
  found.put(kGpuBar1Used, reading(code, bar1.used));
  found.put(kGpuBar1Free, reading(code, bar1.free));
  found.put(kGpuBar1Total, reading(code, bar1.total));
}

void read_protected_memory(Conversation& talk, Gathering& found) {
  MemoryV1 used{};
  Return code = talk.ask(Query::kProtectedMemory, 0, talk.api().protected_memory, &used);
  found.put(kGpuProtectedMemoryUsed, reading(code, used.used));
  ProtectedMemorySize size{};
  code = talk.ask(Query::kProtectedSize, 0, talk.api().protected_size, &size);
  found.put(kGpuProtectedMemoryTotal, reading(code, size.protected_kib, kKibi));
}

std::vector<MetricId> number_metrics() {
  std::vector<MetricId> metrics{kGpuPowerLimitLowest, kGpuPowerLimitHighest};
  for (const NumberRow& row : kNumbers) metrics.push_back(row.metric);
  return metrics;
}

std::vector<MetricId> ecc_metrics() {
  std::vector<MetricId> metrics{kGpuEccMode, kGpuEccModePending, kGpuEccSramThreshold};
  for (const ErrorRow& row : kErrors) {
    metrics.push_back(row.total);
    metrics.push_back(row.by_location);
  }
  return metrics;
}

void read_engines(Conversation& talk, Gathering& found) {
  for (const MetricId engine : {kGpuJpegUtilization, kGpuOfaUtilization}) {
    if (found.wants(engine)) read_engine_utilization(talk, found, engine);
  }
}

void read_ecc(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  if (found.lacks(kGpuEccMode)) {
    unsigned current = 0;
    unsigned pending = 0;
    const Return code = talk.ask(Query::kEccMode, 0, api.ecc_mode, &current, &pending);
    found.put(kGpuEccMode, reading(code, current));
    found.put(kGpuEccModePending, reading(code, pending));
  }
  for (const ErrorRow& row : kErrors) {
    const uint32_t sub = static_cast<uint32_t>(row.type) << 1 | static_cast<uint32_t>(row.counter);
    unsigned long long count = 0;
    if (found.lacks(row.total)) {
      const Return code =
          talk.ask(Query::kEccTotal, sub, api.ecc_total, row.type, row.counter, &count);
      found.put(row.total, reading(code, count));
    }
    if (!found.wants(row.by_location)) continue;
    // There is no field for the SRAM as a whole, which is where newer boards count.
    const Return code = talk.ask(Query::kEccSram, sub, api.ecc_at, row.type, row.counter,
                                 unsigned{kLocationSram}, &count);
    found.put(row.by_location, reading(code, count), "sram");
  }
  if (!found.wants(kGpuEccSramThreshold)) return;
  SramErrors sram{.version = struct_version<SramErrors>(1)};
  const Return code = talk.ask(Query::kSramErrors, 0, api.sram_errors, &sram);
  found.put(kGpuEccSramThreshold, reading(code, sram.threshold_exceeded != 0 ? 1 : 0));
}

void read_remap_banks(Conversation& talk, Gathering& found) {
  RowRemapHistogram banks{};
  const Return code = talk.ask(Query::kRemapHistogram, 0, talk.api().remap_histogram, &banks);
  found.put(kGpuRowRemapBanks, reading(code, banks.max), "max");
  found.put(kGpuRowRemapBanks, reading(code, banks.high), "high");
  found.put(kGpuRowRemapBanks, reading(code, banks.partial), "partial");
  found.put(kGpuRowRemapBanks, reading(code, banks.low), "low");
  found.put(kGpuRowRemapBanks, reading(code, banks.none), "none");
}

void read_repair_status(Conversation& talk, Gathering& found) {
  RepairStatus repair{.version = struct_version<RepairStatus>(1)};
  const Return code = talk.ask(Query::kRepairStatus, 0, talk.api().repair_status, &repair);
  found.put(kGpuRepairPending, reading(code, repair.channel_pending != 0 ? 1 : 0),
            "memory_channel");
  found.put(kGpuRepairPending, reading(code, repair.tpc_pending != 0 ? 1 : 0), "tpc");
}

void read_confidential(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  ConfidentialSettings settings{.version = struct_version<ConfidentialSettings>(1)};
  Return code = talk.ask_library(Query::kConfidential, 2, api.confidential_settings, &settings);
  ConfidentialState state{.is_on = settings.is_on};
  if (is_unsupported(code)) {
    code = talk.ask_library(Query::kConfidential, 1, api.confidential_state, &state);
  }
  found.put(kGpuConfidential, reading(code, state.is_on != 0 ? 1 : 0));
}

// How many there are is said even when they do not fit.
void read_virtual_instances(Conversation& talk, Gathering& found) {
  std::array<unsigned, kMostVgpus> instances{};
  unsigned count = kMostVgpus;
  Return code = talk.ask(Query::kActiveVgpus, 0, talk.api().active_vgpus, &count, instances.data());
  if (code == Return::kInsufficientSize) code = Return::kSuccess;
  found.put(kGpuVirtualInstances, reading(code, count));
}

// What no counter told. The driver measures for an answer: each direction blocks for the window.
void read_pcie_throughput(Conversation& talk, Gathering& found) {
  for (const auto& [direction, metric] :
       {std::pair(PcieDirection::kTransmit, kGpuPcieTransmitRate),
        std::pair(PcieDirection::kReceive, kGpuPcieReceiveRate)}) {
    if (!found.lacks(metric)) continue;
    unsigned kilobytes = 0;
    const Return code = talk.ask(Query::kPcieThroughput, static_cast<uint32_t>(direction),
                                 talk.api().pcie_throughput, direction, &kilobytes);
    found.put(metric, reading(code, kilobytes, kKilo), {}, kThroughputWindow);
  }
}

}  // namespace

SlowReadings::SlowReadings(const NvmlApi& api, SharedGpu& shared,
                           const catalog::MetricSet& disabled)
    : shared_(shared),
      driver_(parse_driver_version(shared.gpu.device.driver)),
      fields_(kSlowBatch, wanted(slow_fields(), disabled), driver_),
      links_(api, driver_, disabled),
      pcie_bytes_(kPcieBatch, pcie_byte_fields(), driver_),
      turns_(turns(), disabled) {}

// What users look at first comes first.
std::vector<Turn> SlowReadings::turns() {
  return {
      {read_numbers, number_metrics()},
      {read_thresholds, {kGpuTemperatureThreshold}},
      {read_ecc, ecc_metrics()},
      {read_fabric, {kGpuFabricState, kGpuFabricClique, kGpuFabricHealth, kGpuFabricFault}},
      {[this](auto& talk, auto& found) { links_.read_states(talk, found); },
       {kGpuNvlinkState, kGpuNvlinkVersion}},
      {read_bar1, {kGpuBar1Used, kGpuBar1Free, kGpuBar1Total}},
      {read_protected_memory, {kGpuProtectedMemoryUsed, kGpuProtectedMemoryTotal}},
      {read_sessions,
       {kGpuEncoderSessions, kGpuEncoderFrameRate, kGpuEncoderLatency, kGpuFbcSessions,
        kGpuFbcFrameRate, kGpuFbcLatency}},
      {read_engines, {kGpuJpegUtilization, kGpuOfaUtilization}},
      {read_remap_banks, {kGpuRowRemapBanks}},
      {read_repair_status, {kGpuRepairPending}},
      {read_confidential, {kGpuConfidential}},
      {read_virtual_instances, {kGpuVirtualInstances}},
      {read_clock_limits,
       {kGpuClockLimit, kGpuApplicationClock, kGpuApplicationClockDefault, kGpuClockCustomerLimit}},
      {read_violations, {kGpuViolationSeconds}},
      {[this](auto& talk, auto& found) { links_.read_errors(talk, found); }, link_error_metrics()},
      {[this](auto& talk, auto& found) { links_.read_ecc_errors(talk, found); },
       {kGpuNvlinkEccErrors}},
      {[this](auto& talk, auto& found) { links_.read_activity(talk, found); },
       {kGpuNvlinkLinkReceiveMean, kGpuNvlinkLinkTransmitMean}},
      {[this](auto& talk, auto& found) { read_fan_rpm(talk, found); }, {kGpuFanRpm}},
      {[this](auto& talk, auto& found) { read_pcie_rates(talk, found); },
       {kGpuPcieTransmitRate, kGpuPcieReceiveRate}},
  };
}

void SlowReadings::read(Conversation& talk, Gathering& found) {
  fields_.read_into(talk, found, &shared_.driver_clock);
  links_.read_fields(talk, found);
  turns_.take(talk, found);
  found.finish(slow_metrics(), turns_.unasked());
}

// Out of the byte counters where the driver has them (which the fast lane has found out) and they
// have proved to be wider than 32 bits: others may wrap several times between two readings.
void SlowReadings::read_pcie_rates(Conversation& talk, Gathering& found) {
  if (shared_.pcie_counters == PcieCounters::kNotYetKnown) return;
  if (shared_.pcie_counters == PcieCounters::kThere) {
    const std::span<const Reading> bytes = pcie_bytes_.read(talk);
    bool is_wide = false;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const bool is_sent = pcie_bytes_.rows()[i].metric == kGpuPcieTransmit;
      CounterRate& rate = is_sent ? sent_ : received_;
      const Reading now = rate.update(bytes[i], talk.report().now());
      if (!(bytes[i].number > UINT32_MAX)) continue;
      is_wide = true;
      found.put(is_sent ? kGpuPcieTransmitRate : kGpuPcieReceiveRate, now, {}, rate.window());
    }
    if (is_wide) return;  // the first rate comes with the next reading
  }
  read_pcie_throughput(talk, found);
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
