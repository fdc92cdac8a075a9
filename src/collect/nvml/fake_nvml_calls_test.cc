// The functions of the fake library: each looks at the current machine.
#include "collect/nvml/fake_nvml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

FakeNvml* current() { return FakeNvml::current(); }

Return put_text(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

// Calls `act` with the GPU unless the call is to fail; MIG handles have no business here.
template <typename Act>
Return on_gpu(const char* name, Handle handle, Act act) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter(name, handle)) return *code;
  FakeGpu* gpu = fake.gpu_of(handle);
  if (gpu == nullptr) return Return::kInvalidArgument;
  if (fake.mig_of(handle) != nullptr) return Return::kNotSupported;
  return act(*gpu);
}

template <typename Act>
Return on_mig(const char* name, Handle handle, Act act) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter(name, handle)) return *code;
  FakeMig* mig = fake.mig_of(handle);
  return mig == nullptr ? Return::kInvalidArgument : act(*mig);
}

Return set_number(unsigned* out, unsigned value) {
  *out = value;
  return Return::kSuccess;
}

Return init() {
  if (const auto code = current()->enter("nvmlInit_v2")) return *code;
  ++current()->sessions;
  return Return::kSuccess;
}
Return shutdown() {
  current()->enter("nvmlShutdown");
  --current()->sessions;
  return Return::kSuccess;
}
Return driver_version(char* out, unsigned size) {
  if (const auto code = current()->enter("nvmlSystemGetDriverVersion")) return *code;
  return put_text(current()->driver, out, size);
}
Return nvml_version(char* out, unsigned size) {
  if (const auto code = current()->enter("nvmlSystemGetNVMLVersion")) return *code;
  return put_text("13." + current()->driver, out, size);
}
Return process_name(unsigned pid, char* out, unsigned size) {
  if (const auto code = current()->enter("nvmlSystemGetProcessName")) return *code;
  return put_text("driver-name-" + std::to_string(pid), out, size);
}
Return count(unsigned* out) {
  if (const auto code = current()->enter("nvmlDeviceGetCount_v2")) return *code;
  return set_number(out, static_cast<unsigned>(current()->gpus.size()));
}
Return by_index(unsigned index, Handle* out) {
  *out = gpu_handle(index);
  if (const auto code = current()->enter("nvmlDeviceGetHandleByIndex_v2", *out)) return *code;
  return index < current()->gpus.size() ? Return::kSuccess : Return::kInvalidArgument;
}
Return by_pci(const char* address, Handle* out) {
  for (size_t i = 0; i < current()->gpus.size(); ++i) {
    if (current()->gpus[i].pci() != address) continue;
    *out = gpu_handle(i);
    return current()->enter("nvmlDeviceGetHandleByPciBusId_v2", *out).value_or(Return::kSuccess);
  }
  return current()->enter("nvmlDeviceGetHandleByPciBusId_v2").value_or(Return::kNotFound);
}
Return uuid(Handle handle, char* out, unsigned size) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter("nvmlDeviceGetUUID", handle)) return *code;
  if (const FakeMig* mig = fake.mig_of(handle)) return put_text(mig->uuid, out, size);
  const FakeGpu* gpu = fake.gpu_of(handle);
  return gpu == nullptr ? Return::kInvalidArgument : put_text(gpu->uuid, out, size);
}
Return name(Handle handle, char* out, unsigned size) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter("nvmlDeviceGetName", handle)) return *code;
  if (const FakeMig* mig = fake.mig_of(handle)) return put_text(mig->name, out, size);
  const FakeGpu* gpu = fake.gpu_of(handle);
  return gpu == nullptr ? Return::kInvalidArgument : put_text(gpu->name, out, size);
}
Return serial(Handle handle, char* out, unsigned size) {
  return on_gpu("nvmlDeviceGetSerial", handle,
                [&](FakeGpu&) { return put_text("1650000000001", out, size); });
}
Return vbios(Handle handle, char* out, unsigned size) {
  return on_gpu("nvmlDeviceGetVbiosVersion", handle,
                [&](FakeGpu&) { return put_text("96.00.74.00.01", out, size); });
}
Return index_of(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetIndex", handle, [&](FakeGpu& gpu) {
    return set_number(out, static_cast<unsigned>(&gpu - current()->gpus.data()));
  });
}
Return minor_of(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetMinorNumber", handle, [&](FakeGpu& gpu) {
    return set_number(out, static_cast<unsigned>(&gpu - current()->gpus.data()));
  });
}
Return architecture(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetArchitecture", handle,
                [&](FakeGpu& gpu) { return set_number(out, gpu.architecture); });
}
Return pci_info(Handle handle, PciInfo* out) {
  return on_gpu("nvmlDeviceGetPciInfo_v3", handle, [&](FakeGpu& gpu) {
    out->bus = gpu.bus;
    out->pci_device_id = gpu.pci_device_id;
    return Return::kSuccess;
  });
}
Return mig_mode(Handle handle, unsigned* mode, unsigned* pending) {
  return on_gpu("nvmlDeviceGetMigMode", handle, [&](FakeGpu& gpu) {
    *mode = *pending = gpu.mig_mode;
    return Return::kSuccess;
  });
}
Return mig_most(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetMaxMigDeviceCount", handle, [&](FakeGpu& gpu) {
    return set_number(out, static_cast<unsigned>(gpu.instances.size()));
  });
}
Return mig_handle(Handle handle, unsigned instance, Handle* out) {
  return on_gpu("nvmlDeviceGetMigDeviceHandleByIndex", handle, [&](FakeGpu& gpu) {
    if (instance >= gpu.instances.size()) return Return::kInvalidArgument;
    if (!gpu.instances[instance].exists) return Return::kNotFound;
    *out = mig_handle_of(static_cast<size_t>(&gpu - current()->gpus.data()), instance);
    return Return::kSuccess;
  });
}
Return gpu_instance(Handle handle, unsigned* out) {
  return on_mig("nvmlDeviceGetGpuInstanceId", handle,
                [&](FakeMig& mig) { return set_number(out, mig.gpu_instance); });
}
Return compute_instance(Handle handle, unsigned* out) {
  return on_mig("nvmlDeviceGetComputeInstanceId", handle,
                [&](FakeMig& mig) { return set_number(out, mig.compute_instance); });
}
Return attributes(Handle handle, DeviceAttributes* out) {
  return on_mig("nvmlDeviceGetAttributes_v2", handle, [&](FakeMig&) {
    *out = {.gpu_instance_slices = 1, .compute_instance_slices = 1, .memory_mib = 4864};
    return Return::kSuccess;
  });
}
Return utilization(Handle handle, Utilization* out) {
  return on_gpu("nvmlDeviceGetUtilizationRates", handle, [&](FakeGpu& gpu) {
    *out = gpu.utilization;
    return Return::kSuccess;
  });
}
Return samples(Handle handle, SamplingType type, unsigned long long last_seen,
               ValueType* value_type, unsigned* count, RingSample* out) {
  return on_gpu("nvmlDeviceGetSamples", handle, [&](FakeGpu& gpu) {
    std::vector<RingSample> newer;
    for (const RingSample& sample : gpu.rings[type]) {
      if (sample.timestamp_us > last_seen || sample.timestamp_us == 0) newer.push_back(sample);
    }
    if (newer.empty()) return Return::kNotFound;
    const bool fits = newer.size() <= *count;
    *count = static_cast<unsigned>(newer.size());
    if (!fits) return Return::kInsufficientSize;
    *value_type = ValueType::kUint32;
    std::ranges::copy(newer, out);
    return Return::kSuccess;
  });
}
Return field_values(Handle handle, int count, FieldValue* out) {
  return on_gpu("nvmlDeviceGetFieldValues", handle, [&](FakeGpu& gpu) {
    for (FieldValue& field : std::span(out, static_cast<size_t>(count))) {
      const FieldValue asked = field;
      const auto whole = gpu.fields.find(asked.field_id);
      const auto part = gpu.scoped_fields.find({asked.field_id, asked.scope_id});
      if (part != gpu.scoped_fields.end()) {
        field = part->second;
      } else if (whole != gpu.fields.end() && asked.scope_id == 0) {
        field = whole->second;
      } else {
        field.result = Return::kNotSupported;
      }
      field.field_id = asked.field_id;
      field.scope_id = asked.scope_id;
    }
    return Return::kSuccess;
  });
}
Return memory_v2(Handle handle, MemoryV2* out) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter("nvmlDeviceGetMemoryInfo_v2", handle)) return *code;
  const FakeMig* mig = fake.mig_of(handle);
  const FakeGpu* gpu = fake.gpu_of(handle);
  if (gpu == nullptr) return Return::kInvalidArgument;
  if (out->version != 0x02000028) return Return::kArgumentVersionMismatch;
  const uint32_t version = out->version;
  *out = mig != nullptr ? mig->memory : gpu->memory;
  out->version = version;
  return Return::kSuccess;
}
Return memory_v1(Handle handle, MemoryV1* out) {
  return on_gpu("nvmlDeviceGetMemoryInfo", handle, [&](FakeGpu& gpu) {
    *out = {gpu.memory.total, gpu.memory.free, gpu.memory.used + gpu.memory.reserved};
    return Return::kSuccess;
  });
}
Return temperature_v(Handle handle, TemperatureReading* out) {
  return on_gpu("nvmlDeviceGetTemperatureV", handle, [&](FakeGpu& gpu) {
    if (out->version != 0x0100000C) return Return::kArgumentVersionMismatch;
    out->celsius = gpu.temperature;
    return Return::kSuccess;
  });
}
Return temperature(Handle handle, unsigned, unsigned* out) {
  return on_gpu("nvmlDeviceGetTemperature", handle, [&](FakeGpu& gpu) {
    return set_number(out, static_cast<unsigned>(gpu.temperature));
  });
}
Return energy(Handle handle, unsigned long long* out) {
  return on_gpu("nvmlDeviceGetTotalEnergyConsumption", handle, [&](FakeGpu& gpu) {
    const auto it = gpu.fields.find(kFieldEnergy);
    if (it == gpu.fields.end()) return Return::kNotSupported;
    *out = it->second.value.as_uint64;
    return Return::kSuccess;
  });
}
template <const char* kName, unsigned kValue>
Return number(Handle handle, unsigned* out) {
  return on_gpu(kName, handle, [&](FakeGpu&) { return set_number(out, kValue); });
}
Return power_usage(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetPowerUsage", handle,
                [&](FakeGpu& gpu) { return set_number(out, gpu.power_mw); });
}
Return clock(Handle handle, ClockType type, unsigned* out) {
  return on_gpu("nvmlDeviceGetClockInfo", handle, [&](FakeGpu&) {
    return set_number(out, 1000 + 100 * static_cast<unsigned>(type));
  });
}
Return max_clock(Handle handle, ClockType, unsigned* out) {
  return on_gpu("nvmlDeviceGetMaxClockInfo", handle,
                [&](FakeGpu&) { return set_number(out, 1980); });
}
Return fan_count(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetNumFans", handle, [&](FakeGpu& gpu) {
    if (gpu.fans.empty()) return Return::kNotSupported;
    return set_number(out, static_cast<unsigned>(gpu.fans.size()));
  });
}
Return fan_speed_of(Handle handle, unsigned fan, unsigned* out) {
  return on_gpu("nvmlDeviceGetFanSpeed_v2", handle, [&](FakeGpu& gpu) {
    return fan < gpu.fans.size() ? set_number(out, gpu.fans[fan]) : Return::kNotSupported;
  });
}
Return fan_speed(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetFanSpeed", handle, [&](FakeGpu& gpu) {
    return gpu.fans.empty() ? Return::kNotSupported : set_number(out, gpu.fans[0]);
  });
}
Return performance_state(Handle handle, unsigned* out) {
  return on_gpu("nvmlDeviceGetPerformanceState", handle,
                [&](FakeGpu& gpu) { return set_number(out, gpu.performance_state); });
}
template <const char* kName>
Return clock_reasons(Handle handle, unsigned long long* out) {
  return on_gpu(kName, handle, [&](FakeGpu& gpu) {
    *out = gpu.throttle;
    return Return::kSuccess;
  });
}

