#include "collect/amdgpu/process_lane.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "collect/amdgpu/client_scan.h"
#include "collect/amdgpu/kfd.h"
#include "platform/drm_fdinfo.h"
#include "platform/proc.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;
using model::ProcessType;
using model::Reason;
using model::Value;
using platform::DrmClient;
using platform::DrmEngine;
using platform::RootFs;

constexpr MetricId kMetrics[] = {MetricId::kGpuProcesses};

// What one engine's time counts for.
enum class Share : uint8_t { kGfx, kEncoder, kDecoder };
struct EngineRow {
  std::string_view engine;
  Share share;
};
// Newer video blocks decode on what the driver calls enc.
constexpr EngineRow kEngines[] = {
    {"gfx", Share::kGfx},       {"compute", Share::kGfx}, {"enc", Share::kEncoder},
    {"enc_1", Share::kEncoder}, {"dec", Share::kDecoder}, {"jpeg", Share::kDecoder},
};
constexpr uint64_t kPollsBetweenNodes = 10;

struct Counter {
  uint64_t busy_ns = 0;
  MonoTime at{};
};
// A client by its GPU and the driver's number.
using ClientKey = std::pair<std::string, uint64_t>;

// What a process holds of one GPU, over its clients.
struct Sum {
  std::optional<double> memory;
  std::array<std::optional<double>, std::size(kEngines)> engines;
  bool uses_gfx = false;
  bool uses_compute = false;
  Duration window{};
};

std::optional<double> resident(const DrmClient& client, std::string_view region) {
  const auto* const found = client.region(region);
  if (found == nullptr || !found->resident) return std::nullopt;
  return static_cast<double>(*found->resident);
}

void add(std::optional<double>& sum, std::optional<double> more) {
  if (more) sum = sum.value_or(0) + *more;
}

class ProcessLane final : public Lane {
 public:
  ProcessLane(const RootFs& root, std::vector<ProcessesOf> gpus, bool is_wanted)
      : root_(root), gpus_(std::move(gpus)), is_wanted_(is_wanted), scan_(root) {
    for (const auto& [gpu, work] : gpus_) info_.uuids.push_back(gpu->device.uuid);
  }

  const LaneInfo& info() const override { return info_; }

  Verdict poll(Report& report) override {
    if (!is_wanted_) {
      for (const auto& [gpu, work] : gpus_) {
        report.about(gpu->device.uuid);
        report.processes_absent(Reason::kDisabled);
      }
      return Verdict::kGood;
    }
    // A GPU may be divided anew at any time.
    if (polls_++ % kPollsBetweenNodes == 0) kfd_ = kfd_nodes(root_);
    std::set<std::string> nodes;
    for (const auto& [gpu, work] : gpus_) {
      report.about(gpu->device.uuid);
      if (platform::is_asleep(platform::runtime_status_in(root_, gpu->drm.folder))) {
        report.state(model::DeviceState::kAsleep);
        continue;
      }
      nodes.insert(gpu->drm.node);
      if (!gpu->drm.render_node.empty()) nodes.insert(gpu->drm.render_node);
    }
    const auto& holders = scan_.walk(nodes);
    std::map<ClientKey, std::map<std::string, Counter>> counters;
    for (const auto& [gpu, work] : gpus_) {
      if (!nodes.contains(gpu->drm.node)) continue;
      report.about(gpu->device.uuid);
      if (read_gpu(*gpu, holders, counters, report)) work->note(report.now());
    }
    counters_ = std::move(counters);
    return Verdict::kGood;
  }

 private:
  // True if any of them computes.
  bool read_gpu(const AmdDevice& gpu, const std::map<int64_t, ClientScan::Holder>& holders,
                std::map<ClientKey, std::map<std::string, Counter>>& counters, Report& report) {
    std::set<uint64_t> counted;
    std::vector<model::Process> processes;
    for (const auto& [pid, holder] : holders) {
      std::optional<Sum> sum;
      for (const ClientScan::Descriptor& descriptor : holder.descriptors) {
        const auto text = root_.read(descriptor.fdinfo, 16384);
        if (!text.ok()) continue;  // closed since, or not ours to see
        const auto client = platform::parse_drm_fdinfo(*text);
        if (!client.ok() || !is_of(gpu, *client, descriptor)) continue;
        // Without a number two descriptors of one client cannot be told from two clients.
        if (!client->id || !counted.insert(*client->id).second) continue;
        if (!sum) sum.emplace();
        add_client(gpu, *client, counters[{gpu.device.uuid, *client->id}], *sum, report);
      }
      if (sum) processes.push_back(finish(pid, holder, *sum, report));
    }
    add_kfd(gpu, processes, report);
    if (scan_.was_refused()) {
      report.absent(MetricId::kGpuProcesses, Reason::kNoPermission);
    } else {
      report.set(MetricId::kGpuProcesses, static_cast<double>(processes.size()));
    }
    const bool computes = std::ranges::any_of(processes, [](const model::Process& process) {
      return process.type != ProcessType::kGraphics;
    });
    report.processes(std::move(processes));
    return computes;
  }

  // A container may give a node another name than ours: the address decides where it is told.
  static bool is_of(const AmdDevice& gpu, const DrmClient& client,
                    const ClientScan::Descriptor& descriptor) {
    if (!client.address.empty()) return client.address == gpu.drm.address;
    return descriptor.node == gpu.drm.node || descriptor.node == gpu.drm.render_node;
  }

