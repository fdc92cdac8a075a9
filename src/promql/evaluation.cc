#include "promql/evaluation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "promql/label_set.h"

namespace gpusight::promql {
namespace {

Status exhausted(std::string_view what, uint64_t limit) {
  return {Code::kExhausted,
          fmt::format("the query needs more than its limit of {} {}", limit, what)};
}

}  // namespace

Evaluation::Evaluation(const model::Queryable& data, const EngineOptions& options,
                       const Clock& clock, QueryRange range, std::stop_token stop)
    : data_(data),
      options_(options),
      clock_(clock),
      range_(range),
      stop_(std::move(stop)),
      deadline_(clock.mono() + options.limits.timeout) {}

Status Evaluation::check() const {
  if (stop_.stop_requested()) return {Code::kCancelled, "the query was cancelled"};
  if (clock_.mono() > deadline_) {
    return exhausted("ms of time", static_cast<uint64_t>(options_.limits.timeout.count()));
  }
  return {};
}

Status Evaluation::count_samples(uint64_t samples) {
  stats_.samples_read += samples;
  if (stats_.samples_read > options_.limits.max_samples) {
    return exhausted("samples", options_.limits.max_samples);
  }
  return check();
}

Status Evaluation::count_series() {
  ++stats_.series_read;
  if (stats_.series_read > options_.limits.max_series) {
    return exhausted("series", options_.limits.max_series);
  }
  return check();
}

void Evaluation::served_by(std::string_view tier) {
  if (std::ranges::find(stats_.tiers, tier) == stats_.tiers.end()) stats_.tiers.emplace_back(tier);
}

void Evaluation::warn(std::string message, Position position) {
  annotations_.warn(std::move(message), position);
}

void Evaluation::info(std::string message, Position position) {
  annotations_.info(std::move(message), position);
}

QueryResult Evaluation::answer(decltype(QueryResult::value) value) {
  const bool all_raw =
      std::ranges::all_of(stats_.tiers, [](const std::string& tier) { return tier == "raw"; });
  if (!all_raw) {
    info(fmt::format("answered from samples at these resolutions: {}",
                     fmt::join(stats_.tiers, ", ")),
         {});
  }
  return {std::move(value), std::move(annotations_), std::move(stats_)};
}

Status Evaluation::reserve_row(size_t steps) {
  return hold(std::min(steps, SIZE_MAX / sizeof(double)) * sizeof(double));
}

Status Evaluation::hold(size_t bytes) {
  if (bytes > options_.limits.max_bytes - held_bytes_) {
    return exhausted("bytes of memory", options_.limits.max_bytes);
  }
  held_bytes_ += bytes;
  stats_.peak_bytes = std::max(stats_.peak_bytes, held_bytes_);
  return {};
}

Status Charge::add(size_t bytes) {
  TRY(evaluation_->hold(bytes));
  bytes_ += bytes;
  return {};
}

size_t bytes_of(const Row& row) {
  return sizeof(Row) + bytes_of(row.labels) + row.values.capacity() * sizeof(double);
}

}  // namespace gpusight::promql
