#include <algorithm>
#include <cmath>
#include <cstdio>

#include "embedded.h"
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
  phase.jpeg = table.number("jpeg", 0, 0, 1);
  phase.ofa = table.number("ofa", 0, 0, 1);
  phase.tensor = table.number("tensor", 0.6, 0, 1);
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
}

std::size_t workload_position(TomlReader& table, const char* key, std::size_t fallback,
                              const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Workload& workload : scenario.workloads) names.push_back(workload.name);
  return table.choice(key, fallback, names);
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

// A board by its word: the scenario's own ones first.
BoardPtr choose_board(TomlReader& table, const char* key, const Scenario& scenario) {
  std::vector<std::string> ids;
  std::vector<BoardPtr> known;
  for (const auto& [id, board] : scenario.own_boards) {
    ids.push_back(id);
    known.push_back(board);
  }
  for (const BoardPtr& board : boards()) {
    ids.push_back(board->id);
    known.push_back(board);
  }
  return known[table.choice(key, 0, ids)];
}

void read_own_boards(TomlReader& root, Scenario& scenario) {
  root.tables("boards", [&](TomlReader& all) {
    all.each_table([&](const std::string& id, TomlReader& table) {
      Board base;
      if (table.has("like")) base = *choose_board(table, "like", scenario);
      scenario.own_boards[id] =
          std::make_shared<const Board>(read_board(table, id, std::move(base)));
    });
  });
}

// Figures that a scenario may nail down.
const std::vector<std::string> kReadings = {"power_watts",
                                            "average_watts",
                                            "memory_power_watts",
                                            "celsius",
                                            "memory_celsius",
                                            "busy",
                                            "memory_busy",
                                            "encoder",
                                            "decoder",
                                            "jpeg",
                                            "ofa",
                                            "graphics_mhz",
                                            "memory_mhz",
                                            "video_mhz",
                                            "pstate",
                                            "module_watts",
                                            "module_average_watts",
                                            "pcie_generation",
                                            "pcie_width",
                                            "pcie_sent_kbps",
                                            "pcie_received_kbps",
                                            "used_mib",
                                            "bar1_used_mib",
                                            "fan_percent",
                                            "idle"};

void read_readings(TomlReader& table, GpuSpec& gpu) {
  table.tables("reading", [&](TomlReader& row) {
    for (const std::string& name : kReadings) {
      if (row.has(name)) gpu.readings[name] = row.number(name, 0, 0, 1e9);
    }
  });
}

