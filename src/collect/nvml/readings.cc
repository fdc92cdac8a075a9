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
constexpr double kMilli = 0.001;
// Each fan costs a call: a board with more has them read in turns.
constexpr unsigned kFansATick = 4;
constexpr unsigned kMostFans = 64;  // a count beyond it is garbage

struct ClockRow {
  ClockType type;
  std::string_view label;
  std::optional<Ring> ring;
};

constexpr ClockRow kClocks[] = {
    {ClockType::kGraphics, "graphics", std::nullopt},
    {ClockType::kSm, "sm", Ring::kProcessorClock},
    {ClockType::kMemory, "memory", Ring::kMemoryClock},
    {ClockType::kVideo, "video", std::nullopt},
};

void put_summary(Report& report, MetricId metric, const RingSummary& summary, double unit,
                 std::string_view label = {}) {
  report.set(metric, summary.mean() * unit, summary.window, label);
  report.set_range(metric, summary.lowest * unit, summary.highest * unit, summary.window, label);
}

// Per series where there is at least one; a device without any says so once, without a label.
class LabelledReadings {
 public:
  LabelledReadings(Report& report, MetricId metric) : report_(report), metric_(metric) {}
  void put(const Reading& reading, std::string_view label) {
    if (reading.ok()) {
      report_.set(metric_, reading.number, {}, label);
      any_ = true;
    } else if (reason_ == Reason::kNotSupported) {
      reason_ = reason_of(reading.code);
    }
  }
  void have_one() { any_ = true; }
  void finish() {
    if (!any_) report_.absent(metric_, reason_);
  }

 private:
  Report& report_;
  MetricId metric_;
  bool any_ = false;
  Reason reason_ = Reason::kNotSupported;  // a graver one, once there is one
};

Return read_memory_v2(Conversation& talk) {
  MemoryV2 memory{.version = struct_version<MemoryV2>(2)};
  const Return code = talk.ask(Query::kMemoryV2, 0, talk.api().memory_v2, &memory);
  if (code != Return::kSuccess) return code;
  Report& report = talk.report();
  report.set(MetricId::kGpuMemoryUsed, static_cast<double>(memory.used));
  report.set(MetricId::kGpuMemoryFree, static_cast<double>(memory.free));
  report.set(MetricId::kGpuMemoryReserved, static_cast<double>(memory.reserved));
  report.set(MetricId::kGpuMemoryTotal, static_cast<double>(memory.total));
  return code;
}

Return read_memory_v1(Conversation& talk) {
  MemoryV1 memory{};
  const Return code = talk.ask(Query::kMemoryV1, 0, talk.api().memory_v1, &memory);
  if (code != Return::kSuccess) return code;
  Report& report = talk.report();
  report.set(MetricId::kGpuMemoryUsed, static_cast<double>(memory.used));
  report.set(MetricId::kGpuMemoryFree, static_cast<double>(memory.free));
  report.absent(MetricId::kGpuMemoryReserved, Reason::kNotSupported);
  report.set(MetricId::kGpuMemoryTotal, static_cast<double>(memory.total));
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

Reading ask_clock(Conversation& talk, Query query, Return (*function)(Handle, ClockType, unsigned*),
                  ClockType type) {
  unsigned megahertz = 0;
  const Return code = talk.ask(query, static_cast<uint32_t>(type), function, type, &megahertz);
  return {code, megahertz * kMegahertz};
}

Reading field_reading(const FieldValue& field, double unit) {
  // Some drivers leave an entry that they do not support as it was, and say success.
  const bool untouched = field.timestamp_us == 0 && field.value_type == ValueType::kDouble;
  if (field.result == Return::kSuccess && untouched) return {Return::kNotSupported, 0};
  return {field.result, as_double(field.value_type, field.value) * unit};
}

}  // namespace

void put(Report& report, MetricId metric, const Reading& reading, Duration window,
         std::string_view label) {
  if (reading.ok()) {
    report.set(metric, reading.number, window, label);
  } else {
    report.absent(metric, reason_of(reading.code), label);
  }
}

