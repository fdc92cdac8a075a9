// The functions of the fake library: each looks at the current machine.
#include "collect/nvml/fake_nvml_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

using namespace fake;

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
    out->pci_subsystem_id = gpu.pci_subsystem_id;
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
// The value, unless the test gives another.
template <const char* kName, unsigned kValue>
Return number(Handle handle, unsigned* out) {
  return on_gpu(kName, handle, [&](FakeGpu& gpu) {
    const auto given = gpu.numbers.find(kName);
    return set_number(
        out, given == gpu.numbers.end() ? kValue : static_cast<unsigned>(given->second.at(0)));
  });
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
      {"nvmlEventSetCreate", address(event_set_create)},
      {"nvmlEventSetFree", address(event_set_free)},
      {"nvmlDeviceRegisterEvents", address(register_events)},
      {"nvmlEventSetWait_v2", address(event_wait)},
      {"nvmlEventSetWait", address(event_wait_v1)},
      {"gpusight_sim_scenario", address(sim_scenario)},
  };
  static const std::map<std::string, void*> kAll = [] {
    std::map<std::string, void*> all = kFunctions;
    all.insert(table_functions().begin(), table_functions().end());
    return all;
  }();
  return kAll;
}

}  // namespace gpusight::collect::nvml
