// Memory and utilisation.
#include <algorithm>
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

// The driver's own averaging window for the utilisation counters.
constexpr double kUtilisationWindow = 1.0 / 6;
constexpr unsigned kUtilisationPeriodUs = 166666;
constexpr std::uint64_t kMib = 1 << 20;

struct MemoryFigures {
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
};

MemoryFigures memory_of(const Call& call) {
  const InstanceSpec* instance = call.instance();
  if (instance == nullptr) {
    return {call.model().memory_total(), call.model().memory_reserved(),
            call.model().memory_used(call.t())};
  }
  MemoryFigures figures{.total = instance->profile->memory_mib * kMib, .reserved = 14 * kMib};
  for (const RunningProcess& process : call.model().processes(call.t())) {
    if (process.spec->gpu_instance == instance->gpu_instance) {
      figures.used += call.model().process_memory(process, call.t());
    }
  }
  figures.used = std::min(figures.used, figures.total - figures.reserved);
  return figures;
}

unsigned percent(double share) { return static_cast<unsigned>(std::lround(share * 100)); }

// Utilisation counters exist per whole GPU only, and not while it is divided.
template <class Body>
nvmlReturn_t with_utilisation(Fn fn, nvmlDevice_t device, bool arguments_good, Body body) {
  return on_gpu(fn, device, arguments_good, [&](Call& call) -> nvmlReturn_t {
    if (call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
    body(call);
    return NVML_SUCCESS;
  });
}

template <class Body>
nvmlReturn_t engine(Fn fn, nvmlDevice_t device, unsigned* share, unsigned* period, Body body) {
  return with_utilisation(fn, device, share != nullptr && period != nullptr, [&](Call& call) {
    call.put(share, percent(body(call)), "utilization");
    call.put(period, kUtilisationPeriodUs, "samplingPeriodUs");
  });
}

// Engines that boards have from Turing on.
template <class Body>
nvmlReturn_t later_engine(Fn fn, nvmlDevice_t device, unsigned* share, unsigned* period,
                          Body body) {
  return on_gpu(fn, device, share != nullptr && period != nullptr, [&](Call& call) -> nvmlReturn_t {
    const bool there = call.board().architecture >= NVML_DEVICE_ARCH_TURING;
    if (!there || call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
    call.put(share, percent(body(call)), "utilization");
    call.put(period, kUtilisationPeriodUs, "samplingPeriodUs");
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace gpusight::sim

// Parts that share the machine's memory have no figures of their own.
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return on_device(Fn::nvmlDeviceGetMemoryInfo, device, memory != nullptr, Takes::kAny,
                   [&](Call& call) -> nvmlReturn_t {
                     if (call.board().unified_memory) return NVML_ERROR_NOT_SUPPORTED;
                     const MemoryFigures m = memory_of(call);
                     call.put<unsigned long long>(&memory->total, m.total, "total");
                     call.put<unsigned long long>(&memory->free, m.total - m.reserved - m.used,
                                                  "free");
                     call.put<unsigned long long>(&memory->used, m.reserved + m.used, "used");
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return on_device(Fn::nvmlDeviceGetMemoryInfo_v2, device, memory != nullptr, Takes::kAny,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!call.takes<nvmlMemory_v2_t>(memory->version, 2)) {
                       return call.version_mismatch();
                     }
                     if (call.board().unified_memory) return NVML_ERROR_NOT_SUPPORTED;
                     const MemoryFigures m = memory_of(call);
                     call.put<unsigned long long>(&memory->total, m.total, "total");
                     call.put<unsigned long long>(&memory->reserved, m.reserved, "reserved");
                     call.put<unsigned long long>(&memory->free, m.total - m.reserved - m.used,
                                                  "free");
                     call.put<unsigned long long>(&memory->used, m.used, "used");
                     return NVML_SUCCESS;
                   });
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* bar1) {
  return on_gpu(Fn::nvmlDeviceGetBAR1MemoryInfo, device, bar1 != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (call.board().bar1_mib == 0) return NVML_ERROR_NOT_SUPPORTED;
                  const std::uint64_t total = call.board().bar1_mib * kMib;
                  const std::uint64_t used = std::min(total, call.model().bar1_used(call.t()));
                  call.put<unsigned long long>(&bar1->bar1Total, total, "bar1Total");
                  call.put<unsigned long long>(&bar1->bar1Used, used, "bar1Used");
                  call.put<unsigned long long>(&bar1->bar1Free, total - used, "bar1Free");
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int* bits) {
  return one_number(Fn::nvmlDeviceGetMemoryBusWidth, device, bits,
                    [](Call& call) { return call.board().bus_width_bits; });
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization) {
  return with_utilisation(
      Fn::nvmlDeviceGetUtilizationRates, device, utilization != nullptr, [&](Call& call) {
        const GpuModel& model = call.model();
        call.put(&utilization->gpu, percent(model.busy(call.t(), kUtilisationWindow)), "gpu");
        call.put(&utilization->memory, percent(model.memory_busy(call.t(), kUtilisationWindow)),
                 "memory");
      });
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int* share,
                                             unsigned int* period) {
  return engine(Fn::nvmlDeviceGetEncoderUtilization, device, share, period,
                [](Call& call) { return call.model().encoder(call.t(), kUtilisationWindow); });
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int* share,
                                             unsigned int* period) {
  return engine(Fn::nvmlDeviceGetDecoderUtilization, device, share, period,
                [](Call& call) { return call.model().decoder(call.t(), kUtilisationWindow); });
}

nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int* share,
                                         unsigned int* period) {
  return later_engine(Fn::nvmlDeviceGetJpgUtilization, device, share, period,
                      [](Call& call) { return call.model().jpeg(call.t(), kUtilisationWindow); });
}

nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int* share,
                                         unsigned int* period) {
  return later_engine(Fn::nvmlDeviceGetOfaUtilization, device, share, period,
                      [](Call& call) { return call.model().ofa(call.t(), kUtilisationWindow); });
}
