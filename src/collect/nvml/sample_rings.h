// The driver's ring buffers of recent samples (nvmlDeviceGetSamples): what happened between two
// ticks, at the driver's own rate. Each ring is asked for what is newer than the newest sample
// seen.
//
// Time stamps are the driver's, microseconds of CPU wall time, compared with the driver's own time
// as DriverClock knows it. Samples without a time, from the future or long past, and those that
// cannot be are dropped and counted; nothing is clamped.
//
// Threads: RingReader belongs to one lane. RingInbox is locked and joins a lane that drains to the
// lane that reports.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/annotations.h"
#include "collect/nvml/conversation.h"
#include "collect/nvml/driver_clock.h"

namespace gpusight::collect::nvml {

// The driver's samples of one ring over some time, in the ring's own unit (percent, mW, MHz).
struct RingSummary {
  uint64_t count = 0;
  double sum = 0;
  double lowest = 0;
  double highest = 0;
  Duration window{};  // the time that the samples cover
  double mean() const { return sum / static_cast<double>(count); }
  void add(double value);
  void join(const RingSummary& later);
};

enum class Ring : uint8_t {
  kGpuUtilization,
  kMemoryUtilization,
  kPower,
  kProcessorClock,
  kMemoryClock,
};
inline constexpr size_t kRingCount = 5;

// What is made of it.
catalog::MetricId ring_metric(Ring ring);

// Empty: the driver had no sample for that ring.
using RingSummaries = std::array<std::optional<RingSummary>, kRingCount>;

// What there is of one ring; it is used up.
inline std::optional<RingSummary> take(RingSummaries& rings, Ring ring) {
  return std::exchange(rings[static_cast<size_t>(ring)], std::nullopt);
}

double as_double(ValueType type, const AnyValue& value);

class RingReader {
 public:
  // `span`: how far back the first draining looks.
  RingReader(const Clock& clock, const DriverClock& driver, Duration span)
      : clock_(clock), driver_(driver), span_(span) {}

  // Asks every ring that the handle supports and somebody wants; `with_utilization` is false on a
  // MIG-enabled GPU.
  RingSummaries drain(Conversation& talk, bool with_utilization,
                      const catalog::MetricSet& disabled = {});
  // One of them.
  std::optional<RingSummary> drain_one(Conversation& talk, Ring ring);

 private:
  std::optional<RingSummary> summarize(Ring ring, ValueType type, size_t count, Report& report);
  uint64_t now_us() const { return driver_.now_us(clock_); }
  uint64_t last_seen(Ring ring, uint64_t now_us);

  const Clock& clock_;
  const DriverClock& driver_;
  Duration span_;
  std::array<uint64_t, kRingCount> newest_us_{};
  std::vector<RingSample> buffer_;
};

class RingInbox {
 public:
  void put(const RingSummaries& summaries) EXCLUDES(mutex_);
  RingSummaries take() EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  RingSummaries waiting_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::collect::nvml
