// What one poll finds out of several ways to ask: for each series the first way that answers
// counts, and a metric that no way has an answer for gets one reason. Belongs to one poll.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "collect/nvml/return_code.h"
#include "collect/source.h"

namespace gpusight::collect::nvml {

// A number that the driver gave, or the code that came instead.
struct Reading {
  Return code = Return::kNotSupported;
  double number = 0;
  bool ok() const { return code == Return::kSuccess; }
};

// A number of 32 bits. All ones is what a dead register reads as, and no count: it becomes no
// number at all, which is implausible of every metric.
inline double number_of(uint32_t number) {
  return number == UINT32_MAX ? std::numeric_limits<double>::quiet_NaN() : number;
}

// Sets the metric, or its reason.
void put(Report& report, catalog::MetricId metric, const Reading& reading, Duration window = {},
         std::string_view label = {});

class Gathering {
 public:
  // `disabled`: what is not to be asked for; nullptr: nothing. It outlives the gathering.
  explicit Gathering(Report& report, const catalog::MetricSet* disabled = nullptr)
      : report_(report), disabled_(disabled) {}

  // Whether a call that serves only this metric is worth making.
  bool wants(catalog::MetricId metric) const {
    return disabled_ == nullptr || !disabled_->has(metric);
  }
  // The same of a series that an earlier way may have given.
  bool lacks(catalog::MetricId metric, std::string_view label = {}) const {
    return wants(metric) && !has(metric, label);
  }

  // Sets the series unless an earlier way gave it; a failure is kept as a reason.
  void put(catalog::MetricId metric, const Reading& reading, std::string_view label = {},
           Duration window = {});
  // Whether the report has a number of it.
  bool has(catalog::MetricId metric, std::string_view label = {}) const;
  // The number that the report has of it.
  std::optional<double> number(catalog::MetricId metric, std::string_view label = {}) const;
  // A reading of an earlier poll that still counts.
  void keep(catalog::MetricId metric, const model::Value& value, std::string_view label = {});

  // Each of these of which the report says nothing is absent, with the reason that was met, or this
  // one where nothing was asked.
  void finish(std::span<const catalog::MetricId> metrics,
              model::Reason unasked = model::Reason::kNotSupported);

  Report& report() { return report_; }

 private:
  void blame(catalog::MetricId metric, model::Reason reason);

  Report& report_;
  const catalog::MetricSet* disabled_;
  std::array<std::optional<model::Reason>, catalog::kMetricCount> reasons_{};
};

}  // namespace gpusight::collect::nvml