// Writes rows of the wanted length, as the driver does: whatever the caller's struct is.
Return write_rows(const std::vector<ProcessRow>& rows, size_t row_bytes, unsigned* count,
                  void* out) {
  FakeNvml& fake = *current();
  const bool refuse = fake.too_small_answers > 0;
  if (refuse) --fake.too_small_answers;
  if (refuse || rows.size() > *count) {
    *count = static_cast<unsigned>(std::max<size_t>(rows.size(), *count + 1));
    return Return::kInsufficientSize;
  }
  *count = static_cast<unsigned>(rows.size());
  auto* bytes = static_cast<uint8_t*>(out);
  for (const ProcessRow& row : rows) {
    const ProcessRowWide wide{row, 0};
    std::memcpy(bytes, &wide, row_bytes);
    bytes += row_bytes;
  }
  return Return::kSuccess;
}
template <const char* kName, size_t kRowBytes, std::vector<ProcessRow> FakeGpu::*kRows>
Return process_list(Handle handle, unsigned* count, void* out) {
  FakeNvml& fake = *current();
  if (const auto code = fake.enter(kName, handle)) return *code;
  const size_t row_bytes = kRowBytes != 0 ? kRowBytes : fake.row_bytes;
  const FakeGpu* gpu = fake.gpu_of(handle);
  if (gpu == nullptr) return Return::kInvalidArgument;
  if (const FakeMig* mig = fake.mig_of(handle)) {
    const bool compute = kRows == &FakeGpu::compute;
    return write_rows(compute ? mig->processes : std::vector<ProcessRow>{}, row_bytes, count, out);
  }
  return write_rows(gpu->*kRows, row_bytes, count, out);
}
Return no_mps(Handle handle, unsigned*, void*) {
  return on_gpu("nvmlDeviceGetMPSComputeRunningProcesses_v3", handle,
                [](FakeGpu&) { return Return::kNotSupported; });
}