Reading ask_number(Conversation& talk, Query query, Return (*function)(Handle, unsigned*)) {
  unsigned number = 0;
  const Return code = talk.ask(query, 0, function, &number);
  return {code, static_cast<double>(number)};
}

void read_memory(Conversation& talk) {
  Return code = read_memory_v2(talk);
  // The first form says less; it is for libraries that do not have the second.
  if (code != Return::kSuccess && is_unsupported(code)) code = read_memory_v1(talk);
  if (code == Return::kSuccess) return;
  for (const MetricId metric : {MetricId::kGpuMemoryUsed, MetricId::kGpuMemoryFree,
                                MetricId::kGpuMemoryReserved, MetricId::kGpuMemoryTotal}) {
    talk.report().absent(metric, reason_of(code));
  }
}

void read_temperature(Conversation& talk) {
  put(talk.report(), MetricId::kGpuTemperature, ask_temperature(talk));
}

void put_memory_temperature(Report& report, const Reading& celsius) {
  // Boards without the sensor may say 0; memory at the freezing point does not occur in a running
  // machine. 255 is outside the metric's bounds.
  if (celsius.ok() && celsius.number == 0) {
    report.count_implausible();
    report.absent(MetricId::kGpuMemoryTemperature, Reason::kImplausible);
    return;
  }
  put(report, MetricId::kGpuMemoryTemperature, celsius);
}

void read_pcie_link(Conversation& talk) {
  const NvmlApi& api = talk.api();
  put(talk.report(), MetricId::kGpuPcieGeneration,
      ask_number(talk, Query::kPcieGeneration, api.pcie_generation));
  put(talk.report(), MetricId::kGpuPcieWidth, ask_number(talk, Query::kPcieWidth, api.pcie_width));
}

void read_performance_state(Conversation& talk) {
  const Reading state = ask_number(talk, Query::kPerformanceState, talk.api().performance_state);
  if (state.ok() && state.number == kPerformanceStateUnknown) {
    talk.report().absent(MetricId::kGpuPerformanceState, Reason::kUnknown);
  } else {
    put(talk.report(), MetricId::kGpuPerformanceState, state);
  }
}

void no_utilization(Report& report, Reason reason) {
  report.absent(MetricId::kGpuUtilization, reason);
  report.absent(MetricId::kGpuMemoryUtilization, reason);
}

void read_utilization(Conversation& talk, const RingSummaries& rings) {
  const auto& gpu = rings[static_cast<size_t>(Ring::kGpuUtilization)];
  const auto& memory = rings[static_cast<size_t>(Ring::kMemoryUtilization)];
  Report& report = talk.report();
  if (gpu) put_summary(report, MetricId::kGpuUtilization, *gpu, kPerCent);
  if (memory) put_summary(report, MetricId::kGpuMemoryUtilization, *memory, kPerCent);
  if (gpu && memory) return;
  // An idle GPU's rings may be empty: that is no reason to say nothing.
  Utilization now{};
  const Return code = talk.ask(Query::kUtilization, 0, talk.api().utilization, &now);
  if (!gpu) put(report, MetricId::kGpuUtilization, {code, now.gpu * kPerCent});
  if (!memory) put(report, MetricId::kGpuMemoryUtilization, {code, now.memory * kPerCent});
}

void read_clocks(Conversation& talk, const RingSummaries& rings) {
  LabelledReadings readings(talk.report(), MetricId::kGpuClock);
  for (const ClockRow& row : kClocks) {
    const auto summary = row.ring ? rings[static_cast<size_t>(*row.ring)] : std::nullopt;
    if (summary) {
      put_summary(talk.report(), MetricId::kGpuClock, *summary, kMegahertz, row.label);
      readings.have_one();
    } else {
      readings.put(ask_clock(talk, Query::kClock, talk.api().clock, row.type), row.label);
    }
  }
  readings.finish();
}

