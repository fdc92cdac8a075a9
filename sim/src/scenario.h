// A simulated machine as its scenario file describes it: GPUs, what they do, who uses them, and the
// faults that befall it. Plain values, immutable once parsed, shared freely between threads.
//
// Times are seconds since the start of the simulation (the first nvmlInit of the process) and may
// be negative: the past before the start is simulated too, so that sample rings are full from the
// first.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles.h"

namespace gpusight::sim {

inline constexpr double kForever = std::numeric_limits<double>::infinity();
inline constexpr unsigned kAllParts = 0xFFFFFFFF;

// One stretch of a workload's cycle. Activity is the share (0..1) of the board's dynamic power.
struct Phase {
  double seconds = 1;
  double high = 0;          // activity in the busy part of a pulse
  double low = 0;           // activity in the rest of a pulse
  double pulse_hz = 0;      // 0 = steady at `high`
  double duty = 0.5;        // busy share of a pulse
  double step_seconds = 0;  // >0: every so often ...
  double gap_seconds = 0;   // ... the last part of a step is a gap
  double gap = 0;           // activity in that gap
  double memory = 0.5;      // memory controller utilisation as a share of activity
  double encoder = 0;       // 0..1
  double decoder = 0;
  double jpeg = 0;
  double ofa = 0;
  double tensor = 0.6;  // of the active multiprocessors' time, in the tensor cores
};

struct Workload {
  std::string name;
  std::vector<Phase> phases;  // repeated for ever; never empty
  double cycle_seconds = 0;   // the sum of the phases
};

enum class ProcessKind { kCompute, kGraphics, kMps };

struct ProcessSpec {
  unsigned pid = 0;
  std::string name;     // the path that the driver names
  std::string command;  // whole command line, for the machine tree
  std::string cgroup;
  unsigned uid = 1000;
  bool compute = true;
  bool graphics = false;
  bool mps = false;
  std::vector<unsigned> gpus;  // positions in Scenario::gpus
  std::uint64_t memory_bytes = 0;
  double memory_share = 0;         // beside it, of the board's memory
  double memory_growth_share = 0;  // of the board's memory, each second that it runs
  double share = 1;                // of the GPU's utilisation
  std::optional<unsigned> gpu_instance;
  std::optional<unsigned> compute_instance;
  double from = -kForever;
  double until = kForever;
  double every_seconds = 0;  // >0: comes back, each time with the next PID ...
  double for_seconds = 0;    // ... and stays this long
};

// A process as it is at one instant.
struct RunningProcess {
  const ProcessSpec* spec;
  unsigned pid;
  double since;  // when it came
};

// One stream that the encoder or the frame-buffer capture of a GPU works on.
struct VideoSession {
  unsigned pid = 0;
  bool capture = false;  // else it encodes
  unsigned codec = 0;    // encoder: the driver's number; 0 = H.264
  unsigned width = 1920;
  unsigned height = 1080;
  unsigned frames = 60;  // a second
  unsigned latency_us = 900;
  std::vector<unsigned> gpus;
  double from = -kForever;
  double until = kForever;
};

struct InstanceSpec {
  const MigProfile* profile = nullptr;
  unsigned slot = 0;  // index in the parent's list; unused slots are holes
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  unsigned placement_start = 0;
  std::string uuid;
  double from = -kForever;
  double until = kForever;
};

struct GpuSpec {
  BoardPtr board;
  std::string name;  // the board's unless the scenario says otherwise
  std::string uuid;
  std::string serial;
  unsigned minor = 0;
  unsigned pci_domain = 0;
  unsigned pci_bus = 0;
  unsigned pci_device = 0;
  unsigned numa_node = 0;
  std::size_t workload = 0;  // position in Scenario::workloads
  double offset_seconds = 0;
  double power_limit_watts = 0;
  bool persistence = true;
  bool display_active = false;
  bool mig = false;
  unsigned max_instances = 7;
  unsigned replay_counter = 0;
  std::string runtime_status = "active";
  unsigned compute_mode = 0;  // the driver's number
  bool accounting = false;
  std::string chassis_serial;  // empty = not in a rack that has one
  // Figures that stand still, by name (see kReadings): what a capture of a real machine said.
  std::map<std::string, double, std::less<>> readings;
  std::vector<InstanceSpec> instances;
};

enum class FaultKind {
  kGpuLost,
  kBlock,
  kReturn,
  kValue,
  kDriverReload,
  kInitFails,
  kInsufficientSize,
  kNameBytes,
  kIndexOrder,
  kProcessGone,
  kLatency,
  kXid,
  kProcessMemoryUnavailable,
  // Conditions of the hardware: what the figures of the model follow from.
  kEccErrors,
  kRetiredPages,
  kRemappedRows,
  kNvlinkErrors,
  kNvlinkDown,
  kPcieErrors,
  kPcieLink,
  kThrottle,
  kOverheat,
  kFanStopped,
  kPowerSource,
  kRecoveryAction,
  kFabric,
  kBadSamples,
};

struct Fault {
  FaultKind kind = FaultKind::kReturn;
  double at = -kForever;           // active from ...
  double until = kForever;         // ... to before
  bool until_is_duration = false;  // `until` counts from when the fault was read
  std::vector<unsigned> gpus;      // positions; empty = all
  std::string function = "*";      // a name with * and ? allowed
  unsigned code = 0;
  std::uint64_t every = 1;  // strikes once in so many matching calls
  std::uint64_t times = 0;  // init_fails: this many, 0 = all while active
  std::string field;        // value, return: which member, or the id of a field or metric
  std::int64_t value = 0;
  double seconds = 0;        // block: at most this long, infinity = while active; latency: always
  bool after_reinit = true;  // gpu_lost: back only for sessions begun afterwards
  std::string bytes;         // name_bytes
  bool name_of_process = false;
  unsigned pid = 0;  // 0 = all
  // Conditions; conditions.h says what each kind makes of them.
  unsigned what = 0;
  unsigned part = kAllParts;        // a link or a fan; xid: a GPU instance
  unsigned inner_part = kAllParts;  // xid: a compute instance
  double amount = 0;                // at once at `at` ...
  double per_second = 0;  // ... and growing while active; latency: of each file that may be open
  double clocks = 1;      // share of the clock that is left
  bool pending = false;
  bool failed = false;
  std::string id;  // tells two equal one-off faults of a control file apart
};

struct HostSpec {
  unsigned cpus = 16;
  unsigned memory_gib = 64;
  std::string hostname = "sim";
  double load = 0.2;  // mean share of the CPUs in use
};

struct Scenario {
  std::string name;
  std::string title;
  std::string driver = "580.105.08";
  int cuda = 13000;
  std::uint64_t seed = 1;
  double uptime_seconds = 86400;
  bool serialize_calls = false;
  std::vector<std::string> missing_symbols;
  std::optional<double> frozen_at;
  std::optional<double> start_unix;
  HostSpec host;
  std::vector<Workload> workloads;
  std::vector<GpuSpec> gpus;
  std::vector<ProcessSpec> processes;
  std::vector<VideoSession> sessions;
  std::vector<Fault> faults;
  BoardPtr board;  // of the machine, for GPUs that name none; null = none
  std::map<std::string, BoardPtr, std::less<>> own_boards;  // of this scenario alone
  bool confidential_computing = false;
};

// What may change while the program runs.
struct Control {
  std::vector<Fault> faults;
  std::optional<double> frozen_at;
  double offset_seconds = 0;
  bool dump_counts = false;
};

template <class T>
struct Parsed {
  std::optional<T> value;
  std::string error;  // "file:line: key: what is wrong", set when value is not
};

// `source` is what messages call the text: a path or "built-in NAME".
Parsed<Scenario> parse_scenario(std::string_view text, const std::string& source);
Parsed<Control> parse_control(std::string_view text, const std::string& source, std::size_t gpus);

// A path to a file, the name of a built-in scenario, or BOARD+SHAPE ("l40s+inference"); each may
// end in @AGE ("rtx-3090+idle@535.43"), which is the driver to play it with. Empty = h100-training.
Parsed<Scenario> load_scenario(const std::string& path_or_name);

std::string builtin_names();  // "a, b, c"

// The driver version and CUDA number of an age such as "470" or "535.104".
struct Age {
  std::string driver;
  int cuda = 0;
};
std::optional<Age> find_age(std::string_view name);
std::vector<std::string> age_names();

// A driver version as one comparable number, 0 when it is none.
std::uint64_t version_key(std::string_view version);

// Reads a whole file of at most 1 MiB; nothing when it cannot be read or is longer.
std::optional<std::string> read_whole_file(const std::string& path);

}  // namespace gpusight::sim