// What is newer than asked for, unless it does not fit.
Return newer_shares(FakeGpu& gpu, uint64_t since_us, size_t room, std::vector<ProcessShare>& out) {
  current()->asked_since_us = since_us;
  for (const ProcessShare& share : gpu.shares) {
    if (share.timestamp_us > since_us || share.timestamp_us == 0) out.push_back(share);
  }
  const bool refuse = current()->too_small_answers > 0;
  if (refuse) --current()->too_small_answers;
  if (refuse || out.size() > room) return Return::kInsufficientSize;
  return out.empty() ? Return::kNotFound : Return::kSuccess;
}
Return process_shares(Handle handle, ProcessShares* request) {
  return on_gpu("nvmlDeviceGetProcessesUtilizationInfo", handle, [&](FakeGpu& gpu) {
    if (request->version != 0x01000018) return Return::kArgumentVersionMismatch;
    std::vector<ProcessShare> rows;
    const Return code = newer_shares(gpu, request->last_seen_us, request->count, rows);
    request->count = std::max(request->count, static_cast<uint32_t>(rows.size()));
    if (code == Return::kSuccess) {
      request->count = static_cast<uint32_t>(rows.size());
      std::ranges::copy(rows, request->shares);
    }
    return code;
  });
}
Return process_shares_v1(Handle handle, ProcessShareV1* out, unsigned* count,
                         unsigned long long since_us) {
  return on_gpu("nvmlDeviceGetProcessUtilization", handle, [&](FakeGpu& gpu) {
    std::vector<ProcessShare> rows;
    const Return code = newer_shares(gpu, since_us, *count, rows);
    if (code != Return::kSuccess) return code;
    for (const ProcessShare& row : rows) {
      *out++ = {row.pid, row.timestamp_us, row.sm, row.memory, row.encoder, row.decoder};
    }
    return code;
  });
}

