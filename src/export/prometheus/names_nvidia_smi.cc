// nvidia_gpu_exporter: nvidia-smi's query fields as families, labels sorted by name as it prints
// them. Its units are SI's.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "export/prometheus/drop_in.h"
#include "export/prometheus/names.h"

namespace gpusight::prometheus {
namespace {

using catalog::Kind;
using catalog::MetricId;
using catalog::Unit;
using Families = std::vector<ForeignFamily>;

// Rows that nvidia-smi has under a second name: power.draw is the board's average where it has one
// and the moment on older ones; device_memory is what dram was called.
constexpr ForeignFamily kSecondNames[] = {
    {.name = "nvidia_smi_power_draw_watts",
     .metric = MetricId::kGpuPowerAverage,
     .otherwise = MetricId::kGpuPowerInstant},
    {"nvidia_smi_ecc_errors_corrected_volatile_device_memory", MetricId::kGpuEccVolatileCorrectedAt,
     "dram"},
    {"nvidia_smi_ecc_errors_uncorrected_volatile_device_memory",
     MetricId::kGpuEccVolatileUncorrectedAt, "dram"},
    {"nvidia_smi_ecc_errors_corrected_aggregate_device_memory",
     MetricId::kGpuEccAggregateCorrectedAt, "dram"},
    {"nvidia_smi_ecc_errors_uncorrected_aggregate_device_memory",
     MetricId::kGpuEccAggregateUncorrectedAt, "dram"},
};

// Readings of a MIG device, which belong to its GPU instance. A GPU's own have other names.
constexpr ForeignFamily kInstanceFamilies[] = {
    {"nvidia_smi_mig_memory_total_bytes", MetricId::kGpuMemoryTotal},
    {"nvidia_smi_mig_memory_used_bytes", MetricId::kGpuMemoryUsed},
    {"nvidia_smi_mig_memory_free_bytes", MetricId::kGpuMemoryFree},
    {"nvidia_smi_mig_memory_reserved_bytes", MetricId::kGpuMemoryReserved},
    {"nvidia_smi_mig_graphics_activity_ratio", MetricId::kGpuGraphicsActivity},
    {"nvidia_smi_mig_sm_activity_ratio", MetricId::kGpuSmActivity},
    {"nvidia_smi_mig_sm_occupancy_ratio", MetricId::kGpuSmOccupancy},
    {"nvidia_smi_mig_tensor_activity_ratio", MetricId::kGpuTensorActivity},
    {"nvidia_smi_mig_pcie_throughput_tx_bytes_per_second", MetricId::kGpuPcieTransmitMean},
    {"nvidia_smi_mig_pcie_throughput_rx_bytes_per_second", MetricId::kGpuPcieReceiveMean},
};

// It prints what nvidia-smi prints as gauges, and counts these itself.
constexpr std::string_view kCounters[] = {"nvidia_smi_energy_joules_total",
                                          "nvidia_smi_xid_errors_total"};

// nvidia-smi renamed its field with driver 535; families are called by the field.
constexpr uint64_t kFirstWithEventReasons = 535;
constexpr std::string_view kEventReasons = "nvidia_smi_clocks_event_reasons_";
constexpr std::string_view kThrottleReasons = "nvidia_smi_clocks_throttle_reasons_";
constexpr std::string_view kReasonCounters = "nvidia_smi_clocks_event_reasons_counters_";

// Where the driver counts bytes itself nobody waits for its window of 20 ms; boards that measure
// activity then have the rate from there.
constexpr std::pair<MetricId, MetricId> kOtherwise[] = {
    {MetricId::kGpuPcieTransmitRate, MetricId::kGpuPcieTransmitMean},
    {MetricId::kGpuPcieReceiveRate, MetricId::kGpuPcieReceiveMean},
};

constexpr size_t kMostApps =
    64;  // of one GPU, those with most memory; compute_apps counts them all

Families as_they_print(Families families) {
  families.insert(families.end(), std::begin(kSecondNames), std::end(kSecondNames));
  for (ForeignFamily& family : families) {
    const bool is_counter = std::ranges::find(kCounters, family.name) != std::end(kCounters);
    family.kind = is_counter ? Kind::kCounter : Kind::kGauge;
    for (const auto& [metric, otherwise] : kOtherwise) {
      if (family.metric == metric) family.otherwise = otherwise;
    }
    // A time whose name has no unit is as nvidia-smi prints it.
    const bool is_time = catalog::metric(family.metric).unit == Unit::kSeconds;
    if (!is_time || family.name.ends_with("_seconds")) continue;
    family.factor = {1'000'000, 1};
    family.in_words = "microseconds";
  }
  return families;
}

const Families& gpu_families() {
  static const Families families = as_they_print(families_named(&catalog::Elsewhere::nvidia_smi));
  return families;
}

// It knows a GPU by the UUID in lower case without what NVIDIA puts before it.
std::string uuid_of(const model::Device& gpu) {
  std::string uuid = gpu.uuid;
  std::ranges::transform(uuid, uuid.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  if (uuid.starts_with("gpu-")) uuid.erase(0, 4);
  return uuid;
}

std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
  std::string text = "{";
  for (const auto& [name, value] : all) {
    if (text.size() > 1) text += ',';
    append_label(text, name, value);
  }
  return text += '}';
}

// Writes families one after the other: each its heading before its first sample.
class Writer {
 public:
  explicit Writer(Exposition& out) : out_(out) {}

