#include <algorithm>
#include <cmath>
#include <cstdio>

#include "scenario.h"
#include "toml_reader.h"
#include "waveform.h"

namespace gpusight::sim {
namespace {

constexpr std::size_t kMaxGpus = 64;
// Real PIDs of a busy host end far below; a PID of the simulation must not name a real process.
constexpr unsigned kFirstPid = 2900000;
constexpr unsigned kLastPid = 4194303;
constexpr unsigned kUsualBuses[] = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf};

std::string uuid_text(const char* prefix, std::uint64_t a, std::uint64_t b) {
  char text[64];
  std::snprintf(text, sizeof text, "%s-%08x-%04x-4%03x-%04x-%012llx", prefix,
                static_cast<unsigned>(a >> 32), static_cast<unsigned>(a >> 16 & 0xFFFF),
                static_cast<unsigned>(a & 0xFFF),
                static_cast<unsigned>(0x8000 | (b >> 50 & 0x3FFF)),
                static_cast<unsigned long long>(b & 0xFFFFFFFFFFFFULL));
  return text;
}

Phase read_phase(TomlReader& table) {
  Phase phase;
  phase.seconds = table.number("seconds", 1, 0.001, 1e7);
  phase.high = table.number("high", 0, 0, 1);
  phase.low = table.number("low", 0, 0, 1);
  phase.pulse_hz = table.number("pulse_hz", 0, 0, 1000);
  phase.duty = table.number("duty", 0.5, 0, 1);
  phase.step_seconds = table.number("step_seconds", 0, 0, 1e6);
  phase.gap_seconds = table.number("gap_seconds", 0, 0, 1e6);
  phase.gap = table.number("gap", 0, 0, 1);
  phase.memory = table.number("memory", 0.5, 0, 1);
  phase.encoder = table.number("encoder", 0, 0, 1);
  phase.decoder = table.number("decoder", 0, 0, 1);
  if (phase.gap_seconds > phase.step_seconds) {
    table.wrong("gap_seconds", "must not be longer than step_seconds");
  }
  return phase;
}

void read_workloads(TomlReader& root, Scenario& scenario) {
  root.tables("workload", [&](TomlReader& all) {
    all.each_table([&](const std::string& name, TomlReader& table) {
      Workload workload{.name = name, .phases = {}, .cycle_seconds = 0};
      table.tables("phases", [&](TomlReader& phase) {
        workload.phases.push_back(read_phase(phase));
        workload.cycle_seconds += workload.phases.back().seconds;
      });
      if (workload.phases.empty()) table.wrong("phases", "at least one is wanted");
      scenario.workloads.push_back(std::move(workload));
    });
  });
  if (scenario.workloads.empty()) {
    scenario.workloads.push_back({.name = "idle", .phases = {Phase{}}, .cycle_seconds = 1});
  }
}

std::size_t workload_position(TomlReader& table, const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Workload& workload : scenario.workloads) names.push_back(workload.name);
  return table.choice("workload", 0, names);
}

void read_instances(TomlReader& table, GpuSpec& gpu, std::uint64_t seed) {
  table.tables("instance", [&](TomlReader& row) {
    InstanceSpec instance;
    const std::string profile = row.text("profile", "");
    instance.profile = find_mig_profile(*gpu.board, profile);
    if (instance.profile == nullptr) {
      row.wrong("profile", "\"" + profile + "\" is no MIG profile of " + gpu.board->id);
    }
    instance.slot = static_cast<unsigned>(
        row.integer("slot", static_cast<std::int64_t>(gpu.instances.size()), 0, 6));
    instance.gpu_instance = static_cast<unsigned>(row.integer("gi", instance.slot + 1, 0, 14));
    instance.compute_instance = static_cast<unsigned>(row.integer("ci", 0, 0, 7));
    instance.placement_start = static_cast<unsigned>(row.integer("start", 0, 0, 7));
    instance.from = row.number("from", -kForever, -1e9, 1e9);
    instance.until = row.number("until", kForever, -1e9, 1e9);
    instance.uuid = row.text("uuid", "");
    for (const InstanceSpec& other : gpu.instances) {
      const bool together = instance.from < other.until && other.from < instance.until;
      if (together && other.slot == instance.slot)
        row.wrong("slot", "is taken by another instance");
    }
    if (instance.uuid.empty()) {
      instance.uuid = uuid_text("MIG", mix(seed, 7000 + gpu.instances.size()),
                                mix(seed, 8000 + gpu.pci_bus * 16 + gpu.instances.size()));
    }
    gpu.instances.push_back(std::move(instance));
  });
}

