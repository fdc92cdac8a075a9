// Sets of metrics, and how a user names one: by its name, by a pattern, by a group. Plain values,
// any thread.
#pragma once

#include <bitset>
#include <optional>
#include <span>
#include <string_view>

#include "catalog/metric.h"

namespace gpusight::catalog {

class MetricSet {
 public:
  bool has(MetricId metric) const { return bits_[static_cast<size_t>(metric)]; }
  // Whether every one of them is in it.
  bool has_all(std::span<const MetricId> metrics) const;
  bool empty() const { return bits_.none(); }
  void add(MetricId metric) { bits_.set(static_cast<size_t>(metric)); }
  void add(const MetricSet& others) { bits_ |= others.bits_; }

  bool operator==(const MetricSet&) const = default;

 private:
  std::bitset<kMetricCount> bits_;
};

// Readings that may be switched off: not those that say whether a device is there or about gpusight
// itself.
bool may_be_disabled(const MetricRow& row);

// What "gpu_power_watts" (with the companions of that mean), "gpu_nvlink_*" (each * stands for any
// text) or "activity" (a group) names, as far as it may be switched off. nullopt: it names nothing.
std::optional<MetricSet> named_metrics(std::string_view word);

}  // namespace gpusight::catalog
