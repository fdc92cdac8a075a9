// Board classes: what a GPU model is, can do and typically reads.
//
// Figures are those real boards of the class report (see the support matrix in the project's fact
// tables); identities (serial, UUID) are made up per scenario and never a real machine's.
// Plain constants, safe from any thread.
#pragma once

#include <string_view>
#include <vector>

namespace gpusight::sim {

enum class Ecc { kNone, kDisabled, kEnabled };

struct Board {
  const char* id;    // the word in a scenario
  const char* name;  // what the driver calls it
  unsigned brand;
  unsigned architecture;
  int cuda_major;
  int cuda_minor;
  unsigned pci_device_id;  // device << 16 | vendor
  unsigned pci_subsystem_id;
  unsigned pci_class;  // as in sysfs: class << 16 | subclass << 8 | interface
  unsigned memory_mib;
  unsigned reserved_mib;
  unsigned bar1_mib;
  unsigned bus_width_bits;
  unsigned cores;

  double idle_watts;
  double peak_watts;
  double min_limit_watts;
  double default_limit_watts;
  double max_limit_watts;
  bool average_power;   // field 185 and a one second average behind the plain call
  double memory_watts;  // share of the peak that field 185 reports for the memory; 0 = not there
  double idle_celsius;
  double peak_celsius;
  bool memory_temperature;  // HBM parts only
  bool temperature_limits;  // distances to the limits (T.Limit) instead of absolute thresholds
  int shutdown_celsius;     // absolute, or where the distances count from
  int slowdown_celsius;
  int memory_max_celsius;
  int gpu_max_celsius;

  unsigned fans;
  unsigned fan_max_rpm;
  unsigned idle_graphics_mhz;
  unsigned max_graphics_mhz;
  unsigned idle_memory_mhz;
  unsigned max_memory_mhz;
  unsigned idle_video_mhz;
  unsigned max_video_mhz;
  unsigned idle_pstate;
  unsigned busy_pstate;

  unsigned pcie_generation;
  unsigned pcie_idle_generation;
  unsigned pcie_width;
  unsigned nvlinks;
  unsigned nvlink_version;  // the driver's enumeration: 4 = 3.0, 6 = 4.0
  unsigned nvlink_mbps;

  Ecc ecc;
  bool row_remapping;
  bool mig_capable;
  bool has_serial;
  bool has_fabric;
  bool has_display;
  bool has_gsp;
  const char* board_part;  // empty = the class has none
  const char* vbios;
  const char* inforom_image;
  const char* inforom_ecc;  // empty = none
};

const std::vector<Board>& boards();

// The board of that id, or nullptr.
const Board* find_board(std::string_view id);

// A MIG profile of a board class: "3g.20gb".
struct MigProfile {
  const char* name;
  unsigned profile_id;
  unsigned slices;         // compute slices
  unsigned memory_slices;  // of eight
  unsigned multiprocessors;
  unsigned memory_mib;
  unsigned copy_engines;
  unsigned decoders;
  unsigned jpegs;
  unsigned ofas;
};

const MigProfile* find_mig_profile(const Board& board, std::string_view name);

}  // namespace gpusight::sim