// What all GPUs of one [[gpu]] row have in common.
GpuSpec read_gpu_common(TomlReader& table, const Scenario& scenario) {
  GpuSpec gpu;
  std::vector<std::string> ids;
  for (const Board& board : boards()) ids.emplace_back(board.id);
  if (!table.has("board")) table.wrong("board", "is missing");
  gpu.board = &boards()[table.choice("board", 0, ids)];
  gpu.name = table.text("name", gpu.board->name);
  gpu.workload = workload_position(table, scenario);
  gpu.power_limit_watts = table.number("power_limit_watts", gpu.board->default_limit_watts,
                                       gpu.board->min_limit_watts, gpu.board->max_limit_watts);
  gpu.persistence = table.boolean("persistence", true);
  gpu.display_active = table.boolean("display_active", false);
  gpu.mig = table.boolean("mig", false);
  if (gpu.mig && !gpu.board->mig_capable) table.wrong("mig", "this board cannot do it");
  gpu.replay_counter = static_cast<unsigned>(table.integer("replay_counter", 0, 0, 1000000));
  const std::vector<std::string> states = {"active", "suspended", "suspending", "resuming"};
  gpu.runtime_status = states[table.choice("runtime_status", 0, states)];
  return gpu;
}

void finish_gpu(GpuSpec& gpu, std::size_t position, std::uint64_t seed) {
  gpu.minor = static_cast<unsigned>(position);
  if (gpu.uuid.empty())
    gpu.uuid = uuid_text("GPU", mix(seed, position), mix(seed, 1000 + position));
  if (gpu.board->has_serial && gpu.serial.empty()) {
    gpu.serial = std::to_string(9990000000001ULL + position);
  }
}

void read_gpu_row(TomlReader& table, Scenario& scenario) {
  const auto count =
      static_cast<std::size_t>(table.integer("count", 1, 1, static_cast<std::int64_t>(kMaxGpus)));
  const double stagger = table.number("stagger_seconds", 0, 0, 1e6);
  const double offset = table.number("offset_seconds", 0, -1e6, 1e6);
  const std::int64_t bus = table.integer("pci_bus", -1, 1, 255);
  const auto domain = static_cast<unsigned>(table.integer("pci_domain", 0, 0, 0xFFFF));
  const std::int64_t numa = table.integer("numa_node", -1, 0, 63);
  const std::string uuid = table.text("uuid", "");
  const std::string serial = table.text("serial", "");
  const GpuSpec common = read_gpu_common(table, scenario);
  if (count > 1 && !(uuid.empty() && serial.empty())) {
    table.wrong("uuid", "uuid and serial are for a row with one GPU");
  }
  for (std::size_t i = 0; i < count && scenario.gpus.size() < kMaxGpus; ++i) {
    const std::size_t position = scenario.gpus.size();
    GpuSpec gpu = common;
    gpu.pci_domain = domain + static_cast<unsigned>(position / std::size(kUsualBuses));
    gpu.pci_bus = bus >= 0 ? static_cast<unsigned>(bus + static_cast<std::int64_t>(i))
                           : kUsualBuses[position % std::size(kUsualBuses)];
    gpu.numa_node =
        numa >= 0 ? static_cast<unsigned>(numa) : static_cast<unsigned>(position % 8 / 4);
    gpu.offset_seconds = offset + stagger * static_cast<double>(i);
    gpu.uuid = uuid;
    gpu.serial = serial;
    finish_gpu(gpu, position, scenario.seed);
    read_instances(table, gpu, mix(scenario.seed, position));
    scenario.gpus.push_back(std::move(gpu));
  }
}

