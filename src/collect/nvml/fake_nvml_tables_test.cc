// Functions of the fake library that give what a test wrote into tables: plain numbers, shares of
// processes, performance counters, topology.
#include <gtest/gtest.h>

#include <algorithm>

#include "collect/nvml/fake_nvml_call.h"

namespace gpusight::collect::nvml {
namespace {

using namespace fake;

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
    const size_t room = sizeof(Struct) / sizeof(Number) - kFirst;
    for (size_t i = 0; i < std::min(given->size(), room); ++i)
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
    info->clique = 7;
    std::memset(info->cluster, 0xAB, sizeof info->cluster);
    if (info->version == 0x03000028) static_cast<FabricInfoV3*>(out)->health_summary = 3;
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
Return link_errors(Handle handle, unsigned link, LinkError error, unsigned long long* out) {
  static constexpr char kName[] = "nvmlDeviceGetNvLinkErrorCounter";
  return number_of<kName>(handle, link * 10 + static_cast<unsigned>(error), out);
}
Return clock_by_id(Handle handle, ClockType type, ClockId id, unsigned* out) {
  static constexpr char kName[] = "nvmlDeviceGetClock";
  return number_of<kName>(handle, static_cast<int>(id) * 10 + static_cast<int>(type), out);
}
Return violation(Handle handle, Policy policy, ViolationTime* out) {
  static constexpr char kName[] = "nvmlDeviceGetViolationStatus";
  return number_of<kName>(handle, policy, &out->held_ns);
}
// The number is the newest form that is known.
Return platform(Handle handle, void* out) {
  return on_gpu("nvmlDeviceGetPlatformInfo", handle, [&](FakeGpu& gpu) {
    const auto* given = numbers_of(gpu, "nvmlDeviceGetPlatformInfo");
    if (given == nullptr) return Return::kNotSupported;
    auto* info = static_cast<PlatformInfoV1*>(out);
    const bool known =
        info->version == 0x0100002C || (info->version == 0x0200002C && given->at(0) == 2);
    if (!known) return Return::kArgumentVersionMismatch;
    std::memset(info->rack_guid, 'A', sizeof info->rack_guid);
    info->slot = 3;
    info->compute_slot = 4;
    info->node = 5;
    info->peer_type = 1;
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
constexpr char kC2c[] = "nvmlDeviceGetC2cModeInfoV";
constexpr char kDeviceGeneration[] = "nvmlDeviceGetGpuMaxPcieLinkGeneration";
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
constexpr char kLinkState[] = "nvmlDeviceGetNvLinkState";
constexpr char kLinkVersion[] = "nvmlDeviceGetNvLinkVersion";
constexpr char kPowerSource[] = "nvmlDeviceGetPowerSource";
template <typename Row>
Return list_rows(const std::vector<Row>& rows, unsigned* count, Row* out) {
  const bool fits = rows.size() <= *count;
  *count = static_cast<unsigned>(rows.size());
  if (!fits) return Return::kInsufficientSize;
  std::ranges::copy(rows, out);
  return Return::kSuccess;
}
Return encoder_sessions(Handle handle, unsigned* count, EncoderSession* out) {
  return on_gpu("nvmlDeviceGetEncoderSessions", handle,
                [&](FakeGpu& gpu) { return list_rows(gpu.encoders, count, out); });
}
Return fbc_sessions(Handle handle, unsigned* count, FbcSession* out) {
  return on_gpu("nvmlDeviceGetFBCSessions", handle,
                [&](FakeGpu& gpu) { return list_rows(gpu.captures, count, out); });
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
    metric.result = found == nullptr ? later.gpu->gpm_missing : Return::kSuccess;
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

}  // namespace

const std::map<std::string, void*>& fake::table_functions() {
  static const std::map<std::string, void*> kFunctions = {
      {"nvmlDeviceGetEncoderSessions", address(encoder_sessions)},
      {"nvmlDeviceGetFBCSessions", address(fbc_sessions)},
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
      {"nvmlDeviceGetNvLinkErrorCounter", address(link_errors)},
      {"nvmlDeviceGetClock", address(clock_by_id)},
      {"nvmlDeviceGetViolationStatus", address(violation)},
      {"nvmlDeviceGetPlatformInfo", address(platform)},
      {kC2c, address(filled<kC2c, C2cMode, uint32_t, 0>)},
      {kDeviceGeneration, address(numbers<kDeviceGeneration, unsigned>)},
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
      {kLinkState, address(number_of<kLinkState, unsigned, unsigned>)},
      {kLinkVersion, address(number_of<kLinkVersion, unsigned, unsigned>)},
      {kPowerSource, address(numbers<kPowerSource, unsigned>)},
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
  };
  return kFunctions;
}

}  // namespace gpusight::collect::nvml
