#include "collect/nvml/sample_rings.h"

#include <algorithm>

namespace gpusight::collect::nvml {
namespace {

struct RingRow {
  SamplingType type;
  double highest;  // what a sound sample cannot exceed, in the ring's unit
};

constexpr RingRow kRings[kRingCount] = {
    {SamplingType::kGpuUtilization, 100}, {SamplingType::kMemoryUtilization, 100},
    {SamplingType::kPower, 10'000'000},   {SamplingType::kProcessorClock, 20'000},
    {SamplingType::kMemoryClock, 20'000},
};

// Rings hold some hundred samples (72 of utilisation in the open kernel module 595); the calls say
// when the buffer is too small, and more than the last number is not believed.
constexpr size_t kFirstBuffer = 256;
constexpr size_t kLargestBuffer = 8192;
constexpr int kMostTries = 4;

constexpr uint64_t kSlowestPeriodUs = 1'000'000;  // products sample every 1/6 s to 1 s
constexpr uint64_t kFutureUs = 2'000'000;         // clocks of the driver and ours differ by less
constexpr uint64_t kAncientUs = 300'000'000;      // no ring reaches back this far

uint64_t microseconds(Duration d) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
}

}  // namespace

void RingSummary::add(double value) {
  lowest = count == 0 ? value : std::min(lowest, value);
  highest = count == 0 ? value : std::max(highest, value);
  sum += value;
  ++count;
}

void RingSummary::join(const RingSummary& later) {
  lowest = std::min(lowest, later.lowest);
  highest = std::max(highest, later.highest);
  sum += later.sum;
  count += later.count;
  window += later.window;
}

double as_double(ValueType type, const AnyValue& value) {
  switch (type) {
    case ValueType::kDouble: return value.as_double;
    case ValueType::kUint32: return value.as_uint32;
    case ValueType::kUnsignedLong:
    case ValueType::kUint64: return static_cast<double>(value.as_uint64);
    case ValueType::kInt64: return static_cast<double>(value.as_int64);
    case ValueType::kInt32: return value.as_int32;
    case ValueType::kUint16: return value.as_uint16;
  }
  return value.as_uint32;  // a type of a newer library: whole numbers of 32 bits are the rule
}

// A newest sample that lies in the future means that the clock was set back: waiting for the driver
// to catch up with it would be blindness for as long as the jump was.
uint64_t RingReader::last_seen(Ring ring, uint64_t now_us) {
  uint64_t& newest = newest_us_[static_cast<size_t>(ring)];
  if (newest == 0 || newest > now_us + kFutureUs) {
    newest = now_us - std::min(now_us, microseconds(span_));
  }
  return newest;
}

std::optional<RingSummary> RingReader::summarize(Ring ring, ValueType type, size_t count,
                                                 Report& report) {
  const uint64_t now_us = this->now_us();
  const uint64_t seen_us = last_seen(ring, now_us);
  uint64_t oldest_us = UINT64_MAX;
  uint64_t newest_us = seen_us;
  RingSummary summary;
  for (const RingSample& sample : std::span(buffer_).first(count)) {
    const double value = as_double(type, sample.value);
    const bool in_time =
        sample.timestamp_us + kAncientUs > now_us && sample.timestamp_us <= now_us + kFutureUs;
    if (!in_time || !(value >= 0 && value <= kRings[static_cast<size_t>(ring)].highest)) {
      report.count_implausible();
      continue;
    }
    if (sample.timestamp_us <= seen_us) continue;  // seen before
    summary.add(value);
    oldest_us = std::min(oldest_us, sample.timestamp_us);
    newest_us = std::max(newest_us, sample.timestamp_us);
  }
  if (summary.count == 0) return std::nullopt;
  // Every sample speaks for the time since the one before it; the first one's is what the others
  // show (one alone: at most the slowest rate there is), but not more than there was to see.
  const uint64_t between = newest_us - oldest_us;
  const uint64_t period = summary.count > 1 ? between / (summary.count - 1) : kSlowestPeriodUs;
  summary.window = std::chrono::microseconds(std::min(between + period, newest_us - seen_us));
  newest_us_[static_cast<size_t>(ring)] = newest_us;
  return summary;
}

std::optional<RingSummary> RingReader::drain_one(Conversation& talk, Ring ring) {
  const auto type = kRings[static_cast<size_t>(ring)].type;
  if (buffer_.empty()) buffer_.resize(kFirstBuffer);
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    ValueType value_type = ValueType::kUint32;
    auto count = static_cast<unsigned>(buffer_.size());
    std::ranges::fill(buffer_, RingSample{});
    const Return code = talk.ask(Query::kSamples, static_cast<uint32_t>(type), talk.api().samples,
                                 type, static_cast<unsigned long long>(last_seen(ring, now_us())),
                                 &value_type, &count, buffer_.data());
    if (code == Return::kSuccess) {
      return summarize(ring, value_type, std::min<size_t>(count, buffer_.size()), talk.report());
    }
    if (code != Return::kInsufficientSize || buffer_.size() >= kLargestBuffer) return std::nullopt;
    buffer_.resize(more_room(buffer_.size(), count, kLargestBuffer));
  }
  return std::nullopt;
}

catalog::MetricId ring_metric(Ring ring) {
  using enum catalog::MetricId;
  constexpr catalog::MetricId kMetrics[kRingCount] = {kGpuUtilization, kGpuMemoryUtilization,
                                                      kGpuPower, kGpuClock, kGpuClock};
  return kMetrics[static_cast<size_t>(ring)];
}

RingSummaries RingReader::drain(Conversation& talk, bool with_utilization,
                                const catalog::MetricSet& disabled) {
  RingSummaries summaries;
  for (size_t i = 0; i < kRingCount; ++i) {
    const Ring ring = static_cast<Ring>(i);
    const bool is_utilization = ring == Ring::kGpuUtilization || ring == Ring::kMemoryUtilization;
    if ((is_utilization && !with_utilization) || disabled.has(ring_metric(ring))) continue;
    summaries[i] = drain_one(talk, ring);
  }
  return summaries;
}

void RingInbox::put(const RingSummaries& summaries) {
  MutexLock lock(mutex_);
  for (size_t i = 0; i < kRingCount; ++i) {
    if (!summaries[i]) continue;
    if (waiting_[i]) {
      waiting_[i]->join(*summaries[i]);
    } else {
      waiting_[i] = summaries[i];
    }
  }
}

RingSummaries RingInbox::take() {
  MutexLock lock(mutex_);
  RingSummaries taken = waiting_;
  waiting_ = {};
  return taken;
}

}  // namespace gpusight::collect::nvml
