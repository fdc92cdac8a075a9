// The rings of samples that the driver keeps by itself.
#include <algorithm>
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// Periods and depths as real drivers show them: power every 20 ms for 2.4 s, utilisation six times
// a second for 12 s.
struct Ring {
  double period_seconds;
  unsigned depth;
  bool utilisation;  // not there while the GPU is divided
};

bool find_ring(unsigned type, Ring* ring) {
  switch (type) {
    case NVML_TOTAL_POWER_SAMPLES: *ring = {0.02, 119, false}; return true;
    case NVML_GPU_UTILIZATION_SAMPLES:
    case NVML_MEMORY_UTILIZATION_SAMPLES:
    case NVML_ENC_UTILIZATION_SAMPLES:
    case NVML_DEC_UTILIZATION_SAMPLES:
    case NVML_JPG_UTILIZATION_SAMPLES:
    case NVML_OFA_UTILIZATION_SAMPLES: *ring = {1.0 / 6, 72, true}; return true;
    case NVML_PROCESSOR_CLK_SAMPLES:
    case NVML_MEMORY_CLK_SAMPLES: *ring = {0.1, 100, false}; return true;
    default: return false;
  }
}

// The rings that drivers of that age know.
unsigned newest_type(const Call& call) {
  return call.driver_older_than("535.43") ? NVML_MEMORY_CLK_SAMPLES : NVML_OFA_UTILIZATION_SAMPLES;
}

bool has_ring(const Board& board, unsigned type) {
  const bool later = type == NVML_JPG_UTILIZATION_SAMPLES || type == NVML_OFA_UTILIZATION_SAMPLES;
  if (later) return board.architecture >= NVML_DEVICE_ARCH_TURING;
  if (type == NVML_TOTAL_POWER_SAMPLES) return board.power_reading;
  return type != NVML_MEMORY_CLK_SAMPLES || board.max_memory_mhz > 0;
}

unsigned percent(double share) { return static_cast<unsigned>(std::lround(share * 100)); }

// What the ring holds for the period that ends at `t`.
unsigned sample_at(const GpuModel& model, unsigned type, double t, double period) {
  switch (type) {
    case NVML_TOTAL_POWER_SAMPLES: return static_cast<unsigned>(std::lround(model.power(t) * 1000));
    case NVML_GPU_UTILIZATION_SAMPLES: return percent(model.busy(t, period));
    case NVML_MEMORY_UTILIZATION_SAMPLES: return percent(model.memory_busy(t, period));
    case NVML_ENC_UTILIZATION_SAMPLES: return percent(model.encoder(t, period));
    case NVML_DEC_UTILIZATION_SAMPLES: return percent(model.decoder(t, period));
    case NVML_JPG_UTILIZATION_SAMPLES: return percent(model.jpeg(t, period));
    case NVML_OFA_UTILIZATION_SAMPLES: return percent(model.ofa(t, period));
    case NVML_PROCESSOR_CLK_SAMPLES: return model.graphics_mhz(t);
    case NVML_MEMORY_CLK_SAMPLES: return model.memory_mhz(t);
    default: return 0;
  }
}

// The slots after `last_seen`, oldest first.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

Range newer_slots(const Call& call, const Ring& ring, std::uint64_t last_seen) {
  Range range;
  range.last = static_cast<std::int64_t>(std::floor(call.t() / ring.period_seconds));
  range.first = range.last - ring.depth + 1;
  while (range.first <= range.last &&
         library().stamp_us(static_cast<double>(range.first) * ring.period_seconds) <= last_seen) {
    ++range.first;
  }
  return range;
}

nvmlReturn_t drain(const Call& call, unsigned type, const Ring& ring, std::uint64_t last_seen,
                   unsigned* count, nvmlSample_t* samples) {
  const Range range = newer_slots(call, ring, last_seen);
  if (range.first > range.last) return NVML_ERROR_NOT_FOUND;
  if (*count == 0) return NVML_ERROR_INVALID_ARGUMENT;
  const auto there = static_cast<unsigned>(range.last - range.first + 1);
  const unsigned given = std::min(there, *count);
  const std::string field = std::to_string(type);
  for (unsigned i = 0; i < given; ++i) {
    const double at = static_cast<double>(range.first + i) * ring.period_seconds;
    samples[i].timeStamp = library().stamp_us(at);
    samples[i].sampleValue.ullVal = 0;
    call.put(&samples[i].sampleValue.uiVal, sample_at(call.model(), type, at, ring.period_seconds),
             field);
  }
  *count = given;
  return NVML_SUCCESS;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
                                  unsigned long long last_seen, nvmlValueType_t* value_type,
                                  unsigned int* count, nvmlSample_t* samples) {
  return on_gpu(Fn::nvmlDeviceGetSamples, device, value_type != nullptr && count != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  Ring ring{};
                  if (type > newest_type(call)) return NVML_ERROR_INVALID_ARGUMENT;
                  if (!find_ring(type, &ring) || !has_ring(call.board(), type)) {
                    return NVML_ERROR_NOT_SUPPORTED;
                  }
                  if (ring.utilisation && call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
                  *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
                  if (samples == nullptr) {
                    *count = ring.depth;  // how large a buffer to bring
                    return NVML_SUCCESS;
                  }
                  return drain(call, type, ring, last_seen, count, samples);
                });
}