void read_process(TomlReader& table, Scenario& scenario) {
  ProcessSpec process;
  process.pid = static_cast<unsigned>(
      table.integer("pid", kFirstPid + static_cast<std::int64_t>(scenario.processes.size()) * 100,
                    kFirstPid, kLastPid));
  process.name = table.text("name", "/usr/bin/python3");
  process.command = table.text("command", process.name);
  process.cgroup = table.text("cgroup", "0::/user.slice/user-1000.slice/session-2.scope");
  process.uid = static_cast<unsigned>(table.integer("uid", 1000, 0, 4294967294LL));
  const std::vector<std::string> kinds = {"compute", "graphics", "mps", "compute+graphics"};
  const std::size_t kind = table.choice("kind", 0, kinds);
  process.compute = kind == 0 || kind == 3;
  process.graphics = kind == 1 || kind == 3;
  process.mps = kind == 2;
  process.gpus = table.gpus("gpu", scenario.gpus.size());
  process.memory_bytes = static_cast<std::uint64_t>(table.integer("memory_mib", 256, 0, 1 << 20))
                         << 20;
  process.share = table.number("share", 1, 0, 1);
  if (table.has("gi")) process.gpu_instance = static_cast<unsigned>(table.integer("gi", 0, 0, 14));
  if (table.has("ci")) {
    process.compute_instance = static_cast<unsigned>(table.integer("ci", 0, 0, 7));
  }
  process.from = table.number("from", -kForever, -1e9, 1e9);
  process.until = table.number("until", kForever, -1e9, 1e9);
  process.every_seconds = table.number("every_seconds", 0, 0, 1e9);
  process.for_seconds = table.number("for_seconds", process.every_seconds, 0, 1e9);
  const bool per_gpu = table.boolean("one_per_gpu", false);
  if (process.gpus.empty()) {
    for (unsigned i = 0; i < scenario.gpus.size(); ++i) process.gpus.push_back(i);
  }
  if (!per_gpu) return scenario.processes.push_back(std::move(process));
  for (std::size_t i = 0; i < process.gpus.size(); ++i) {
    ProcessSpec one = process;
    one.gpus = {process.gpus[i]};
    one.pid = process.pid + static_cast<unsigned>(i);
    scenario.processes.push_back(std::move(one));
  }
}

void read_host(TomlReader& root, Scenario& scenario) {
  root.tables("host", [&](TomlReader& table) {
    scenario.host.cpus = static_cast<unsigned>(table.integer("cpus", 16, 1, 1024));
    scenario.host.memory_gib = static_cast<unsigned>(table.integer("memory_gib", 64, 1, 65536));
    scenario.host.hostname = table.text("hostname", "sim");
    scenario.host.load = table.number("load", 0.2, 0, 1);
  });
}

void read_general(TomlReader& root, Scenario& scenario) {
  scenario.title = root.text("title", "");
  scenario.driver = root.text("driver", scenario.driver);
  if (version_key(scenario.driver) == 0) {
    root.wrong("driver", "a version such as \"580.105.08\" is wanted");
  }
  scenario.cuda = static_cast<int>(root.integer("cuda", scenario.cuda, 5000, 99999));
  scenario.seed = static_cast<std::uint64_t>(root.integer("seed", 1, 0, 1LL << 62));
  scenario.uptime_seconds = root.number("uptime_seconds", 86400, 0, 1e9);
  scenario.serialize_calls = root.boolean("serialize_calls", false);
  scenario.missing_symbols = root.texts("missing_symbols");
  root.tables("clock", [&](TomlReader& table) {
    if (table.has("frozen_at")) scenario.frozen_at = table.number("frozen_at", 0, -1e9, 1e9);
    if (table.has("start_unix")) scenario.start_unix = table.number("start_unix", 0, 0, 1e11);
  });
}

}  // namespace

Parsed<Scenario> parse_scenario(std::string_view text, const std::string& source) {
  TomlErrors errors(source);
  const std::optional<toml::table> document = errors.parse(text);
  if (!document) return {std::nullopt, errors.message()};
  Scenario scenario;
  TomlReader root(*document, "", errors);
  read_general(root, scenario);
  read_host(root, scenario);
  read_workloads(root, scenario);
  if (!errors.failed()) {
    root.tables("gpu", [&](TomlReader& table) { read_gpu_row(table, scenario); });
  }
  if (!errors.failed()) {
    root.tables("process", [&](TomlReader& table) { read_process(table, scenario); });
    scenario.faults = read_faults(root, scenario.gpus.size());
  }
  if (!errors.failed()) root.finish();
  if (errors.failed()) return {std::nullopt, errors.message()};
  return {std::move(scenario), ""};
}

}  // namespace gpusight::sim
