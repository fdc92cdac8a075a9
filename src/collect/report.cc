#include <algorithm>

#include "collect/source.h"

namespace gpusight::collect {

using catalog::MetricRow;
using model::Reason;
using model::Value;

namespace {

// Of one poll about one subject; more is no harm.
constexpr size_t kUsualSamples = 96;

}  // namespace

void Report::about(std::string_view uuid) {
  for (current_ = 0; current_ < subjects_.size(); ++current_) {
    if (subjects_[current_].uuid == uuid) return;
  }
  Subject& subject = subjects_.emplace_back();
  subject.uuid = std::string(uuid);
  subject.samples.reserve(kUsualSamples);
}

void Report::state(model::DeviceState state) { subjects_[current_].state = state; }

void Report::put(catalog::MetricId metric, std::string_view label, Value value) {
  subjects_[current_].samples.push_back({metric, std::string(label), value});
}

void Report::set(catalog::MetricId metric, double number, Duration window, std::string_view label) {
  const MetricRow& row = catalog::metric(metric);
  const auto quantum = catalog::quantize(row, number);
  if (!quantum || number < row.min || number > row.max) {
    ++implausible_;
    put(metric, label, Value::absent(Reason::kImplausible));
    return;
  }
  put(metric, label,
      Value::fresh(catalog::value_of(row, *quantum), clock_.mono(), window, source_));
}

void Report::keep(catalog::MetricId metric, const Value& value, std::string_view label) {
  put(metric, label, value);
}

void Report::set_range(catalog::MetricId metric, double lowest, double highest, Duration window,
                       std::string_view label) {
  const auto min_row = catalog::companion(metric, catalog::Stat::kMin);
  const auto max_row = catalog::companion(metric, catalog::Stat::kMax);
  if (!min_row || !max_row) return;
  const MetricRow& row = catalog::metric(metric);
  if (!(lowest >= row.min && lowest <= highest && highest <= row.max)) {
    ++implausible_;
    return;
  }
  set(*min_row, lowest, window, label);
  set(*max_row, highest, window, label);
}

void Report::absent(catalog::MetricId metric, Reason reason, std::string_view label) {
  put(metric, label, Value::absent(reason));
}

void Report::processes(std::vector<model::Process> processes) {
  subjects_[current_].processes = std::move(processes);
}

void Report::holders(model::Holders holders) { subjects_[current_].holders = std::move(holders); }

void Report::sessions(std::vector<model::Session> sessions) {
  subjects_[current_].sessions = std::move(sessions);
}

void Report::processes_absent(Reason reason) { subjects_[current_].processes_absent = reason; }

void Report::event(model::Event event) {
  if (event.mono == MonoTime{}) event.mono = clock_.mono();
  if (event.wall == WallTime{}) event.wall = clock_.wall();
  events_.push_back(std::move(event));
}

void Report::count_call(Duration took) {
  ++calls_;
  call_time_ += took;
}

Value Report::fresh(double number, Duration window) const {
  return Value::fresh(number, clock_.mono(), window, source_);
}

}  // namespace gpusight::collect
