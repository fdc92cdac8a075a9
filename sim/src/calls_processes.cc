// Who uses a device: lists in all their historical shapes, names, and shares of the utilisation.
#include <algorithm>
#include <cmath>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;
constexpr unsigned kProcessRing = 100;  // what a probe for the size answers, whatever there is
constexpr double kLongestAverage = 10;  // seconds that the ring of shares reaches back

bool is_kind(const ProcessSpec& process, ProcessKind kind) {
  switch (kind) {
    case ProcessKind::kCompute: return process.compute;
    case ProcessKind::kGraphics: return process.graphics;
    case ProcessKind::kMps: return process.mps;
  }
  return false;
}

// The processes that this handle sees: an instance's own, or all of the GPU.
std::vector<RunningProcess> visible(const Call& call, ProcessKind kind) {
  std::vector<RunningProcess> result;
  for (const RunningProcess& one : call.model().processes(call.t())) {
    const bool mine =
        call.instance() == nullptr || one.spec->gpu_instance == call.instance()->gpu_instance;
    if (mine && is_kind(*one.spec, kind)) result.push_back(one);
  }
  return result;
}

bool concerns(const LiveFault* fault, unsigned pid) {
  return fault != nullptr && (fault->fault.pid == 0 || fault->fault.pid == pid);
}

unsigned long long memory_of(const Call& call, const RunningProcess& process) {
  if (concerns(call.fault(FaultKind::kProcessMemoryUnavailable), process.pid)) return ~0ULL;
  unsigned long long bytes = 0;
  call.put<unsigned long long>(&bytes, call.model().process_memory(process, call.t()),
                               "usedGpuMemory");
  return bytes;
}

// Writes one row as far as the row's historical size goes. The longest shape has 32 bytes: the
// early drivers of the 535 branch wrote them from the same function whose rows had 24 before and
// after.
void write_row(const Call& call, char* row, std::size_t stride, const RunningProcess& process) {
  nvmlProcessDetail_v1_t detail{};
  detail.pid = process.pid;
  detail.usedGpuMemory = memory_of(call, process);
  detail.gpuInstanceId = process.spec->gpu_instance.value_or(kNoInstance);
  detail.computeInstanceId = process.spec->compute_instance.value_or(kNoInstance);
  // All that a device holds which computes confidentially is protected.
  if (call.scenario().confidential_computing && detail.usedGpuMemory != ~0ULL) {
    detail.usedGpuCcProtectedMemory = detail.usedGpuMemory;
  }
  std::memcpy(row, &detail, stride);
}

static_assert(offsetof(nvmlProcessDetail_v1_t, gpuInstanceId) == sizeof(nvmlProcessInfo_v1_t));
static_assert(offsetof(nvmlProcessDetail_v1_t, usedGpuCcProtectedMemory) ==
              sizeof(nvmlProcessInfo_v2_t));

