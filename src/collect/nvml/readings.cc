#include "collect/nvml/readings.h"

#include <algorithm>
#include <array>
#include <string>

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr double kPerCent = 0.01;
constexpr double kMegahertz = 1e6;
constexpr unsigned kMostFans = 64;  // a count beyond it is garbage

struct ClockRow {
  ClockType type;
  std::string_view label;
  std::optional<Ring> ring;
};

constexpr ClockRow kClocks[kClockCount] = {
    {ClockType::kGraphics, "graphics", std::nullopt},
    {ClockType::kSm, "sm", Ring::kProcessorClock},
    {ClockType::kMemory, "memory", Ring::kMemoryClock},
    {ClockType::kVideo, "video", std::nullopt},
};

void put_summary(Gathering& found, MetricId metric, const RingSummary& summary, double unit,
                 std::string_view label = {}) {
  found.put(metric, {Return::kSuccess, summary.mean() * unit}, label, summary.window);
  found.report().set_range(metric, summary.lowest * unit, summary.highest * unit, summary.window,
                           label);
}

Return read_memory_v2(Conversation& talk, Gathering& found) {
  MemoryV2 memory{.version = struct_version<MemoryV2>(2)};
  const Return code = talk.ask(Query::kMemoryV2, 0, talk.api().memory_v2, &memory);
  if (code != Return::kSuccess) return code;
  found.put(MetricId::kGpuMemoryUsed, {code, static_cast<double>(memory.used)});
  found.put(MetricId::kGpuMemoryFree, {code, static_cast<double>(memory.free)});
  found.put(MetricId::kGpuMemoryReserved, {code, static_cast<double>(memory.reserved)});
  found.put(MetricId::kGpuMemoryTotal, {code, static_cast<double>(memory.total)});
  return code;
}

Return read_memory_v1(Conversation& talk, Gathering& found) {
  MemoryV1 memory{};
  const Return code = talk.ask(Query::kMemoryV1, 0, talk.api().memory_v1, &memory);
  if (code != Return::kSuccess) return code;
  found.put(MetricId::kGpuMemoryUsed, {code, static_cast<double>(memory.used)});
  found.put(MetricId::kGpuMemoryFree, {code, static_cast<double>(memory.free)});
  found.put(MetricId::kGpuMemoryTotal, {code, static_cast<double>(memory.total)});
  return code;
}

Reading ask_temperature(Conversation& talk) {
  TemperatureReading reading{.version = struct_version<TemperatureReading>(1)};
  Return code = talk.ask(Query::kTemperatureV, 0, talk.api().temperature_v, &reading);
  if (code == Return::kSuccess || !is_unsupported(code)) {
    return {code, static_cast<double>(reading.celsius)};
  }
  unsigned celsius = 0;
  code = talk.ask(Query::kTemperature, 0, talk.api().temperature, 0u, &celsius);
  // Written as unsigned, meant as signed.
  return {code, static_cast<double>(static_cast<int32_t>(celsius))};
}

}  // namespace

Reading ask_number(Conversation& talk, Query query, Return (*function)(Handle, unsigned*)) {
  unsigned number = 0;
  const Return code = talk.ask(query, 0, function, &number);
  return {code, static_cast<double>(number)};
}

Return read_memory(Conversation& talk, Gathering& found) {
  Return code = read_memory_v2(talk, found);
  // The first form says less; it is for libraries that do not have the second.
  if (code != Return::kSuccess && is_unsupported(code)) code = read_memory_v1(talk, found);
  if (code == Return::kSuccess) return code;
  for (const MetricId metric : {MetricId::kGpuMemoryUsed, MetricId::kGpuMemoryFree,
                                MetricId::kGpuMemoryReserved, MetricId::kGpuMemoryTotal}) {
    found.put(metric, {code, 0});
  }
  return code;
}

void read_temperature(Conversation& talk, Gathering& found) {
  put_temperature(found, MetricId::kGpuTemperature, ask_temperature(talk));
}

void read_margin(Conversation& talk, Gathering& found) {
  MarginTemperature margin{.version = struct_version<MarginTemperature>(1)};
  const Return code = talk.ask(Query::kMargin, 0, talk.api().margin, &margin);
  found.put(MetricId::kGpuTemperatureMargin, {code, static_cast<double>(margin.celsius)});
}

void put_temperature(Gathering& found, MetricId metric, const Reading& celsius) {
  // Boards without the sensor may say 0; a chip at the freezing point does not occur in a running
  // machine. 255 is outside the metric's bounds.
  if (celsius.ok() && celsius.number == 0) {
    found.report().count_implausible();
    found.keep(metric, model::Value::absent(Reason::kImplausible));
    return;
  }
  found.put(metric, celsius);
}

