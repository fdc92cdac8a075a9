// Board classes: what a GPU model is, can do and typically reads.
//
// Each is a file of boards/; its figures are those that real boards of the class report. Identities
// (serial, UUID) are made up per scenario and never a real machine's. Plain values, immutable once
// read, safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpusight::sim {

class TomlReader;

enum class Ecc { kNone, kDisabled, kEnabled };
enum class C2c { kNone, kOff, kOn };

// A MIG profile of a board class: "3g.20gb".
struct MigProfile {
  std::string name;
  unsigned profile_id = 0;
  unsigned kind = 0;           // the driver's NVML_GPU_INSTANCE_PROFILE_ number
  unsigned slices = 0;         // compute slices
  unsigned memory_slices = 0;  // of eight
  unsigned most = 0;           // how many fit into one GPU
  unsigned multiprocessors = 0;
  unsigned memory_mib = 0;
  unsigned copy_engines = 0;
  unsigned decoders = 0;
  unsigned jpegs = 0;
  unsigned ofas = 0;
};

struct Board {
  std::string id;    // the word in a scenario
  std::string name;  // what the driver calls it
  unsigned brand = 0;
  unsigned architecture = 0;
  int cuda_major = 0;
  int cuda_minor = 0;
  unsigned pci_device_id = 0;  // device << 16 | vendor
  unsigned pci_subsystem_id = 0;
  unsigned pci_class = 0;  // as in sysfs: class << 16 | subclass << 8 | interface
  int pci_domain = -1;     // where it always is; -1 = in the usual slots
  int pci_bus = -1;
  bool unified_memory = false;  // memory of the host: the driver has no figures for it
  unsigned memory_mib = 0;
  unsigned reserved_mib = 0;
  unsigned bar1_mib = 0;
  unsigned bus_width_bits = 0;
  unsigned cores = 0;

  double idle_watts = 0;
  double peak_watts = 0;
  double min_limit_watts = 0;
  double default_limit_watts = 0;  // 0 = no limit that the driver knows
  double max_limit_watts = 0;
  bool power_reading = true;   // tells what it draws
  bool average_power = false;  // field 185 and a one second average behind the plain call
  double memory_watts = 0;     // share of the peak that field 185 reports for the memory; 0 = none
  double idle_celsius = 0;
  double peak_celsius = 0;
  bool memory_temperature = false;  // HBM parts only
  bool temperature_limits = false;  // distances to the limits (T.Limit) instead of thresholds
  int shutdown_celsius = 0;         // absolute, or where the distances count from; 0 = none
  int slowdown_celsius = 0;
  int memory_max_celsius = 0;
  int gpu_max_celsius = 0;
  int acoustic_celsius = 0;  // the target that fans hold; 0 = none

  unsigned fans = 0;
  unsigned fan_max_rpm = 0;
  unsigned idle_graphics_mhz = 0;
  unsigned max_graphics_mhz = 0;
  unsigned idle_memory_mhz = 0;
  unsigned max_memory_mhz = 0;  // 0 = no memory clock
  unsigned idle_video_mhz = 0;
  unsigned max_video_mhz = 0;
  unsigned application_graphics_mhz = 0;  // default application clock; 0 = none
  unsigned idle_pstate = 0;
  unsigned busy_pstate = 0;

  unsigned pcie_generation = 0;
  unsigned pcie_idle_generation = 0;
  unsigned pcie_width = 0;
  unsigned nvlinks = 0;
  unsigned nvlink_version = 0;  // the driver's enumeration: 4 = 3.0, 6 = 4.0, 7 = 5.0
  unsigned nvlink_mbps = 0;
  bool nvlink_bridge = false;   // links exist only between two boards with a bridge
  bool nvswitch = false;        // the other end of each link is a switch
  bool nvlink_packets = false;  // counts packets and bytes of a link (fifth generation)

  Ecc ecc = Ecc::kNone;
  bool retired_pages = false;  // before row remapping
  unsigned remap_banks = 0;    // 0 = no row remapping
  bool has_serial = false;
  bool has_fabric = false;
  bool has_display = false;
  bool has_gsp = false;
  bool has_battery = false;  // of the machine that it is built into
  bool persistence = true;   // on unless the scenario says otherwise
  bool confidential_computing = false;
  bool module_ids = false;
  bool power_smoothing = false;  // there, but for root only
  bool black_box = false;        // keeps a log in the InfoROM
  C2c c2c = C2c::kNone;
  unsigned encoders = 0;
  unsigned decoders = 0;
  unsigned jpeg_engines = 0;
  unsigned ofa_engines = 0;
  unsigned addressing_mode = 0;  // 0 none, 1 HMM, 2 ATS
  std::string board_part;        // empty = the class has none
  std::string vbios;
  std::string inforom_image;
  std::string inforom_ecc;  // empty = none
  std::string inforom_oem;
  std::vector<MigProfile> mig_profiles;  // empty = cannot be divided

  // The machine that it usually sits in.
  unsigned machine_gpus = 1;
  unsigned machine_cpus = 16;
  unsigned machine_memory_gib = 64;

  bool mig_capable() const { return !mig_profiles.empty(); }
  bool row_remapping() const { return remap_banks > 0; }
};

using BoardPtr = std::shared_ptr<const Board>;

// All built-in boards, by id.
const std::vector<BoardPtr>& boards();

// The built-in board of that id, or null.
BoardPtr find_board(std::string_view id);

// Reads a board's table; what it does not say is `base`'s.
Board read_board(TomlReader& table, const std::string& id, Board base);

const MigProfile* find_mig_profile(const Board& board, std::string_view name);

}  // namespace gpusight::sim
