#include "collect/nvml/gathering.h"

#include <algorithm>

namespace gpusight::collect::nvml {

using catalog::MetricId;
using model::Reason;

void put(Report& report, MetricId metric, const Reading& reading, Duration window,
         std::string_view label) {
  if (reading.ok()) {
    report.set(metric, reading.number, window, label);
  } else {
    report.absent(metric, reason_of(reading.code), label);
  }
}

bool Gathering::has(MetricId metric, std::string_view label) const {
  return number(metric, label).has_value();
}

std::optional<double> Gathering::number(MetricId metric, std::string_view label) const {
  const auto sample = std::ranges::find_if(report_.samples(), [&](const model::Sample& one) {
    return one.metric == metric && one.label == label && !one.value.is_absent();
  });
  return sample == report_.samples().end() ? std::nullopt : sample->value.number();
}

// That one way is not supported is the least of reasons.
void Gathering::blame(MetricId metric, Reason reason) {
  std::optional<Reason>& known = reasons_[static_cast<size_t>(metric)];
  if (!known || *known == Reason::kNotSupported) known = reason;
}

void Gathering::put(MetricId metric, const Reading& reading, std::string_view label,
                    Duration window) {
  if (!reading.ok()) {
    blame(metric, reason_of(reading.code));
    return;
  }
  if (!has(metric, label)) report_.set(metric, reading.number, window, label);
}

void Gathering::keep(MetricId metric, const model::Value& value, std::string_view label) {
  if (value.is_absent()) {
    blame(metric, value.reason());
    return;
  }
  if (!has(metric, label)) report_.keep(metric, value, label);
}

void Gathering::finish(std::span<const MetricId> metrics, Reason unasked) {
  std::array<bool, catalog::kMetricCount> said{};
  for (const model::Sample& sample : report_.samples()) {
    said[static_cast<size_t>(sample.metric)] = true;
  }
  for (const MetricId metric : metrics) {
    const auto at = static_cast<size_t>(metric);
    if (!said[at]) report_.absent(metric, reasons_[at].value_or(unasked));
  }
}

}  // namespace gpusight::collect::nvml