// Samples are numbers that count up; the metrics are those of the GPU or instance sampled last.
struct FakeSample {
  FakeGpu* gpu;
  std::optional<unsigned> instance;
};
Return gpm_support(Handle handle, GpmSupport* out) {
  return on_gpu("nvmlGpmQueryDeviceSupport", handle, [&](FakeGpu& gpu) {
    if (out->version != 1) return Return::kArgumentVersionMismatch;
    out->is_supported = gpu.has_gpm ? 1 : 0;
    return Return::kSuccess;
  });
}
Return gpm_alloc(GpmSample* out) {
  if (const auto code = current()->enter("nvmlGpmSampleAlloc")) return *code;
  ++current()->gpm_samples;
  *out = reinterpret_cast<GpmSample>(new FakeSample{});
  return Return::kSuccess;
}
Return gpm_free(GpmSample sample) {
  current()->enter("nvmlGpmSampleFree");
  --current()->gpm_samples;
  delete reinterpret_cast<FakeSample*>(sample);
  return Return::kSuccess;
}
Return gpm_sample(Handle handle, GpmSample out) {
  return on_gpu("nvmlGpmSampleGet", handle, [&](FakeGpu& gpu) {
    *reinterpret_cast<FakeSample*>(out) = {&gpu, std::nullopt};
    return Return::kSuccess;
  });
}
Return gpm_instance_sample(Handle handle, unsigned instance, GpmSample out) {
  return on_gpu("nvmlGpmMigSampleGet", handle, [&](FakeGpu& gpu) {
    *reinterpret_cast<FakeSample*>(out) = {&gpu, instance};
    return Return::kSuccess;
  });
}
Return gpm_metrics(GpmMetrics* request) {
  if (const auto code = current()->enter("nvmlGpmMetricsGet")) return *code;
  const auto& earlier = *reinterpret_cast<FakeSample*>(request->earlier);
  const auto& later = *reinterpret_cast<FakeSample*>(request->later);
  if (request->version != 1 || earlier.gpu == nullptr || earlier.gpu != later.gpu) {
    return Return::kInvalidArgument;
  }
  for (GpmMetric& metric : std::span(request->metrics, request->count)) {
    const auto find = [&]() -> const double* {
      if (later.instance) {
        const auto at = later.gpu->instance_gpm.find({*later.instance, metric.id});
        return at == later.gpu->instance_gpm.end() ? nullptr : &at->second;
      }
      const auto at = later.gpu->gpm.find(metric.id);
      return at == later.gpu->gpm.end() ? nullptr : &at->second;
    };
    const double* found = find();
    metric.value = found == nullptr ? 0 : *found;
    metric.result = found == nullptr ? Return::kUnknown : Return::kSuccess;
  }
  return Return::kSuccess;
}

Return common_ancestor(Handle one, Handle other, unsigned* level) {
  return on_gpu("nvmlDeviceGetTopologyCommonAncestor", one, [&](FakeGpu& gpu) {
    const auto at =
        gpu.ancestors.find(static_cast<size_t>(current()->gpu_of(other) - current()->gpus.data()));
    return at == gpu.ancestors.end() ? Return::kNotSupported : set_number(level, at->second);
  });
}
Return remote_pci(Handle handle, unsigned link, PciInfo* out) {
  return on_gpu("nvmlDeviceGetNvLinkRemotePciInfo_v2", handle, [&](FakeGpu& gpu) {
    const auto at = gpu.links.find(link);
    return at == gpu.links.end() ? Return::kInvalidArgument : set_number(&out->bus, at->second);
  });
}

