// What a metric is. One row of the table in metrics.cc is everything the program knows of a metric;
// whatever names metrics (exporters, page, terminal, documents, history) is derived from the rows.
//
// All of it is constant data: any thread may read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpusight::catalog {

// The language of texts for users. Log lines are always English.
enum class Lang : uint8_t { kEnglish, kChinese };

struct Text {
  std::string_view en;
  std::string_view zh;
  constexpr std::string_view in(Lang lang) const { return lang == Lang::kChinese ? zh : en; }
};

// SI base units; other units appear only at an edge (a drop-in name, a screen).
enum class Unit : uint8_t {
  kNone,
  kRatio,
  kBytes,
  kWatts,
  kJoules,
  kCelsius,
  kHertz,
  kSeconds,
  kBytesPerSecond,
  kVolts,
};

enum class Kind : uint8_t {
  kGauge,    // a level; its mean over a tick when the driver gives samples
  kCounter,  // only grows while the thing it counts on stands; a decrease is a reset
  kState,    // 0/1, or a small number with a meaning per value; never averaged
};

// What one series of the metric is about. Process rows are not metrics.
enum class Scope : uint8_t {
  kDevice,  // a GPU or a MIG device; label uuid
  kHost,    // this machine
  kSelf,    // gpusight itself
};

// How often it is read. A value older than its cadence allows is stale.
enum class Cadence : uint8_t {
  kFast,  // every tick; where ticks are shorter than a second, at least once a second
  kSlow,  // every 10 s: calls known to block, facts that rarely change
};

// Which part of what happened inside a tick a series is. Companions have rows of their own.
enum class Stat : uint8_t { kMean, kMin, kMax };

enum class Group : uint8_t {
  kUtilization,
  kActivity,
  kMemory,
  kPower,
  kTemperature,
  kClocks,
  kFans,
  kPcie,
  kNvlink,
  kThrottle,
  kHealth,
  kMemoryErrors,
  kModes,
  kHostCpu,
  kHostMemory,
  kHostPressure,
  kHostDisk,
  kHostNetwork,
  kHostSensors,
  kSelf,
};

// A number is stored as a whole multiple of numerator/denominator: {1, 1000} is 0.001,
// {1000000, 1} is a million.
struct Resolution {
  int64_t numerator = 1;
  int64_t denominator = 1;
  constexpr double as_double() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

// Names of the same thing in other tools; empty where they have none that means exactly this.
struct Elsewhere {
  std::string_view dcgm = {};        // before DCGM 4.6
  std::string_view dcgm46 = {};      // from DCGM 4.6
  std::string_view nvidia_smi = {};  // nvidia_gpu_exporter's family
  std::string_view otel = {};        // OpenTelemetry semantic conventions
  std::string_view zabbix = {};      // Zabbix agent 2 item key
};

// The same for one series of a row with a label: other tools often give each a name of its own.
struct LabelNames {
  std::string_view label;  // the label's value
  Elsewhere names;
};

enum class MetricId : uint16_t;  // metric_ids.h

struct MetricRow {
  MetricId id;
  uint16_t wire;          // stable for ever, never reused: what history files hold
  std::string_view name;  // subject_property_unit[_total], also the Prometheus family
  Unit unit = Unit::kNone;
  Kind kind = Kind::kGauge;
  Scope scope = Scope::kDevice;
  std::string_view label = {};  // the label beside uuid: fan, clock, reason, sensor, cpu, …
  Cadence cadence = Cadence::kFast;
  Resolution resolution = {};
  double min = 0;  // what a sound reading lies within, both ends included; outside is implausible
  double max = 0;
  Group group;
  Text brief;  // a title of a few words
  Text help;   // one sentence
  Stat stat = Stat::kMean;
  std::optional<MetricId> mean_row = {};  // companions: the row whose tick they describe
  Elsewhere elsewhere = {};
  std::span<const LabelNames> by_label = {};
};

std::span<const MetricRow> metrics();               // in the order of MetricId
std::span<const MetricId> metrics_of(Scope scope);  // in that order too
const MetricRow& metric(MetricId id);
const MetricRow* find_metric(std::string_view name);  // nullptr if there is none
const MetricRow* find_metric_by_wire(uint16_t wire);
// The _min or _max row that stands beside `id`, if the metric has companions.
std::optional<MetricId> companion(MetricId id, Stat stat);

// "watts", "" for none: the suffix in names
constexpr std::string_view unit_name(Unit unit) {
  constexpr std::string_view kNames[] = {"",      "ratio",   "bytes",
                                         "watts", "joules",  "celsius",
                                         "hertz", "seconds", "bytes_per_second",
                                         "volts"};
  return kNames[static_cast<size_t>(unit)];
}
std::string_view unit_symbol(Unit unit);  // "W", "°C", "%" is an edge's business: ratio gives ""
std::string_view kind_name(Kind kind);
std::string_view scope_name(Scope scope);
std::string_view cadence_name(Cadence cadence);
std::string_view group_key(Group group);  // "host_cpu": stable, for machines
Text group_title(Group group);
std::span<const Group> groups();  // in the order views show them

// `number` as a whole multiple of the row's resolution, rounded half away from zero; nullopt when
// it is not finite or does not fit. value_of() turns the multiple back into the number everyone
// sees.
std::optional<int64_t> quantize(const MetricRow& row, double number);
double value_of(const MetricRow& row, int64_t quantum);

}  // namespace gpusight::catalog

#include "catalog/metric_ids.h"  // IWYU pragma: export
