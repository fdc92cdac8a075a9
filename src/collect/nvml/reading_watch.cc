#include "collect/nvml/reading_watch.h"

#include <algorithm>

#include "base/log.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::MetricId;

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr double kBusy = 0.5;

// A sensor, and what it must follow: where that moves by at least so much, and by half of itself.
struct SensorRow {
  std::string_view label;
  MetricId metric;
  MetricId witness;
  double least_move;
};
constexpr SensorRow kRows[ReadingWatch::kSensors] = {
    {"temperature", MetricId::kGpuTemperature, MetricId::kGpuPower, 30},
    {"memory_temperature", MetricId::kGpuMemoryTemperature, MetricId::kGpuPower, 30},
    {"power", MetricId::kGpuPower, MetricId::kGpuUtilization, 0.5},
};

}  // namespace

void ReadingWatch::look(Gathering& found) {
  look_at_activity(found);
  for (size_t sensor = 0; sensor < kSensors; ++sensor) look_at_sensor(found, sensor);
}

void ReadingWatch::look_at_activity(Gathering& found) {
  const auto activity = found.number(MetricId::kGpuGraphicsActivity);
  const auto utilization = found.number(MetricId::kGpuUtilization);
  if (!activity || !utilization) return contradicts_since_.reset();
  const MonoTime now = found.report().now();
  if (*activity > 0 || *utilization <= kBusy) {
    contradicts_since_.reset();
  } else if (!contradicts_since_) {
    contradicts_since_ = now;
  }
  const bool is_suspect = contradicts_since_ && now - *contradicts_since_ >= kContradicts;
  say(found, "activity", is_suspect, is_activity_suspect_);
}

void ReadingWatch::look_at_sensor(Gathering& found, size_t sensor) {
  const SensorRow& row = kRows[sensor];
  Still& still = sensors_[sensor];
  const auto number = found.number(row.metric);
  if (!number) return still.number.reset();
  const MonoTime now = found.report().now();
  if (number != still.number) {
    still = {.number = number, .since = now, .minute_began = now, .is_suspect = still.is_suspect};
  }
  if (const auto witness = found.number(row.witness)) {
    still.sum += *witness;
    ++still.count;
  }
  if (now - still.minute_began >= kMinute && still.count > 0) {
    const double mean = still.sum / static_cast<double>(still.count);
    still.lowest = std::min(mean, still.lowest.value_or(mean));
    still.highest = std::max(mean, still.highest.value_or(mean));
    still.minute_began = now;
    still.sum = 0;
    still.count = 0;
  }
  const double move = still.highest ? *still.highest - *still.lowest : 0;
  const bool has_moved = move >= std::max(row.least_move, still.highest.value_or(0) / 2);
  say(found, row.label, has_moved && now - still.since >= kStandsStill, still.is_suspect);
}

// Told once in the log, and again when it changes.
void ReadingWatch::say(Gathering& found, std::string_view reading, bool is_suspect,
                       bool& was_suspect) {
  found.put(MetricId::kGpuReadingSuspect, {Return::kSuccess, is_suspect ? 1.0 : 0.0}, reading);
  if (is_suspect == was_suspect) return;
  was_suspect = is_suspect;
  if (is_suspect) {
    log::warning("{}: the driver's {} contradicts its other readings", uuid_, reading);
  } else {
    log::info("{}: the driver's {} agrees with its other readings again", uuid_, reading);
  }
}

}  // namespace gpusight::collect::nvml
