// GPM: activity of the parts of a GPU or of an instance between two samples.
#include <algorithm>
#include <iterator>

#include "call.h"
#include "events.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr std::uint64_t kSampleMark = 0x9ULL << 40;
constexpr double kShortest = 0.1;  // seconds that must lie between two samples (documented)
// How far the list of metrics went in the drivers that made it longer.
constexpr unsigned kMetricsAtFirst = 98;
constexpr unsigned kMetricsFrom575 = 210;
constexpr unsigned kMetricsFrom595 = 333;
constexpr unsigned kGetVersion = 1;  // a plain number, whatever the size
constexpr double kMib = 1 << 20;

nvmlGpmSample_t sample_handle(std::size_t at) {
  return reinterpret_cast<nvmlGpmSample_t>(kSampleMark | (at + 1) << 4);
}

// The sample behind a handle; null for anything else. Under events_mutex().
GpmSample* find_sample(nvmlGpmSample_t handle) {
  const auto bits = reinterpret_cast<std::uint64_t>(handle);
  auto& samples = library().gpm_samples();
  if (bits >> 40 != kSampleMark >> 40) return nullptr;
  const std::size_t at = (bits & 0xFFFFFFFFFF) >> 4;
  return at == 0 || at > samples.size() ? nullptr : samples[at - 1].get();
}

bool supported(const Call& call) {
  return call.board().architecture >= NVML_DEVICE_ARCH_HOPPER && !call.board().unified_memory;
}

// What one metric is of a GPU's mean activity over a window.
enum class Of {
  kBusy,
  kMultiprocessors,
  kOccupancy,
  kInteger,
  kTensor,
  kHalfTensor,
  kWholeTensor,
  kMemory,
  kDouble,
  kSingle,
  kHalf,
  kZero,
  kPcieSent,
  kPcieReceived,
  kDecoder,
  kJpeg,
  kOfa,
  kEncoder,
  kNvlinkReceived,
  kNvlinkSent,
};

struct Metric {
  unsigned first;  // first..last are read alike
  unsigned last;
  Of of;
};

constexpr Metric kMetrics[] = {
    {1, 1, Of::kBusy},
    {2, 2, Of::kMultiprocessors},
    {3, 3, Of::kOccupancy},
    {4, 4, Of::kInteger},
    {5, 5, Of::kTensor},
    {6, 6, Of::kZero},
    {7, 7, Of::kHalfTensor},
    {8, 8, Of::kZero},
    {9, 9, Of::kWholeTensor},
    {10, 10, Of::kMemory},
    {11, 11, Of::kDouble},
    {12, 12, Of::kSingle},
    {13, 13, Of::kHalf},
    {20, 20, Of::kPcieSent},
    {21, 21, Of::kPcieReceived},
    {30, 37, Of::kDecoder},
    {40, 47, Of::kJpeg},
    {50, 51, Of::kOfa},
    {60, 60, Of::kNvlinkReceived},
    {61, 61, Of::kNvlinkSent},
    {62, 97, Of::kNvlinkReceived},  // pairs of received and sent, link by link
    {166, 169, Of::kEncoder},
};

// How many engines of a kind the board has; a metric of one that it lacks is not supported.
unsigned engines(const Board& board, Of of) {
  switch (of) {
    case Of::kDecoder: return board.decoders;
    case Of::kJpeg: return board.jpeg_engines;
    case Of::kOfa: return board.ofa_engines;
    case Of::kEncoder: return board.encoders;
    default: return 1;
  }
}

struct Window {
  const GpuModel& model;
  double end;
  double length;
  double share;  // of the GPU's work that the instance does
};

double nvlink_mib(const Window& w, unsigned links) {
  constexpr double kShareOfLink = 0.35;
  if (!w.model.has_nvlinks()) return 0;
  return w.model.busy(w.end, w.length) * w.model.board().nvlink_mbps * 1e6 * kShareOfLink * links /
         kMib;
}