Return event_set_create(EventSet* out) {
  if (const auto code = current()->enter("nvmlEventSetCreate")) return *code;
  ++current()->event_sets;
  *out = reinterpret_cast<EventSet>(static_cast<uintptr_t>(current()->event_sets));
  return Return::kSuccess;
}
Return event_set_free(EventSet) {
  current()->enter("nvmlEventSetFree");
  --current()->event_sets;
  return Return::kSuccess;
}
Return register_events(Handle handle, unsigned long long mask, EventSet) {
  if (const auto code = current()->enter("nvmlDeviceRegisterEvents", handle)) return *code;
  const auto it = current()->registering.find(mask);
  return it == current()->registering.end() ? Return::kSuccess : it->second;
}
Return event_wait(EventSet, EventData* out, unsigned) {
  if (const auto code = current()->enter("nvmlEventSetWait_v2")) return *code;
  if (current()->events.empty()) return Return::kTimeout;
  *out = current()->events.front();
  current()->events.pop_front();
  return Return::kSuccess;
}
Return event_wait_v1(EventSet, EventDataV1* out, unsigned) {
  if (const auto code = current()->enter("nvmlEventSetWait")) return *code;
  if (current()->events.empty()) return Return::kTimeout;
  const EventData& event = current()->events.front();
  *out = {event.device, event.type, event.data};
  current()->events.pop_front();
  return Return::kSuccess;
}
const char* sim_scenario() { return "a test"; }

// Calls that give one or more numbers: what the GPU's table holds under their name, and under the
// argument that stands before the numbers.
const std::vector<uint64_t>* numbers_of(FakeGpu& gpu, const std::string& key) {
  const auto at = gpu.numbers.find(key);
  return at == gpu.numbers.end() ? nullptr : &at->second;
}
template <const char* kName, typename Number, typename... Numbers>
Return numbers(Handle handle, Number* first, Numbers*... others) {
  return on_gpu(kName, handle, [&](FakeGpu& gpu) {
    const auto* given = numbers_of(gpu, kName);
    if (given == nullptr) return Return::kNotSupported;
    size_t i = 0;
    *first = static_cast<Number>(given->at(i++));
    ((*others = static_cast<Numbers>(given->at(i++))), ...);
    return Return::kSuccess;
  });
}
template <const char* kName, typename Argument, typename Number>
Return number_of(Handle handle, Argument argument, Number* out) {
  return on_gpu(kName, handle, [&](FakeGpu& gpu) {
    const std::string key = std::string(kName) + ":" + std::to_string(static_cast<int>(argument));
    const auto* given = numbers_of(gpu, key);
    if (given == nullptr) return Return::kNotSupported;
    *out = static_cast<Number>(given->at(0));
    return Return::kSuccess;
  });
}
// Structs of numbers of one size; `kFirst` of them stand before those that are given.
template <const char* kName, typename Struct, typename Number, size_t kFirst>
Return filled(Handle handle, Struct* out) {
  return on_gpu(kName, handle, [&](FakeGpu& gpu) {
    const auto* given = numbers_of(gpu, kName);
    if (given == nullptr) return Return::kNotSupported;
    auto* members = reinterpret_cast<Number*>(out);
    for (size_t i = 0; i < given->size(); ++i)
      members[kFirst + i] = static_cast<Number>(given->at(i));
    return Return::kSuccess;
  });
}
Return ecc_total(Handle handle, ErrorType type, ErrorCounter counter, unsigned long long* out) {
  static constexpr char kName[] = "nvmlDeviceGetTotalEccErrors";
  return number_of<kName>(handle, static_cast<int>(type) * 2 + static_cast<int>(counter), out);
}
Return ecc_at(Handle handle, ErrorType type, ErrorCounter counter, unsigned location,
              unsigned long long* out) {
  static constexpr char kName[] = "nvmlDeviceGetMemoryErrorCounter";
  if (location != kLocationSram) return Return::kInvalidArgument;
  return number_of<kName>(handle, static_cast<int>(type) * 2 + static_cast<int>(counter), out);
}
Return sram_errors(Handle handle, SramErrors* out) {
  return on_gpu("nvmlDeviceGetSramEccErrorStatus", handle, [&](FakeGpu& gpu) {
    if (out->version != 0x01000068) return Return::kArgumentVersionMismatch;
    const auto* given = numbers_of(gpu, "nvmlDeviceGetSramEccErrorStatus");
    if (given == nullptr) return Return::kNoPermission;
    out->threshold_exceeded = static_cast<uint32_t>(given->at(0));
    return Return::kSuccess;
  });
}
// The numbers are the state, the health mask and the newest form that is known (2 or 3).
Return fabric_v(Handle handle, void* out) {
  return on_gpu("nvmlDeviceGetGpuFabricInfoV", handle, [&](FakeGpu& gpu) {
    const auto* given = numbers_of(gpu, "nvmlDeviceGetGpuFabricInfoV");
    if (given == nullptr) return Return::kNotSupported;
    auto* info = static_cast<FabricInfoV2*>(out);
    const bool known =
        info->version == 0x02000024 || (info->version == 0x03000028 && given->at(2) == 3);
    if (!known) return Return::kArgumentVersionMismatch;
    info->state = static_cast<uint8_t>(given->at(0));
    info->health_mask = static_cast<uint32_t>(given->at(1));
    return Return::kSuccess;
  });
}
Return fabric_v1(Handle handle, FabricInfoV1* out) {
  return on_gpu("nvmlDeviceGetGpuFabricInfo", handle, [&](FakeGpu& gpu) {
    const auto* given = numbers_of(gpu, "nvmlDeviceGetGpuFabricInfo");
    if (given == nullptr) return Return::kNotSupported;
    out->state = static_cast<uint8_t>(given->at(0));
    return Return::kSuccess;
  });
}
// The machine's: of the first GPU.
Return confidential_settings(ConfidentialSettings* out) {
  if (const auto code = current()->enter("nvmlSystemGetConfComputeSettings")) return *code;
  const auto* given = numbers_of(current()->gpus[0], "nvmlSystemGetConfComputeSettings");
  if (given == nullptr) return Return::kNotSupported;
  if (out->version != 0x01000014) return Return::kArgumentVersionMismatch;
  out->is_on = static_cast<uint32_t>(given->at(0));
  return Return::kSuccess;
}
Return confidential_state(ConfidentialState* out) {
  if (const auto code = current()->enter("nvmlSystemGetConfComputeState")) return *code;
  const auto* given = numbers_of(current()->gpus[0], "nvmlSystemGetConfComputeState");
  if (given == nullptr) return Return::kNotSupported;
  out->is_on = static_cast<uint32_t>(given->at(0));
  return Return::kSuccess;
}
Return active_vgpus(Handle handle, unsigned* count, unsigned*) {
  return on_gpu("nvmlDeviceGetActiveVgpus", handle, [&](FakeGpu& gpu) {
    const auto* given = numbers_of(gpu, "nvmlDeviceGetActiveVgpus");
    if (given == nullptr) return Return::kNotSupported;
    const unsigned room = *count;
    *count = static_cast<unsigned>(given->at(0));
    return *count > room ? Return::kInsufficientSize : Return::kSuccess;
  });
}
Return fan_rpm(Handle handle, FanSpeedInfo* out) {
  static constexpr char kName[] = "nvmlDeviceGetFanSpeedRPM";
  if (out->version != 0x0100000C) return Return::kArgumentVersionMismatch;
  return number_of<kName>(handle, out->fan, &out->rpm);
}