Fields read_fields(Conversation& talk) {
  struct Wanted {
    uint32_t id;
    double unit;
    Reading Fields::*into;
  };
  static constexpr Wanted kWanted[] = {
      {kFieldMemoryTemperature, 1, &Fields::memory_celsius},
      {kFieldEnergy, kMilli, &Fields::energy_joules},
      {kFieldPowerAverage, kMilli, &Fields::average_watts},
      {kFieldPowerInstant, kMilli, &Fields::instant_watts},
  };
  Fields fields;
  std::array<FieldValue, std::size(kWanted)> batch{};  // all zero, or leftovers pass for values
  std::array<const Wanted*, std::size(kWanted)> asked{};
  int count = 0;
  for (const Wanted& wanted : kWanted) {
    if (talk.fate().is_over()) (fields.*wanted.into).code = talk.fate().fatal;
    if (!talk.is_worth_asking(Query::kField, wanted.id)) continue;
    batch[count].field_id = wanted.id;
    asked[count++] = &wanted;
  }
  if (count == 0) return fields;
  const Return code =
      talk.ask(Query::kFieldValues, 0, talk.api().field_values, count, batch.data());
  for (int i = 0; i < count; ++i) {
    Reading& reading = fields.*asked[i]->into;
    // The call succeeds when any entry does: each has its own code.
    reading = code == Return::kSuccess ? field_reading(batch[i], asked[i]->unit) : Reading{code, 0};
    if (code == Return::kSuccess) talk.note(Query::kField, asked[i]->id, reading.code);
  }
  return fields;
}

bool power_usage_is_average(const Gpu& gpu) {
  // A library that cannot tell the architecture is older than Ampere.
  if (!gpu.architecture || *gpu.architecture < kArchitectureAmpere) return false;
  const bool is_ga100 = *gpu.architecture == kArchitectureAmpere &&
                        (gpu.pci_device_id >> 16 & 0xFF80) == 0x2080;  // ids 0x2080 to 0x20ff
  return !is_ga100;
}

void FanReader::read(Conversation& talk) {
  const NvmlApi& api = talk.api();
  LabelledReadings readings(talk.report(), MetricId::kGpuFanSpeed);
  if (!count_) {
    const Reading count = ask_number(talk, Query::kFanCount, api.fan_count);
    if (count.ok()) count_ = std::min(static_cast<unsigned>(count.number), kMostFans);
  }
  const unsigned count = count_.value_or(1);  // before 510 nobody says how many
  last_.resize(count);
  const unsigned asked = std::min(count, kFansATick);
  for (unsigned i = 0; i < asked; ++i) {
    const unsigned fan = next_++ % count;
    unsigned percent = 0;
    Return code = talk.ask(Query::kFanSpeedOf, fan, api.fan_speed_of, fan, &percent);
    if (count == 1 && is_unsupported(code)) {
      code = talk.ask(Query::kFanSpeed, 0, api.fan_speed, &percent);
    }
    readings.put({code, percent * kPerCent}, std::to_string(fan));
    last_[fan].reset();
    if (code == Return::kSuccess) last_[fan] = talk.report().newest();
  }
  for (unsigned i = 0; i < count - asked; ++i) {
    const unsigned fan = (next_ + i) % count;
    if (!last_[fan]) continue;
    talk.report().keep(MetricId::kGpuFanSpeed, *last_[fan], std::to_string(fan));
    readings.have_one();
  }
  readings.finish();
}

void read_limits(Conversation& talk) {
  const NvmlApi& api = talk.api();
  Report& report = talk.report();
  Reading limit = ask_number(talk, Query::kPowerLimit, api.power_limit);
  limit.number *= kMilli;
  put(report, MetricId::kGpuPowerLimit, limit);
  LabelledReadings clocks(report, MetricId::kGpuClockLimit);
  for (const ClockRow& row : kClocks) {
    clocks.put(ask_clock(talk, Query::kMaxClock, api.max_clock, row.type), row.label);
  }
  clocks.finish();
  put(report, MetricId::kGpuPcieGenerationLimit,
      ask_number(talk, Query::kPcieMaxGeneration, api.pcie_max_generation));
  put(report, MetricId::kGpuPcieWidthLimit,
      ask_number(talk, Query::kPcieMaxWidth, api.pcie_max_width));
  put(report, MetricId::kGpuPcieReplays, ask_number(talk, Query::kPcieReplays, api.pcie_replays));
}

}  // namespace gpusight::collect::nvml