double percent_of(const Window& w, Of of) {
  const double busy = w.model.busy(w.end, w.length) * w.share;
  const double tensor = w.model.tensor(w.end, w.length) * w.share;
  switch (of) {
    case Of::kBusy: return busy;
    case Of::kMultiprocessors: return busy * 0.94;
    case Of::kOccupancy: return busy * 0.55;
    case Of::kInteger: return busy * 0.21;
    case Of::kTensor: return tensor;
    case Of::kHalfTensor: return tensor * 0.98;
    case Of::kWholeTensor: return tensor * 0.02;
    case Of::kMemory: return w.model.memory_busy(w.end, w.length) * w.share;
    case Of::kDouble: return 0;
    case Of::kSingle: return busy * 0.12;
    case Of::kHalf: return busy * 0.07;
    case Of::kDecoder: return w.model.decoder(w.end, w.length) * w.share;
    case Of::kJpeg: return w.model.jpeg(w.end, w.length) * w.share;
    case Of::kOfa: return w.model.ofa(w.end, w.length) * w.share;
    case Of::kEncoder: return w.model.encoder(w.end, w.length) * w.share;
    default: return 0;
  }
}

const Metric* find_metric(unsigned id) {
  const auto* found = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                   [&](const Metric& m) { return id >= m.first && id <= m.last; });
  return found == std::end(kMetrics) ? nullptr : found;
}

nvmlReturn_t links_metric(const Window& w, const Metric& metric, unsigned id, double* value) {
  if (!w.model.has_nvlinks()) return NVML_ERROR_NOT_SUPPORTED;
  const bool total = metric.first == metric.last;
  if (!total && (id - metric.first) / 2 >= w.model.board().nvlinks) return NVML_ERROR_NOT_SUPPORTED;
  *value = nvlink_mib(w, total ? w.model.board().nvlinks : 1);
  return NVML_SUCCESS;
}

// One metric of a window.
nvmlReturn_t measure(const Window& w, unsigned id, unsigned known, double* value) {
  if (id == 0 || id >= known) return NVML_ERROR_INVALID_ARGUMENT;
  const Metric* metric = find_metric(id);
  if (metric == nullptr) return NVML_ERROR_NOT_SUPPORTED;
  const bool links = metric->of == Of::kNvlinkReceived || metric->of == Of::kNvlinkSent;
  if (links) return links_metric(w, *metric, id, value);
  if (id - metric->first >= engines(w.model.board(), metric->of)) return NVML_ERROR_NOT_SUPPORTED;
  if (metric->of == Of::kPcieSent || metric->of == Of::kPcieReceived) {
    const bool sent = metric->of == Of::kPcieSent;
    const double bytes =
        w.model.pcie_bytes(sent, w.end) - w.model.pcie_bytes(sent, w.end - w.length);
    *value = bytes / w.length / kMib * w.share;
    return NVML_SUCCESS;
  }
  *value = std::min(100.0, percent_of(w, metric->of) * 100);
  return NVML_SUCCESS;
}

unsigned known_metrics(const Call& call) {
  if (call.driver_older_than("575.51")) return kMetricsAtFirst;
  return call.driver_older_than("595.45") ? kMetricsFrom575 : kMetricsFrom595;
}

nvmlReturn_t take_sample(Call& call, std::optional<unsigned> gpu_instance, nvmlGpmSample_t handle) {
  if (!supported(call)) return NVML_ERROR_NOT_SUPPORTED;
  const std::lock_guard lock(library().events_mutex());
  GpmSample* sample = find_sample(handle);
  if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  sample->taken = true;
  sample->gpu = call.gpu();
  sample->gpu_instance = gpu_instance;
  sample->t = call.t();
  return NVML_SUCCESS;
}

}  // namespace