nvmlReturn_t write_list(const Call& call, ProcessKind kind, std::size_t stride, unsigned* count,
                        char* rows) {
  const std::vector<RunningProcess> list = visible(call, kind);
  if (call.fault(FaultKind::kInsufficientSize) != nullptr) {
    *count += 5;
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  if (*count < list.size()) {
    *count = static_cast<unsigned>(list.size());
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  if (!list.empty() && rows == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (std::size_t i = 0; i < list.size(); ++i) write_row(call, rows + i * stride, stride, list[i]);
  *count = static_cast<unsigned>(list.size());
  return NVML_SUCCESS;
}

nvmlReturn_t list_processes(Fn fn, nvmlDevice_t device, ProcessKind kind, std::size_t stride,
                            unsigned* count, void* rows) {
  return on_device(fn, device, count != nullptr, Takes::kAny, [&](Call& call) {
    return write_list(call, kind, stride, count, static_cast<char*>(rows));
  });
}

// The third shape's row, by driver: see write_row().
nvmlReturn_t list_processes_v3(Fn fn, nvmlDevice_t device, ProcessKind kind, unsigned* count,
                               void* rows) {
  return on_device(fn, device, count != nullptr, Takes::kAny, [&](Call& call) {
    const bool long_rows = !call.driver_older_than("535.43") && call.driver_older_than("535.98");
    const std::size_t stride =
        long_rows ? sizeof(nvmlProcessDetail_v1_t) : sizeof(nvmlProcessInfo_v2_t);
    return write_list(call, kind, stride, count, static_cast<char*>(rows));
  });
}

// A process's share of the engines since the caller's last look.
struct Share {
  unsigned pid = 0;
  std::uint64_t stamp = 0;
  unsigned sm = 0;
  unsigned memory = 0;
  unsigned encoder = 0;
  unsigned decoder = 0;
  unsigned jpeg = 0;
  unsigned ofa = 0;

  bool any() const { return sm + memory + encoder + decoder + jpeg + ofa > 0; }
};

Share share_of(const Call& call, const RunningProcess& process, std::uint64_t last_seen) {
  // Each process is sampled once a second, at an instant of its own.
  const double at = std::floor(call.t()) + process.pid % 7 * 0.001;
  const double end = at <= call.t() ? at : at - 1;
  const double seen = last_seen == 0 ? end - kLongestAverage : library().from_stamp(last_seen);
  const double window = std::clamp(end - seen, 0.0, kLongestAverage);
  if (window <= 0) return {};
  const GpuModel& model = call.model();
  const double part = process.spec->share;
  const auto percent = [](double share) { return static_cast<unsigned>(std::lround(share * 100)); };
  return {.pid = process.pid,
          .stamp = library().stamp_us(end),
          .sm = percent(model.busy(end, window) * part),
          .memory = percent(model.memory_busy(end, window) * part),
          .encoder = percent(model.encoder(end, window) * part),
          .decoder = percent(model.decoder(end, window) * part),
          .jpeg = percent(model.jpeg(end, window) * part),
          .ofa = percent(model.ofa(end, window) * part)};
}

// What some drivers have been seen to hand out: the whole ring, mostly empty, with numbers of other
// things where the shares should be.
std::vector<Share> garbage(const Call& call) {
  std::vector<Share> rows(kProcessRing);
  rows[0] = {.pid = 50554,
             .stamp = library().stamp_us(call.t()),
             .sm = 37100,
             .memory = 4294967295U,
             .encoder = 50583,
             .decoder = 50584};
  rows[1] = {.pid = 0, .stamp = 0, .sm = 101};
  return rows;
}

// The rows of a fault in place of the true ones, or with them.
std::optional<std::vector<Share>> spoilt(const Call& call, std::vector<Share> true_rows) {
  const Fault* bad = call.model().conditions().active(FaultKind::kBadSamples, call.t());
  if (bad == nullptr) return std::nullopt;
  constexpr std::uint64_t kHourUs = 3600ULL * 1000000;
  switch (static_cast<BadSamples>(bad->what)) {
    case BadSamples::kGarbage: {
      std::vector<Share> rows = garbage(call);
      rows.insert(rows.begin() + 2, true_rows.begin(), true_rows.end());
      rows.resize(kProcessRing);
      return rows;
    }
    case BadSamples::kFuture:
      if (!true_rows.empty()) true_rows.back().stamp += kHourUs;
      return true_rows;
    case BadSamples::kStale:
      for (Share& row : true_rows) row.stamp -= std::min(row.stamp, kHourUs);
      return true_rows;
  }
  return std::nullopt;
}

std::vector<Share> shares(const Call& call, std::uint64_t last_seen) {
  std::vector<Share> result;
  for (const RunningProcess& process : call.model().processes(call.t())) {
    const Share share = share_of(call, process, last_seen);
    if (share.any() && share.stamp > last_seen) result.push_back(share);
  }
  if (const auto bad = spoilt(call, result)) return *bad;
  return result;
}

// The names are paths cut to the caller's buffer, as the driver does it.
nvmlReturn_t put_name(const Call& call, const std::string& name, char* out, unsigned length) {
  return call.put_text(out, length, name.substr(0, length - 1));
}

nvmlReturn_t put_shares(const Call& call, const std::vector<Share>& list,
                        nvmlProcessUtilizationSample_t* out) {
  for (const Share& share : list) {
    out->pid = share.pid;
    out->timeStamp = share.stamp;
    call.put(&out->smUtil, share.sm, "smUtil");
    call.put(&out->memUtil, share.memory, "memUtil");
    call.put(&out->encUtil, share.encoder, "encUtil");
    call.put(&out->decUtil, share.decoder, "decUtil");
    ++out;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t put_share_infos(const Call& call, const std::vector<Share>& list,
                             nvmlProcessUtilizationInfo_v1_t* out) {
  for (const Share& share : list) {
    *out = {};
    out->pid = share.pid;
    out->timeStamp = share.stamp;
    call.put(&out->smUtil, share.sm, "smUtil");
    call.put(&out->memUtil, share.memory, "memUtil");
    call.put(&out->encUtil, share.encoder, "encUtil");
    call.put(&out->decUtil, share.decoder, "decUtil");
    call.put(&out->jpgUtil, share.jpeg, "jpgUtil");
    call.put(&out->ofaUtil, share.ofa, "ofaUtil");
    ++out;
  }
  return NVML_SUCCESS;
}

// The size protocol that both share calls have; the list when the rows are to be written.
nvmlReturn_t shares_for(const Call& call, std::uint64_t last_seen, bool has_buffer, unsigned* count,
                        std::vector<Share>* list) {
  if (call.model().spec().mig) return NVML_ERROR_NOT_SUPPORTED;
  if (call.fault(FaultKind::kInsufficientSize) != nullptr) {
    *count += 5;
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  if (!has_buffer) {
    *count = kProcessRing;
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  *list = shares(call, last_seen);
  const unsigned offered = *count;
  *count = static_cast<unsigned>(list->size());
  if (list->empty()) return NVML_ERROR_NOT_FOUND;
  return offered < list->size() ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                  nvmlProcessInfo_v1_t* infos) {
  return list_processes(Fn::nvmlDeviceGetComputeRunningProcesses, device, ProcessKind::kCompute,
                        sizeof *infos, count, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_v2_t* infos) {
  return list_processes(Fn::nvmlDeviceGetComputeRunningProcesses_v2, device, ProcessKind::kCompute,
                        sizeof *infos, count, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* infos) {
  return list_processes_v3(Fn::nvmlDeviceGetComputeRunningProcesses_v3, device,
                           ProcessKind::kCompute, count, infos);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                   nvmlProcessInfo_v1_t* infos) {
  return list_processes(Fn::nvmlDeviceGetGraphicsRunningProcesses, device, ProcessKind::kGraphics,
                        sizeof *infos, count, infos);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                      nvmlProcessInfo_v2_t* infos) {
  return list_processes(Fn::nvmlDeviceGetGraphicsRunningProcesses_v2, device,
                        ProcessKind::kGraphics, sizeof *infos, count, infos);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                      nvmlProcessInfo_t* infos) {
  return list_processes_v3(Fn::nvmlDeviceGetGraphicsRunningProcesses_v3, device,
                           ProcessKind::kGraphics, count, infos);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_v1_t* infos) {
  return list_processes(Fn::nvmlDeviceGetMPSComputeRunningProcesses, device, ProcessKind::kMps,
                        sizeof *infos, count, infos);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                        nvmlProcessInfo_v2_t* infos) {
  return list_processes(Fn::nvmlDeviceGetMPSComputeRunningProcesses_v2, device, ProcessKind::kMps,
                        sizeof *infos, count, infos);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                        nvmlProcessInfo_t* infos) {
  return list_processes_v3(Fn::nvmlDeviceGetMPSComputeRunningProcesses_v3, device,
                           ProcessKind::kMps, count, infos);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length) {
  return on_system(Fn::nvmlSystemGetProcessName, name != nullptr && length > 0,
                   [&](Call& call) -> nvmlReturn_t {
                     if (concerns(call.fault(FaultKind::kProcessGone), pid))
                       return NVML_ERROR_NOT_FOUND;
                     for (const ProcessSpec& process : call.scenario().processes) {
                       const std::optional<RunningProcess> running = running_at(process, call.t());
                       if (!running || running->pid != pid) continue;
                       for (const LiveFault& one : call.plan().faults) {
                         const bool names = one.fault.kind == FaultKind::kNameBytes &&
                                            one.fault.name_of_process && one.active(call.t());
                         if (names && concerns(&one, pid))
                           return put_name(call, one.fault.bytes, name, length);
                       }
                       return put_name(call, process.name, name, length);
                     }
                     return NVML_ERROR_NOT_FOUND;
                   });
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                             nvmlProcessUtilizationSample_t* rows,
                                             unsigned int* count, unsigned long long last_seen) {
  return on_gpu(Fn::nvmlDeviceGetProcessUtilization, device, count != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  std::vector<Share> list;
                  const nvmlReturn_t code =
                      shares_for(call, last_seen, rows != nullptr, count, &list);
                  return code == NVML_SUCCESS ? put_shares(call, list, rows) : code;
                });
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                                   nvmlProcessesUtilizationInfo_t* info) {
  return on_gpu(Fn::nvmlDeviceGetProcessesUtilizationInfo, device, info != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.takes<nvmlProcessesUtilizationInfo_t>(info->version, 1)) {
                    return call.version_mismatch();
                  }
                  std::vector<Share> list;
                  const nvmlReturn_t code =
                      shares_for(call, info->lastSeenTimeStamp, info->procUtilArray != nullptr,
                                 &info->processSamplesCount, &list);
                  return code == NVML_SUCCESS ? put_share_infos(call, list, info->procUtilArray)
                                              : code;
                });
}

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
                                                   nvmlProcessDetailList_t* list) {
  return on_device(Fn::nvmlDeviceGetRunningProcessDetailList, device, list != nullptr, Takes::kAny,
                   [&](Call& call) -> nvmlReturn_t {
                     if (!call.takes<nvmlProcessDetailList_t>(list->version, 1)) {
                       return call.version_mismatch();
                     }
                     if (list->mode > 2) return NVML_ERROR_INVALID_ARGUMENT;
                     if (call.board().architecture < NVML_DEVICE_ARCH_HOPPER) {
                       return NVML_ERROR_NOT_SUPPORTED;
                     }
                     const ProcessKind kinds[] = {ProcessKind::kCompute, ProcessKind::kGraphics,
                                                  ProcessKind::kMps};
                     return write_list(call, kinds[list->mode], sizeof(nvmlProcessDetail_v1_t),
                                       &list->numProcArrayEntries,
                                       reinterpret_cast<char*>(list->procArray));
                   });
}