constexpr char kRequested[] = "nvmlDeviceGetPowerManagementLimit";
constexpr char kDefault[] = "nvmlDeviceGetPowerManagementDefaultLimit";
constexpr char kRange[] = "nvmlDeviceGetPowerManagementLimitConstraints";
constexpr char kAppClock[] = "nvmlDeviceGetApplicationsClock";
constexpr char kAppDefault[] = "nvmlDeviceGetDefaultApplicationsClock";
constexpr char kCustomer[] = "nvmlDeviceGetMaxCustomerBoostClock";
constexpr char kMargin[] = "nvmlDeviceGetMarginTemperature";
constexpr char kThreshold[] = "nvmlDeviceGetTemperatureThreshold";
constexpr char kEncoder[] = "nvmlDeviceGetEncoderUtilization";
constexpr char kDecoder[] = "nvmlDeviceGetDecoderUtilization";
constexpr char kJpeg[] = "nvmlDeviceGetJpgUtilization";
constexpr char kOfa[] = "nvmlDeviceGetOfaUtilization";
constexpr char kEncoderStats[] = "nvmlDeviceGetEncoderStats";
constexpr char kFbcStats[] = "nvmlDeviceGetFBCStats";
constexpr char kBar1[] = "nvmlDeviceGetBAR1MemoryInfo";
constexpr char kProtectedUse[] = "nvmlDeviceGetConfComputeProtectedMemoryUsage";
constexpr char kProtectedSize[] = "nvmlDeviceGetConfComputeMemSizeInfo";
constexpr char kThroughput[] = "nvmlDeviceGetPcieThroughput";
constexpr char kEccMode[] = "nvmlDeviceGetEccMode";
constexpr char kHistogram[] = "nvmlDeviceGetRowRemapperHistogram";
constexpr char kRepair[] = "nvmlDeviceGetRepairStatus";
constexpr char kPersistence[] = "nvmlDeviceGetPersistenceMode";
constexpr char kCompute[] = "nvmlDeviceGetComputeMode";
constexpr char kDisplayMode[] = "nvmlDeviceGetDisplayMode";
constexpr char kDisplayActive[] = "nvmlDeviceGetDisplayActive";
constexpr char kAccounting[] = "nvmlDeviceGetAccountingMode";
constexpr char kVirtualization[] = "nvmlDeviceGetVirtualizationMode";
constexpr char kEventTypes[] = "nvmlDeviceGetSupportedEventTypes";
constexpr char kPowerSource[] = "nvmlDeviceGetPowerSource";
constexpr char kLimitName[] = "nvmlDeviceGetEnforcedPowerLimit";
constexpr char kGenName[] = "nvmlDeviceGetCurrPcieLinkGeneration";
constexpr char kWidthName[] = "nvmlDeviceGetCurrPcieLinkWidth";
constexpr char kMaxGenName[] = "nvmlDeviceGetMaxPcieLinkGeneration";
constexpr char kMaxWidthName[] = "nvmlDeviceGetMaxPcieLinkWidth";
constexpr char kReplayName[] = "nvmlDeviceGetPcieReplayCounter";
constexpr char kEventReasons[] = "nvmlDeviceGetCurrentClocksEventReasons";
constexpr char kThrottleReasons[] = "nvmlDeviceGetCurrentClocksThrottleReasons";
constexpr char kCompute3[] = "nvmlDeviceGetComputeRunningProcesses_v3";
constexpr char kCompute2[] = "nvmlDeviceGetComputeRunningProcesses_v2";
constexpr char kCompute1[] = "nvmlDeviceGetComputeRunningProcesses";
constexpr char kGraphics3[] = "nvmlDeviceGetGraphicsRunningProcesses_v3";
constexpr char kGraphics2[] = "nvmlDeviceGetGraphicsRunningProcesses_v2";
constexpr char kGraphics1[] = "nvmlDeviceGetGraphicsRunningProcesses";

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

