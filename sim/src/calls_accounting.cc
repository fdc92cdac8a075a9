// Accounting: what processes used in their whole life, kept a while after they have gone.
#include <algorithm>
#include <cmath>
#include <vector>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kBufferSize = 4000;  // as real drivers say
constexpr unsigned kRoundsKept = 64;    // of a process that comes back, the latest lives

// One life of a process.
struct Account {
  const ProcessSpec* spec = nullptr;
  unsigned pid = 0;
  double begin = 0;
  double end = 0;  // now, while it runs
  bool running = false;
};

// Lives of one process on this GPU until now, the latest first.
void add_lives(const Call& call, const ProcessSpec& spec, std::vector<Account>& out) {
  const double start = std::isinf(spec.from) ? 0 : spec.from;
  const bool once = spec.every_seconds <= 0;
  const double rounds = once ? 0 : std::floor((call.t() - start) / spec.every_seconds);
  for (unsigned back = 0; back < kRoundsKept && rounds - back >= 0; ++back) {
    const double begin = once ? start : start + (rounds - back) * spec.every_seconds;
    const double end = std::min(once ? spec.until : begin + spec.for_seconds, spec.until);
    if (call.t() < begin && !std::isinf(spec.from)) continue;
    const auto later = static_cast<unsigned>(static_cast<std::int64_t>(rounds - back) & 0x3FF);
    out.push_back({.spec = &spec,
                   .pid = spec.pid + (once ? 0 : later),
                   .begin = begin,
                   .end = std::min(end, call.t()),
                   .running = call.t() < end});
    if (once) break;
  }
}

std::vector<Account> accounts(const Call& call) {
  std::vector<Account> result;
  const auto here = static_cast<unsigned>(call.gpu());
  for (const ProcessSpec& spec : call.scenario().processes) {
    const bool mine = std::find(spec.gpus.begin(), spec.gpus.end(), here) != spec.gpus.end();
    if (mine && spec.compute) add_lives(call, spec, result);
  }
  return result;
}

nvmlReturn_t find_account(const Call& call, unsigned pid, Account* account) {
  if (!call.model().spec().accounting) return NVML_ERROR_NOT_SUPPORTED;
  for (const Account& one : accounts(call)) {
    if (one.pid != pid) continue;
    *account = one;
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

unsigned percent(double share) { return static_cast<unsigned>(std::lround(share * 100)); }

struct Used {
  unsigned gpu = 0;
  unsigned memory = 0;
  std::uint64_t most_bytes = 0;
  std::uint64_t lived_ms = 0;
};

Used used_by(const Call& call, const Account& account) {
  const GpuModel& model = call.model();
  const double lived = std::max(0.0, account.end - account.begin);
  const RunningProcess process{account.spec, account.pid, account.begin};
  return {.gpu = percent(model.busy(account.end, lived) * account.spec->share),
          .memory = percent(model.memory_busy(account.end, lived) * account.spec->share),
          .most_bytes = model.process_memory(process, account.end),
          // The driver writes the time when the process has ended.
          .lived_ms = account.running ? 0 : static_cast<std::uint64_t>(lived * 1000)};
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned int* size) {
  return one_number(Fn::nvmlDeviceGetAccountingBufferSize, device, size,
                    [](Call&) { return kBufferSize; });
}

nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned int* count,
                                         unsigned int* pids) {
  return on_gpu(Fn::nvmlDeviceGetAccountingPids, device, count != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  if (!call.model().spec().accounting) return NVML_ERROR_NOT_SUPPORTED;
                  const std::vector<Account> list = accounts(call);
                  const unsigned offered = *count;
                  *count = static_cast<unsigned>(list.size());
                  if (offered < list.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
                  if (!list.empty() && pids == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                  for (std::size_t i = 0; i < list.size(); ++i) pids[i] = list[i].pid;
                  return NVML_SUCCESS;
                });
}

nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid,
                                          nvmlAccountingStats_t* stats) {
  return on_gpu(
      Fn::nvmlDeviceGetAccountingStats, device, stats != nullptr, [&](Call& call) -> nvmlReturn_t {
        Account account;
        const nvmlReturn_t code = find_account(call, pid, &account);
        if (code != NVML_SUCCESS) return code;
        const Used used = used_by(call, account);
        *stats = {};
        call.put(&stats->gpuUtilization, used.gpu, "gpuUtilization");
        call.put(&stats->memoryUtilization, used.memory, "memoryUtilization");
        call.put<unsigned long long>(&stats->maxMemoryUsage, used.most_bytes, "maxMemoryUsage");
        stats->time = used.lived_ms;
        stats->startTime = library().stamp_us(account.begin);
        stats->isRunning = account.running ? 1 : 0;
        return NVML_SUCCESS;
      });
}

// The PID stands in the structure here.
nvmlReturn_t nvmlDeviceGetAccountingStats_v2(nvmlDevice_t device, nvmlAccountingStats_v2_t* stats) {
  return on_gpu(Fn::nvmlDeviceGetAccountingStats_v2, device, stats != nullptr,
                [&](Call& call) -> nvmlReturn_t {
                  Account account;
                  const nvmlReturn_t code = find_account(call, stats->pid, &account);
                  if (code != NVML_SUCCESS) return code;
                  const Used used = used_by(call, account);
                  const auto samples =
                      static_cast<unsigned>(std::max(0.0, account.end - account.begin) * 6);
                  *stats = {.pid = account.pid,
                            .isRunning = account.running ? 1U : 0U,
                            .gpuUtilization = used.gpu,
                            .memoryUtilization = used.memory,
                            .maxMemoryUsage = used.most_bytes,
                            .sampleCount = samples,
                            .sumGpuUtil = std::uint64_t{samples} * used.gpu,
                            .sumFbUtil = std::uint64_t{samples} * used.memory,
                            .time = used.lived_ms,
                            .startTime = library().stamp_us(account.begin)};
                  return NVML_SUCCESS;
                });
}