void read_performance_state(Conversation& talk, Gathering& found) {
  Reading state = ask_number(talk, Query::kPerformanceState, talk.api().performance_state);
  if (state.ok() && state.number == kPerformanceStateUnknown) state.code = Return::kNoData;
  found.put(MetricId::kGpuPerformanceState, state);
}

void no_utilization(Report& report, Reason reason) {
  report.absent(MetricId::kGpuUtilization, reason);
  report.absent(MetricId::kGpuMemoryUtilization, reason);
}

void read_utilization(Conversation& talk, Gathering& found, RingSummaries& rings) {
  const auto gpu = take(rings, Ring::kGpuUtilization);
  const auto memory = take(rings, Ring::kMemoryUtilization);
  if (gpu) put_summary(found, MetricId::kGpuUtilization, *gpu, kPerCent);
  if (memory) put_summary(found, MetricId::kGpuMemoryUtilization, *memory, kPerCent);
  if (!found.lacks(MetricId::kGpuUtilization) && !found.lacks(MetricId::kGpuMemoryUtilization)) {
    return;
  }
  // An idle GPU's rings may be empty: that is no reason to say nothing.
  Utilization now{};
  const Return code = talk.ask(Query::kUtilization, 0, talk.api().utilization, &now);
  found.put(MetricId::kGpuUtilization, {code, now.gpu * kPerCent});
  found.put(MetricId::kGpuMemoryUtilization, {code, now.memory * kPerCent});
}

void read_clock(Conversation& talk, Gathering& found, RingSummaries& rings, size_t clock) {
  const ClockRow& row = kClocks[clock];
  const auto summary = row.ring ? take(rings, *row.ring) : std::nullopt;
  if (summary) return put_summary(found, MetricId::kGpuClock, *summary, kMegahertz, row.label);
  unsigned megahertz = 0;
  const Return code = talk.ask(Query::kClock, static_cast<uint32_t>(row.type), talk.api().clock,
                               row.type, &megahertz);
  found.put(MetricId::kGpuClock, {code, megahertz * kMegahertz}, row.label);
}

void read_engine_utilization(Conversation& talk, Gathering& found, MetricId metric) {
  struct Row {
    MetricId metric;
    Return (*NvmlApi::*call)(Handle, unsigned*, unsigned*);
  };
  static constexpr Row kEngines[] = {
      {MetricId::kGpuEncoderUtilization, &NvmlApi::encoder_utilization},
      {MetricId::kGpuDecoderUtilization, &NvmlApi::decoder_utilization},
      {MetricId::kGpuJpegUtilization, &NvmlApi::jpeg_utilization},
      {MetricId::kGpuOfaUtilization, &NvmlApi::ofa_utilization},
  };
  for (const Row& row : kEngines) {
    if (row.metric != metric) continue;
    unsigned percent = 0;
    unsigned period_us = 0;
    const Return code = talk.ask(Query::kEngineUtilization, static_cast<uint32_t>(metric),
                                 talk.api().*row.call, &percent, &period_us);
    found.put(metric, {code, percent * kPerCent}, {}, std::chrono::microseconds(period_us));
  }
}

bool power_usage_is_average(const Gpu& gpu) {
  // A library that cannot tell the architecture is older than Ampere.
  if (!gpu.architecture || *gpu.architecture < kArchitectureAmpere) return false;
  const bool is_ga100 = *gpu.architecture == kArchitectureAmpere &&
                        (gpu.pci_device_id >> 16 & 0xFF80) == 0x2080;  // ids 0x2080 to 0x20ff
  return !is_ga100;
}

void FanReader::read(Conversation& talk, Gathering& found, unsigned most_at_once) {
  const NvmlApi& api = talk.api();
  if (!count_) {
    const Reading count = ask_number(talk, Query::kFanCount, api.fan_count);
    if (count.ok()) count_ = std::min(static_cast<unsigned>(count.number), kMostFans);
  }
  const unsigned count = count_.value_or(1);  // before 510 nobody says how many
  last_.resize(count);
  const unsigned asked = std::min(count, most_at_once);
  for (unsigned i = 0; i < asked; ++i) {
    const unsigned fan = next_++ % count;
    unsigned percent = 0;
    Return code = talk.ask(Query::kFanSpeedOf, fan, api.fan_speed_of, fan, &percent);
    if (count == 1 && is_unsupported(code)) {
      code = talk.ask(Query::kFanSpeed, 0, api.fan_speed, &percent);
    }
    found.put(MetricId::kGpuFanSpeed, {code, percent * kPerCent}, std::to_string(fan));
    last_[fan].reset();
    if (code == Return::kSuccess) last_[fan] = talk.report().newest();
  }
  for (unsigned i = 0; i < count - asked; ++i) {
    const unsigned fan = (next_ + i) % count;
    if (last_[fan]) found.keep(MetricId::kGpuFanSpeed, *last_[fan], std::to_string(fan));
  }
}

}  // namespace gpusight::collect::nvml