std::size_t open_gpm_samples(Library& library) {
  const std::lock_guard lock(library.events_mutex());
  const auto& samples = library.gpm_samples();
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(),
                                                [](const auto& one) { return one != nullptr; }));
}

}  // namespace gpusight::sim

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  return on_system(Fn::nvmlGpmSampleAlloc, sample != nullptr, [&](Call&) {
    const std::lock_guard lock(library().events_mutex());
    auto& samples = library().gpm_samples();
    const auto free = std::find(samples.begin(), samples.end(), nullptr);
    const auto at = static_cast<std::size_t>(free - samples.begin());
    if (free == samples.end()) samples.emplace_back();
    samples[at] = std::make_shared<GpmSample>();
    *sample = sample_handle(at);
    return kSuccess;
  });
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t handle) {
  return on_system(Fn::nvmlGpmSampleFree, true, [&](Call&) -> nvmlReturn_t {
    const std::lock_guard lock(library().events_mutex());
    GpmSample* sample = find_sample(handle);
    if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (auto& one : library().gpm_samples()) {
      if (one.get() == sample) one.reset();
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* support) {
  return on_device(Fn::nvmlGpmQueryDeviceSupport, device, support != nullptr, Takes::kAny,
                   [&](Call& call) -> nvmlReturn_t {
                     if (support->version != NVML_GPM_SUPPORT_VERSION) {
                       return call.version_mismatch();
                     }
                     call.put(&support->isSupportedDevice, supported(call) ? 1U : 0U);
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device, unsigned int* state) {
  return on_gpu(Fn::nvmlGpmQueryIfStreamingEnabled, device, state != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!supported(call)) return NVML_ERROR_NOT_SUPPORTED;
                  call.put(state, 0U);
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
  return on_device(Fn::nvmlGpmSampleGet, device, true, Takes::kAny, [&](Call& call) {
    std::optional<unsigned> instance;
    if (call.instance() != nullptr) instance = call.instance()->gpu_instance;
    return take_sample(call, instance, sample);
  });
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int gpu_instance,
                                 nvmlGpmSample_t sample) {
  return on_gpu(Fn::nvmlGpmMigSampleGet, device, true, [&](Call& call) -> nvmlReturn_t {
    if (!supported(call)) return NVML_ERROR_NOT_SUPPORTED;
    if (call.model().instance_of(gpu_instance, call.t()) == nullptr) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    return take_sample(call, gpu_instance, sample);
  });
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* get) {
  return on_system(Fn::nvmlGpmMetricsGet, get != nullptr, [&](Call& call) -> nvmlReturn_t {
    if (get->version != kGetVersion) return call.version_mismatch();
    const unsigned known = known_metrics(call);
    if (get->numMetrics == 0 || get->numMetrics > known) return NVML_ERROR_INVALID_ARGUMENT;
    GpmSample first, second;
    {
      const std::lock_guard lock(library().events_mutex());
      const GpmSample* one = find_sample(get->sample1);
      const GpmSample* two = find_sample(get->sample2);
      if (one == nullptr || two == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
      first = *one;
      second = *two;
    }
    const bool pair = first.taken && second.taken && first.gpu == second.gpu &&
                      first.gpu_instance == second.gpu_instance && second.t - first.t >= kShortest;
    if (!pair) return NVML_ERROR_INVALID_ARGUMENT;
    if (const nvmlReturn_t code = call.concern(first.gpu); code != NVML_SUCCESS) return code;
    const double share =
        second.gpu_instance ? call.model().instance_share(*second.gpu_instance, second.t) : 1;
    const Window window{call.model(), second.t, second.t - first.t, share};
    for (unsigned i = 0; i < get->numMetrics; ++i) {
      nvmlGpmMetric_t& metric = get->metrics[i];
      double value = 0;
      const std::string id = std::to_string(metric.metricId);
      metric.nvmlReturn = call.code_of_entry(id);
      if (metric.nvmlReturn == NVML_SUCCESS) {
        metric.nvmlReturn = measure(window, metric.metricId, known, &value);
      }
      // The driver writes a 0 beside its refusal.
      metric.value = 0;
      if (metric.nvmlReturn == NVML_SUCCESS) call.put(&metric.value, value, id);
    }
    return NVML_SUCCESS;
  });
}