// What all GPUs of one [[gpu]] row have in common.
GpuSpec read_gpu_common(TomlReader& table, const Scenario& scenario) {
  GpuSpec gpu;
  gpu.board = scenario.board;
  if (gpu.board == nullptr || table.has("board")) {
    if (!table.has("board")) table.wrong("board", "is missing");
    gpu.board = choose_board(table, "board", scenario);
  }
  const Board& board = *gpu.board;
  gpu.name = table.text("name", board.name);
  gpu.workload = workload_position(table, "workload", 0, scenario);
  if (board.default_limit_watts > 0) {
    gpu.power_limit_watts = table.number("power_limit_watts", board.default_limit_watts,
                                         board.min_limit_watts, board.max_limit_watts);
  }
  gpu.persistence = table.boolean("persistence", board.persistence);
  gpu.display_active = table.boolean("display_active", false);
  gpu.mig = table.boolean("mig", false);
  if (gpu.mig && !board.mig_capable()) table.wrong("mig", "this board cannot do it");
  gpu.replay_counter = static_cast<unsigned>(table.integer("replay_counter", 0, 0, 1000000));
  const std::vector<std::string> states = {"active", "suspended", "suspending", "resuming"};
  gpu.runtime_status = states[table.choice("runtime_status", 0, states)];
  gpu.compute_mode = static_cast<unsigned>(table.choice(
      "compute_mode", 0, {"default", "exclusive_thread", "prohibited", "exclusive_process"}));
  gpu.accounting = table.boolean("accounting", false);
  gpu.chassis_serial = table.text("chassis_serial", "");
  read_readings(table, gpu);
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

// Where the GPU sits; `bus` -1 = where such boards usually do.
void place(GpuSpec& gpu, std::size_t position, std::int64_t bus, unsigned domain) {
  const Board& board = *gpu.board;
  const bool own_place = bus < 0 && board.pci_bus >= 0;
  gpu.pci_domain = own_place && board.pci_domain >= 0
                       ? static_cast<unsigned>(board.pci_domain)
                       : domain + static_cast<unsigned>(position / std::size(kUsualBuses));
  if (bus >= 0) {
    gpu.pci_bus = static_cast<unsigned>(bus) & 0xFF;
  } else {
    gpu.pci_bus = own_place ? static_cast<unsigned>(board.pci_bus)
                            : kUsualBuses[position % std::size(kUsualBuses)];
  }
}

void read_gpu_row(TomlReader& table, Scenario& scenario) {
  const double stagger = table.number("stagger_seconds", 0, 0, 1e6);
  const double offset = table.number("offset_seconds", 0, -1e6, 1e6);
  const std::int64_t bus = table.integer("pci_bus", -1, 0, 255);
  const auto domain = static_cast<unsigned>(table.integer("pci_domain", 0, 0, 0xFFFF));
  const auto slot = static_cast<unsigned>(table.integer("pci_device", 0, 0, 31));
  const std::int64_t numa = table.integer("numa_node", -1, 0, 63);
  const std::string uuid = table.text("uuid", "");
  const std::string serial = table.text("serial", "");
  const GpuSpec common = read_gpu_common(table, scenario);
  // A row of the machine's own board is as many as such machines have.
  const bool machine = scenario.board != nullptr && !table.has("board") && uuid.empty();
  const auto count = static_cast<std::size_t>(table.integer(
      "count", machine ? common.board->machine_gpus : 1, 1, static_cast<std::int64_t>(kMaxGpus)));
  const std::size_t last_workload =
      workload_position(table, "last_workload", common.workload, scenario);
  if (count > 1 && !(uuid.empty() && serial.empty())) {
    table.wrong("uuid", "uuid and serial are for a row with one GPU");
  }
  for (std::size_t i = 0; i < count && scenario.gpus.size() < kMaxGpus; ++i) {
    const std::size_t position = scenario.gpus.size();
    GpuSpec gpu = common;
    gpu.pci_device = slot;
    if (i + 1 == count) gpu.workload = last_workload;
    place(gpu, position, bus >= 0 ? bus + static_cast<std::int64_t>(i) : -1, domain);
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
  process.memory_share = table.number("memory_share", 0, 0, 1);
  if (process.memory_share > 0 && !table.has("memory_mib")) process.memory_bytes = 0;
  process.memory_growth_share = table.number("memory_growth_share", 0, 0, 1);
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

void read_session(TomlReader& table, Scenario& scenario) {
  VideoSession session;
  session.pid = static_cast<unsigned>(table.integer("pid", kFirstPid, 1, kLastPid));
  session.capture = table.choice("kind", 0, {"encode", "capture"}) == 1;
  session.codec = static_cast<unsigned>(table.choice("codec", 0, {"h264", "hevc", "av1"}));
  const auto number = [&](const char* key, unsigned fallback, std::int64_t most) {
    return static_cast<unsigned>(table.integer(key, fallback, 1, most));
  };
  session.width = number("width", session.width, 65536);
  session.height = number("height", session.height, 65536);
  session.frames = number("frames_per_second", session.frames, 10000);
  session.latency_us = number("latency_microseconds", session.latency_us, 100000000);
  session.gpus = table.gpus("gpu", scenario.gpus.size());
  session.from = table.number("from", -kForever, -1e9, 1e9);
  session.until = table.number("until", kForever, -1e9, 1e9);
  scenario.sessions.push_back(std::move(session));
}

void read_host(TomlReader& root, Scenario& scenario) {
  HostSpec& host = scenario.host;
  if (scenario.board != nullptr) {
    host.cpus = scenario.board->machine_cpus;
    host.memory_gib = scenario.board->machine_memory_gib;
    host.hostname = "sim-" + scenario.board->id;
  }
  root.tables("host", [&](TomlReader& table) {
    host.cpus = static_cast<unsigned>(table.integer("cpus", host.cpus, 1, 1024));
    host.memory_gib = static_cast<unsigned>(table.integer("memory_gib", host.memory_gib, 1, 65536));
    host.hostname = table.text("hostname", host.hostname);
    host.load = table.number("load", host.load, 0, 1);
  });
}

void read_age(TomlReader& root, Scenario& scenario) {
  if (root.has("age")) {
    const std::vector<std::string> names = age_names();
    const Age age = *find_age(names[root.choice("age", 0, names)]);
    scenario.driver = age.driver;
    scenario.cuda = age.cuda;
  }
  scenario.driver = root.text("driver", scenario.driver);
  if (version_key(scenario.driver) == 0) {
    root.wrong("driver", "a version such as \"580.105.08\" is wanted");
  }
  scenario.cuda = static_cast<int>(root.integer("cuda", scenario.cuda, 5000, 99999));
}

void read_general(TomlReader& root, Scenario& scenario) {
  scenario.title = root.text("title", scenario.title);
  read_age(root, scenario);
  scenario.seed = static_cast<std::uint64_t>(
      root.integer("seed", static_cast<std::int64_t>(scenario.seed), 0, 1LL << 62));
  scenario.uptime_seconds = root.number("uptime_seconds", scenario.uptime_seconds, 0, 1e9);
  scenario.serialize_calls = root.boolean("serialize_calls", scenario.serialize_calls);
  scenario.confidential_computing =
      root.boolean("confidential_computing", scenario.confidential_computing);
  if (root.has("missing_symbols")) scenario.missing_symbols = root.texts("missing_symbols");
  root.tables("clock", [&](TomlReader& table) {
    if (table.has("frozen_at")) scenario.frozen_at = table.number("frozen_at", 0, -1e9, 1e9);
    if (table.has("start_unix")) scenario.start_unix = table.number("start_unix", 0, 0, 1e11);
  });
  read_host(root, scenario);
  read_workloads(root, scenario);
}

// What needs to know the GPUs.
void read_users(TomlReader& root, Scenario& scenario) {
  root.tables("process", [&](TomlReader& table) { read_process(table, scenario); });
  root.tables("video_session", [&](TomlReader& table) { read_session(table, scenario); });
  for (Fault& fault : read_faults(root, scenario.gpus.size())) {
    scenario.faults.push_back(std::move(fault));
  }
}

// The document of a shape under the scenario that asked for it. Its GPUs are there unless the
// scenario has rows of its own.
class Shape {
 public:
  Shape(TomlReader& root, Scenario& scenario, TomlErrors& errors) {
    if (!root.has("shape")) return;
    std::vector<std::string> names;
    for (const EmbeddedText& one : embedded_shapes()) names.emplace_back(one.name);
    const std::string name = names[root.choice("shape", 0, names)];
    document_ = errors.parse(find_embedded(embedded_shapes(), name));
    if (!document_) return;
    reader_.emplace(*document_, "shape " + name, errors);
    if (scenario.board == nullptr && !root.has("gpu")) {
      root.wrong("board", "is missing: a shape needs a board or GPUs to play on");
    }
    scenario.title = reader_->text("title", "");
    read_host(*reader_, scenario);
    read_workloads(*reader_, scenario);
  }

  void read_gpus(Scenario& scenario) {
    if (!reader_) return;
    reader_->tables("gpu", [&](TomlReader& table) {
      // Rows of the scenario have come first and stand instead.
      if (own_rows_ || scenario.board == nullptr) return table.use_all();
      read_gpu_row(table, scenario);
    });
  }
  void has_own_rows() { own_rows_ = true; }

  void finish(Scenario& scenario) {
    if (!reader_) return;
    read_users(*reader_, scenario);
    reader_->finish();
  }

 private:
  std::optional<toml::table> document_;
  std::optional<TomlReader> reader_;
  bool own_rows_ = false;
};

void read_gpus(TomlReader& root, Scenario& scenario, Shape& shape) {
  root.tables("gpu", [&](TomlReader& table) { read_gpu_row(table, scenario); });
  if (!scenario.gpus.empty()) shape.has_own_rows();
  shape.read_gpus(scenario);
  if (scenario.gpus.empty() && scenario.board != nullptr) {
    toml::table plain;
    TomlErrors none("");
    TomlReader row(plain, "gpu", none);
    read_gpu_row(row, scenario);
  }
}

}  // namespace

Parsed<Scenario> parse_scenario(std::string_view text, const std::string& source) {
  TomlErrors errors(source);
  const std::optional<toml::table> document = errors.parse(text);
  if (!document) return {std::nullopt, errors.message()};
  Scenario scenario;
  TomlReader root(*document, "", errors);
  read_own_boards(root, scenario);
  if (root.has("board")) scenario.board = choose_board(root, "board", scenario);
  Shape shape(root, scenario, errors);
  read_general(root, scenario);
  if (scenario.workloads.empty()) {
    scenario.workloads.push_back({.name = "idle", .phases = {Phase{}}, .cycle_seconds = 1});
  }
  if (!errors.failed()) read_gpus(root, scenario, shape);
  if (!errors.failed()) {
    read_users(root, scenario);
    shape.finish(scenario);
  }
  if (!errors.failed()) root.finish();
  if (errors.failed()) return {std::nullopt, errors.message()};
  return {std::move(scenario), ""};
}

}  // namespace gpusight::sim