  void family(std::string_view name, Kind kind, std::string_view help) {
    name_ = name;
    kind_ = kind;
    help_ = help;
    has_heading_ = false;
  }
  void sample(std::string_view labels, double number) {
    if (!std::exchange(has_heading_, true)) out_.family(name_, kind_, Unit::kNone, help_);
    out_.begin_sample(name_) += labels;
    out_.end_sample(number);
  }

 private:
  Exposition& out_;
  std::string name_;
  std::string help_;
  Kind kind_ = Kind::kGauge;
  bool has_heading_ = false;
};

// A GPU that does not answer is in no list of nvidia-smi's either.
bool is_listed(const Board& board) {
  return board.gpu->state == model::DeviceState::kActive ||
         board.gpu->state == model::DeviceState::kAsleep;
}

void append_identity(Writer& out, const std::vector<Board>& boards) {
  out.family("nvidia_smi_gpu_info", Kind::kGauge, "Facts of a GPU; always 1. Join by uuid.");
  const auto fact = [](const model::Device& device, std::string_view name) -> std::string_view {
    const std::string* known = model::find_fact(device, name);
    return known == nullptr ? std::string_view() : *known;
  };
  for (const Board& board : boards) {
    const model::Device& d = *board.gpu->device;
    // Windows alone has driver models; what is not known is empty.
    out.sample(labels({{"compute_cap", fact(d, "compute_capability")},
                       {"cuda_version", fact(d, "cuda")},
                       {"driver_model_current", "[N/A]"},
                       {"driver_model_pending", "[N/A]"},
                       {"driver_version", d.driver},
                       {"index", text_of(d.index)},
                       {"name", d.name},
                       {"pci_bus_id", nvml_bus_id(d.pci)},
                       {"pci_sub_device_id", fact(d, "pci_sub_device_id")},
                       {"serial", d.serial},
                       {"uuid", uuid_of(d)},
                       {"vbios_version", d.vbios}}),
               1);
  }
  out.family("nvidia_smi_index", Kind::kGauge, "The driver's number of the GPU; not stable.");
  for (const Board& board : boards) {
    const model::Device& d = *board.gpu->device;
    if (d.index) out.sample(labels({{"uuid", uuid_of(d)}}), *d.index);
  }
  out.family("nvidia_smi_count", Kind::kGauge, "How many GPUs the machine has.");
  for (const Board& board : boards) {
    out.sample(labels({{"uuid", uuid_of(*board.gpu->device)}}), static_cast<double>(boards.size()));
  }
}

// The name of the family with the driver at hand.
std::string name_by_driver(const ForeignFamily& family, const std::vector<Board>& boards) {
  std::string name(family.name);
  const bool is_reason = name.starts_with(kEventReasons) && !name.starts_with(kReasonCounters);
  if (!is_reason || boards.empty()) return name;
  const std::string_view driver = boards.front().gpu->device->driver;
  const auto major = parse_uint(driver.substr(0, driver.find('.')));
  if (major && *major < kFirstWithEventReasons) {
    name.replace(0, kEventReasons.size(), kThrottleReasons);
  }
  return name;
}

void append_gpu_families(Writer& out, const std::vector<Board>& boards) {
  std::vector<std::string> uuids;
  uuids.reserve(boards.size());
  for (const Board& board : boards)
    uuids.push_back(labels({{"uuid", uuid_of(*board.gpu->device)}}));
  std::vector<ForeignReading> readings;
  for (const ForeignFamily& family : gpu_families()) {
    out.family(name_by_driver(family, boards), family.kind, help_of(family));
    const std::string_view label = catalog::metric(family.metric).label;
    for (size_t i = 0; i < boards.size(); ++i) {
      find_readings({boards[i].gpu}, family, readings);
      for (const ForeignReading& reading : readings) {
        if (reading.label.empty()) {
          out.sample(uuids[i], reading.number);
          continue;
        }
        // "uuid" comes before "xid", the one label that is kept.
        const std::string uuid = uuid_of(*boards[i].gpu->device);
        out.sample(labels({{"uuid", uuid}, {label, reading.label}}), reading.number);
      }
    }
  }
}

void append_instances(Writer& out, const std::vector<Board>& boards) {
  out.family("nvidia_smi_mig_info", Kind::kGauge, "A MIG device and what it is part of; always 1.");
  for (const Board& board : boards) {
    for (const model::DeviceSnapshot* mig : board.mig) {
      const model::Device& d = *mig->device;
      out.sample(labels({{"compute_instance_id", text_of(d.compute_instance)},
                         {"gpu_instance_id", text_of(d.gpu_instance)},
                         {"mig_uuid", d.uuid},
                         {"profile", d.profile},
                         {"uuid", uuid_of(*board.gpu->device)}}),
                 1);
    }
  }
  std::vector<ForeignReading> readings;
  for (const ForeignFamily& family : kInstanceFamilies) {
    out.family(family.name, family.kind, help_of(family));
    for (const Board& board : boards) {
      for (const Parts& parts : board.instances) {
        find_readings(parts, family, readings);
        for (const ForeignReading& reading : readings) {
          out.sample(labels({{"gpu_instance_id", text_of(parts.front()->device->gpu_instance)},
                             {"uuid", uuid_of(*board.gpu->device)}}),
                     reading.number);
        }
      }
    }
  }
}

// A process with a compute context on a GPU, on whichever of its MIG devices.
struct App {
  const model::Process* process = nullptr;
  std::optional<double> memory_bytes;  // absent as soon as one part is
};

// Adds a list; a process on several parts is one, with the memory it has on all of them.
void add_apps(const model::DeviceSnapshot& list, std::map<int64_t, App>& apps) {
  for (const model::Process& process : list.processes) {
    if (process.type == model::ProcessType::kGraphics) continue;
    const auto memory = process.memory_bytes.fresh_number();
    const auto [at, is_new] = apps.try_emplace(process.pid, App{&process, memory});
    if (is_new) continue;
    App& app = at->second;
    app.memory_bytes =
        app.memory_bytes && memory ? std::optional(*app.memory_bytes + *memory) : std::nullopt;
  }
}

// By pid; nullopt where a list is missing: a part is no total.
std::optional<std::map<int64_t, App>> apps_of(const Board& board) {
  std::map<int64_t, App> apps;
  for (const model::DeviceSnapshot* mig : board.mig) {
    if (!mig->processes_known) return std::nullopt;
    add_apps(*mig, apps);
  }
  if (board.gpu->processes_known) {
    // In MIG mode the GPU's own list may repeat those of its parts, or be missing.
    std::map<int64_t, App> own;
    add_apps(*board.gpu, own);
    apps.merge(own);
  } else if (board.mig.empty()) {
    return std::nullopt;
  }
  return apps;
}

std::vector<App> visible_apps(const std::map<int64_t, App>& apps, const model::Caller& caller) {
  std::vector<App> visible;
  for (const auto& [pid, app] : apps) {
    if (caller.may_see(app.process->owner)) visible.push_back(app);
  }
  std::ranges::stable_sort(visible, std::greater(),
                           [](const App& app) { return app.memory_bytes.value_or(-1); });
  if (visible.size() > kMostApps) visible.resize(kMostApps);
  return visible;
}

std::string labels_of(const App& app, const std::string& uuid) {
  const model::Process& process = *app.process;
  const std::string& command = process.owner.command;
  return labels({{"pid", std::to_string(process.pid)},
                 {"process_name", command.empty() ? process.driver_name : command},
                 {"uuid", uuid}});
}

void append_apps(Writer& out, const std::vector<Board>& boards, const model::Caller& caller) {
  struct OfGpu {
    std::string uuid;
    size_t count = 0;
    std::vector<App> visible;
  };
  std::vector<OfGpu> all;
  bool is_whole = true;
  for (const Board& board : boards) {
    const auto apps = apps_of(board);
    is_whole = is_whole && apps.has_value();
    if (!apps) continue;
    all.push_back({uuid_of(*board.gpu->device), apps->size(), visible_apps(*apps, caller)});
  }
  out.family("nvidia_smi_compute_app_info", Kind::kGauge,
             "A process with a compute context on a GPU; always 1.");
  for (const OfGpu& gpu : all) {
    for (const App& app : gpu.visible) out.sample(labels_of(app, gpu.uuid), 1);
  }
  out.family("nvidia_smi_compute_app_used_memory_bytes", Kind::kGauge,
             "GPU memory that the process holds; absent where the driver does not tell.");
  for (const OfGpu& gpu : all) {
    for (const App& app : gpu.visible) {
      if (app.memory_bytes) out.sample(labels_of(app, gpu.uuid), *app.memory_bytes);
    }
  }
  out.family("nvidia_smi_compute_apps", Kind::kGauge,
             "How many processes have a compute context on the GPU, shown here or not.");
  for (const OfGpu& gpu : all) {
    out.sample(labels({{"uuid", gpu.uuid}}), static_cast<double>(gpu.count));
  }
  if (boards.empty()) return;
  out.family("nvidia_smi_compute_apps_last_collect_success", Kind::kGauge,
             "1 when the processes of every GPU are known.");
  out.sample("", is_whole ? 1 : 0);
}

bool is_collecting(const model::Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.sources, [](const model::SourceStatus& source) {
    return source.name == "nvml" && (source.phase == model::SourcePhase::kRunning ||
                                     source.phase == model::SourcePhase::kDegraded);
  });
}

// The longest of what the GPUs took, who are read side by side.
std::optional<double> collect_seconds(const model::Snapshot& snapshot) {
  std::optional<double> longest;
  for (const model::Sample& sample : snapshot.self) {
    const bool is_gpu = sample.metric == MetricId::kSelfLaneSeconds &&
                        sample.label.starts_with("nvml/") && sample.label.ends_with("/fast");
    const auto took = sample.value.fresh_number();
    if (is_gpu && took) longest = std::max(longest.value_or(0), *took);
  }
  return longest;
}

// How the collecting itself goes: a tick is a collection.
void append_self(Writer& out, const model::Snapshot& snapshot, bool outdated) {
  const bool success = !outdated && is_collecting(snapshot);
  out.family("nvidia_smi_last_collect_success", Kind::kGauge,
             "1 when the newest tick has read the driver.");
  out.sample("", success ? 1 : 0);
  out.family("nvidia_smi_last_collect_success_timestamp_seconds", Kind::kGauge,
             "Unix time of the newest tick that has read the driver.");
  if (is_collecting(snapshot)) {
    out.sample("", static_cast<double>(unix_milliseconds(snapshot.wall)) / 1000);
  }
  out.family("nvidia_smi_last_collect_duration_seconds", Kind::kGauge,
             "How long the newest tick took to read the driver.");
  if (const auto took = collect_seconds(snapshot); took && success) out.sample("", *took);
  const model::Value* late = model::find_sample(snapshot.self, MetricId::kSelfTicksLate);
  out.family("nvidia_smi_failed_scrapes_total", Kind::kCounter,
             catalog::metric(MetricId::kSelfTicksLate).help.en);
  if (late != nullptr && late->fresh_number()) out.sample("", *late->fresh_number());
}

}  // namespace

void append_nvidia_smi(Exposition& out, const model::Snapshot& snapshot,
                       const model::Caller& caller, bool outdated) {
  Writer writer(out);
  if (snapshot.sequence > 0) append_self(writer, snapshot, outdated);
  if (outdated) return;
  const std::vector<Board> boards = nvidia_boards(snapshot);
  std::vector<Board> listed;
  std::ranges::copy_if(boards, std::back_inserter(listed), is_listed);
  append_identity(writer, listed);
  // What is counted outside the driver, as XID errors are, stays when a GPU is lost.
  append_gpu_families(writer, boards);
  append_instances(writer, listed);
  append_apps(writer, listed, caller);
}

}  // namespace gpusight::prometheus