  // What computes by ROCm is known of everybody, whoever may look into whose descriptors.
  void add_kfd(const AmdDevice& gpu, std::vector<model::Process>& processes, Report& report) const {
    for (const auto& [pid, bytes] : kfd_memory(root_, kfd_, gpu.drm.address)) {
      const auto known = std::ranges::find(processes, pid, &model::Process::pid);
      if (known != processes.end()) {
        if (known->memory_bytes.is_absent()) {
          known->memory_bytes = report.fresh(static_cast<double>(bytes));
        }
        if (known->type == ProcessType::kGraphics) known->type = ProcessType::kBoth;
        continue;
      }
      model::Process process{.pid = pid, .type = ProcessType::kCompute};
      const auto stat = platform::read_proc_stat(root_, std::to_string(pid));
      if (stat.ok()) process.start_ticks = stat->start_ticks;
      process.memory_bytes = report.fresh(static_cast<double>(bytes));
      for (auto* share : {&process.utilization_ratio, &process.memory_utilization_ratio,
                          &process.encoder_utilization_ratio, &process.decoder_utilization_ratio}) {
        *share = Value::absent(Reason::kNotSupported);
      }
      processes.push_back(std::move(process));
    }
  }

  void add_client(const AmdDevice& gpu, const DrmClient& client,
                  std::map<std::string, Counter>& now, Sum& sum, Report& report) {
    add(sum.memory, resident(client, "vram"));
    if (gpu.is_apu) add(sum.memory, resident(client, "gtt"));
    const auto before = counters_.find({gpu.device.uuid, *client.id});
    for (size_t i = 0; i < std::size(kEngines); ++i) {
      const EngineRow& row = kEngines[i];
      const DrmEngine* engine = client.engine(row.engine);
      const bool is_known = before != counters_.end();
      const Counter* last = nullptr;
      if (is_known) {
        const auto at = before->second.find(std::string(row.engine));
        if (at != before->second.end()) last = &at->second;
      }
      // Engines that were never used are not printed: theirs is a zero.
      const uint64_t busy_ns = engine != nullptr ? engine->busy_ns.value_or(0) : 0;
      const uint64_t high = std::max(busy_ns, last != nullptr ? last->busy_ns : 0);
      now[std::string(row.engine)] = {.busy_ns = high, .at = report.now()};
      if (busy_ns > 0) (row.engine == "compute" ? sum.uses_compute : sum.uses_gfx) = true;
      if (last == nullptr || report.now() <= last->at) continue;
      sum.window = report.now() - last->at;
      const double capacity = engine != nullptr ? static_cast<double>(engine->capacity) : 1;
      const double share =
          static_cast<double>(high - last->busy_ns) * 1e-9 / seconds(sum.window) / capacity;
      add(sum.engines[i], share);
    }
  }

  // That of the busiest of the engines that count for it.
  static std::optional<double> busiest(const Sum& sum, Share which) {
    std::optional<double> most;
    for (size_t i = 0; i < std::size(kEngines); ++i) {
      if (kEngines[i].share != which || !sum.engines[i]) continue;
      most = std::max(most.value_or(0), *sum.engines[i]);
    }
    return most;
  }

  static model::Process finish(int64_t pid, const ClientScan::Holder& holder, const Sum& sum,
                               Report& report) {
    model::Process process{.pid = pid, .start_ticks = holder.start_ticks};
    const bool computes = holder.has_kfd || sum.uses_compute;
    process.type = computes && sum.uses_gfx ? ProcessType::kBoth
                   : computes               ? ProcessType::kCompute
                                            : ProcessType::kGraphics;
    process.memory_bytes =
        sum.memory ? report.fresh(*sum.memory) : Value::absent(Reason::kNotSupported);
    process.memory_utilization_ratio = Value::absent(Reason::kNotSupported);
    const auto share = [&](Share which) {
      const auto number = busiest(sum, which);
      if (!number) return Value::absent(Reason::kWarmingUp);
      // The driver looks at its clock a moment after we looked at ours: that much over the whole is
      // the whole. More than that cannot be.
      constexpr double kNoise = 0.05;
      if (*number > 1 + kNoise) {
        report.count_implausible();
        return Value::absent(Reason::kImplausible);
      }
      return report.fresh(std::min(*number, 1.0), sum.window);
    };
    // What runs by queues of its own (ROCm) is counted by no engine: its 0 would be no reading.
    const bool is_uncounted = holder.has_kfd && !sum.uses_gfx && !sum.uses_compute;
    process.utilization_ratio =
        is_uncounted ? Value::absent(Reason::kNotSupported) : share(Share::kGfx);
    process.encoder_utilization_ratio = share(Share::kEncoder);
    process.decoder_utilization_ratio = share(Share::kDecoder);
    return process;
  }

  RootFs root_;
  std::vector<ProcessesOf> gpus_;
  bool is_wanted_;
  LaneInfo info_{.name = "amdgpu/processes", .cadence = LaneCadence::kFast};
  ClientScan scan_;
  std::vector<KfdNode> kfd_;
  uint64_t polls_ = 0;
  std::map<ClientKey, std::map<std::string, Counter>> counters_;  // of the last poll
};

}  // namespace

std::span<const MetricId> process_metrics() { return kMetrics; }

std::unique_ptr<Lane> make_process_lane(const RootFs& root, std::vector<ProcessesOf> gpus,
                                        bool is_wanted) {
  return std::make_unique<ProcessLane>(root, std::move(gpus), is_wanted);
}

}  // namespace gpusight::collect::amdgpu