const std::map<std::string, void*>& FakeNvml::functions() {
  static const std::map<std::string, void*> kFunctions = {
      {"nvmlInit_v2", address(init)},
      {"nvmlShutdown", address(shutdown)},
      {"nvmlSystemGetDriverVersion", address(driver_version)},
      {"nvmlSystemGetNVMLVersion", address(nvml_version)},
      {"nvmlSystemGetProcessName", address(process_name)},
      {"nvmlDeviceGetCount_v2", address(count)},
      {"nvmlDeviceGetHandleByIndex_v2", address(by_index)},
      {"nvmlDeviceGetHandleByPciBusId_v2", address(by_pci)},
      {"nvmlDeviceGetUUID", address(uuid)},
      {"nvmlDeviceGetName", address(name)},
      {"nvmlDeviceGetSerial", address(serial)},
      {"nvmlDeviceGetVbiosVersion", address(vbios)},
      {"nvmlDeviceGetIndex", address(index_of)},
      {"nvmlDeviceGetMinorNumber", address(minor_of)},
      {"nvmlDeviceGetArchitecture", address(architecture)},
      {"nvmlDeviceGetPciInfo_v3", address(pci_info)},
      {"nvmlDeviceGetMigMode", address(mig_mode)},
      {"nvmlDeviceGetMaxMigDeviceCount", address(mig_most)},
      {"nvmlDeviceGetMigDeviceHandleByIndex", address(mig_handle)},
      {"nvmlDeviceGetGpuInstanceId", address(gpu_instance)},
      {"nvmlDeviceGetComputeInstanceId", address(compute_instance)},
      {"nvmlDeviceGetAttributes_v2", address(attributes)},
      {"nvmlDeviceGetUtilizationRates", address(utilization)},
      {"nvmlDeviceGetSamples", address(samples)},
      {"nvmlDeviceGetFieldValues", address(field_values)},
      {"nvmlDeviceGetMemoryInfo_v2", address(memory_v2)},
      {"nvmlDeviceGetMemoryInfo", address(memory_v1)},
      {"nvmlDeviceGetTemperatureV", address(temperature_v)},
      {"nvmlDeviceGetTemperature", address(temperature)},
      {"nvmlDeviceGetTotalEnergyConsumption", address(energy)},
      {"nvmlDeviceGetPowerUsage", address(power_usage)},
      {kLimitName, address(number<kLimitName, 700'000>)},
      {kRequested, address(numbers<kRequested, unsigned>)},
      {kDefault, address(numbers<kDefault, unsigned>)},
      {kRange, address(numbers<kRange, unsigned, unsigned>)},
      {kAppClock, address(number_of<kAppClock, ClockType, unsigned>)},
      {kAppDefault, address(number_of<kAppDefault, ClockType, unsigned>)},
      {kCustomer, address(number_of<kCustomer, ClockType, unsigned>)},
      {kMargin, address(filled<kMargin, MarginTemperature, int32_t, 1>)},
      {kThreshold, address(number_of<kThreshold, Threshold, unsigned>)},
      {kEncoder, address(numbers<kEncoder, unsigned, unsigned>)},
      {kDecoder, address(numbers<kDecoder, unsigned, unsigned>)},
      {kJpeg, address(numbers<kJpeg, unsigned, unsigned>)},
      {kOfa, address(numbers<kOfa, unsigned, unsigned>)},
      {kEncoderStats, address(numbers<kEncoderStats, unsigned, unsigned, unsigned>)},
      {kFbcStats, address(filled<kFbcStats, FbcStats, uint32_t, 0>)},
      {kBar1, address(filled<kBar1, Bar1Memory, uint64_t, 0>)},
      {kProtectedUse, address(filled<kProtectedUse, MemoryV1, uint64_t, 0>)},
      {kProtectedSize, address(filled<kProtectedSize, ProtectedMemorySize, uint64_t, 0>)},
      {"nvmlDeviceGetFanSpeedRPM", address(fan_rpm)},
      {kThroughput, address(number_of<kThroughput, PcieDirection, unsigned>)},
      {kEccMode, address(numbers<kEccMode, unsigned, unsigned>)},
      {"nvmlDeviceGetTotalEccErrors", address(ecc_total)},
      {"nvmlDeviceGetMemoryErrorCounter", address(ecc_at)},
      {"nvmlDeviceGetSramEccErrorStatus", address(sram_errors)},
      {kHistogram, address(filled<kHistogram, RowRemapHistogram, uint32_t, 0>)},
      {kRepair, address(filled<kRepair, RepairStatus, uint32_t, 1>)},
      {"nvmlDeviceGetGpuFabricInfoV", address(fabric_v)},
      {"nvmlDeviceGetGpuFabricInfo", address(fabric_v1)},
      {kPersistence, address(numbers<kPersistence, unsigned>)},
      {kCompute, address(numbers<kCompute, unsigned>)},
      {kDisplayMode, address(numbers<kDisplayMode, unsigned>)},
      {kDisplayActive, address(numbers<kDisplayActive, unsigned>)},
      {kAccounting, address(numbers<kAccounting, unsigned>)},
      {kVirtualization, address(numbers<kVirtualization, unsigned>)},
      {kEventTypes, address(numbers<kEventTypes, unsigned long long>)},
      {"nvmlSystemGetConfComputeSettings", address(confidential_settings)},
      {"nvmlSystemGetConfComputeState", address(confidential_state)},
      {"nvmlDeviceGetActiveVgpus", address(active_vgpus)},
      {kPowerSource, address(numbers<kPowerSource, unsigned>)},
      {"nvmlDeviceGetClockInfo", address(clock)},
      {"nvmlDeviceGetMaxClockInfo", address(max_clock)},
      {"nvmlDeviceGetNumFans", address(fan_count)},
      {"nvmlDeviceGetFanSpeed_v2", address(fan_speed_of)},
      {"nvmlDeviceGetFanSpeed", address(fan_speed)},
      {kGenName, address(number<kGenName, 5>)},
      {kWidthName, address(number<kWidthName, 16>)},
      {kMaxGenName, address(number<kMaxGenName, 5>)},
      {kMaxWidthName, address(number<kMaxWidthName, 16>)},
      {kReplayName, address(number<kReplayName, 3>)},
      {"nvmlDeviceGetPerformanceState", address(performance_state)},
      {kEventReasons, address(clock_reasons<kEventReasons>)},
      {kThrottleReasons, address(clock_reasons<kThrottleReasons>)},
      {kCompute3, address(process_list<kCompute3, 0, &FakeGpu::compute>)},
      {kCompute2, address(process_list<kCompute2, 24, &FakeGpu::compute>)},
      {kCompute1, address(process_list<kCompute1, 16, &FakeGpu::compute>)},
      {kGraphics3, address(process_list<kGraphics3, 0, &FakeGpu::graphics>)},
      {kGraphics2, address(process_list<kGraphics2, 24, &FakeGpu::graphics>)},
      {kGraphics1, address(process_list<kGraphics1, 16, &FakeGpu::graphics>)},
      {"nvmlDeviceGetMPSComputeRunningProcesses_v3", address(no_mps)},
      {"nvmlDeviceGetProcessesUtilizationInfo", address(process_shares)},
      {"nvmlDeviceGetProcessUtilization", address(process_shares_v1)},
      {"nvmlGpmQueryDeviceSupport", address(gpm_support)},
      {"nvmlGpmSampleAlloc", address(gpm_alloc)},
      {"nvmlGpmSampleFree", address(gpm_free)},
      {"nvmlGpmSampleGet", address(gpm_sample)},
      {"nvmlGpmMigSampleGet", address(gpm_instance_sample)},
      {"nvmlGpmMetricsGet", address(gpm_metrics)},
      {"nvmlDeviceGetTopologyCommonAncestor", address(common_ancestor)},
      {"nvmlDeviceGetNvLinkRemotePciInfo_v2", address(remote_pci)},
      {"nvmlEventSetCreate", address(event_set_create)},
      {"nvmlEventSetFree", address(event_set_free)},
      {"nvmlDeviceRegisterEvents", address(register_events)},
      {"nvmlEventSetWait_v2", address(event_wait)},
      {"nvmlEventSetWait", address(event_wait_v1)},
      {"gpusight_sim_scenario", address(sim_scenario)},
  };
  return kFunctions;
}

}  // namespace gpusight::collect::nvml
