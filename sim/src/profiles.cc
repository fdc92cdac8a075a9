#include "profiles.h"

#include <array>

namespace gpusight::sim {
namespace {

constexpr Board kH100 = {.id = "h100-sxm-80gb",
                         .name = "NVIDIA H100 80GB HBM3",
                         .brand = 14,
                         .architecture = 9,
                         .cuda_major = 9,
                         .cuda_minor = 0,
                         .pci_device_id = 0x233010DE,
                         .pci_subsystem_id = 0x16C110DE,
                         .pci_class = 0x030200,
                         .memory_mib = 81559,
                         .reserved_mib = 480,
                         .bar1_mib = 131072,
                         .bus_width_bits = 5120,
                         .cores = 16896,
                         .idle_watts = 69,
                         .peak_watts = 668,
                         .min_limit_watts = 200,
                         .default_limit_watts = 700,
                         .max_limit_watts = 700,
                         .average_power = true,
                         .memory_watts = 96,
                         .idle_celsius = 29,
                         .peak_celsius = 66,
                         .memory_temperature = true,
                         .temperature_limits = true,
                         .shutdown_celsius = 95,
                         .slowdown_celsius = 89,
                         .memory_max_celsius = 95,
                         .gpu_max_celsius = 87,
                         .fans = 0,
                         .fan_max_rpm = 0,
                         .idle_graphics_mhz = 345,
                         .max_graphics_mhz = 1980,
                         .idle_memory_mhz = 2619,
                         .max_memory_mhz = 2619,
                         .idle_video_mhz = 765,
                         .max_video_mhz = 1545,
                         .idle_pstate = 0,
                         .busy_pstate = 0,
                         .pcie_generation = 5,
                         .pcie_idle_generation = 5,
                         .pcie_width = 16,
                         .nvlinks = 18,
                         .nvlink_version = 6,
                         .nvlink_mbps = 26562,
                         .ecc = Ecc::kEnabled,
                         .row_remapping = true,
                         .mig_capable = true,
                         .has_serial = true,
                         .has_fabric = true,
                         .has_display = false,
                         .has_gsp = true,
                         .board_part = "692-2G520-0200-000",
                         .vbios = "96.00.99.00.01",
                         .inforom_image = "G520.0200.00.05",
                         .inforom_ecc = "7.16"};

constexpr Board kRtx4090 = {.id = "rtx-4090",
                            .name = "NVIDIA GeForce RTX 4090",
                            .brand = 5,
                            .architecture = 8,
                            .cuda_major = 8,
                            .cuda_minor = 9,
                            .pci_device_id = 0x268410DE,
                            .pci_subsystem_id = 0x167C10DE,
                            .pci_class = 0x030000,
                            .memory_mib = 24564,
                            .reserved_mib = 346,
                            .bar1_mib = 32768,
                            .bus_width_bits = 384,
                            .cores = 16384,
                            .idle_watts = 21,
                            .peak_watts = 428,
                            .min_limit_watts = 10,
                            .default_limit_watts = 450,
                            .max_limit_watts = 600,
                            .average_power = true,
                            .memory_watts = 0,
                            .idle_celsius = 38,
                            .peak_celsius = 67,
                            .memory_temperature = false,
                            .temperature_limits = true,
                            .shutdown_celsius = 88,
                            .slowdown_celsius = 85,
                            .memory_max_celsius = 0,
                            .gpu_max_celsius = 83,
                            .fans = 2,
                            .fan_max_rpm = 3000,
                            .idle_graphics_mhz = 210,
                            .max_graphics_mhz = 3120,
                            .idle_memory_mhz = 405,
                            .max_memory_mhz = 10501,
                            .idle_video_mhz = 1185,
                            .max_video_mhz = 2145,
                            .idle_pstate = 8,
                            .busy_pstate = 2,
                            .pcie_generation = 4,
                            .pcie_idle_generation = 1,
                            .pcie_width = 16,
                            .nvlinks = 0,
                            .nvlink_version = 0,
                            .nvlink_mbps = 0,
                            .ecc = Ecc::kNone,
                            .row_remapping = false,
                            .mig_capable = false,
                            .has_serial = false,
                            .has_fabric = false,
                            .has_display = true,
                            .has_gsp = true,
                            .board_part = "",
                            .vbios = "95.02.99.00.01",
                            .inforom_image = "G002.0000.00.03",
                            .inforom_ecc = ""};

constexpr Board kA100 = {.id = "a100-sxm-40gb",
                         .name = "NVIDIA A100-SXM4-40GB",
                         .brand = 14,
                         .architecture = 7,
                         .cuda_major = 8,
                         .cuda_minor = 0,
                         .pci_device_id = 0x20B010DE,
                         .pci_subsystem_id = 0x134F10DE,
                         .pci_class = 0x030200,
                         .memory_mib = 40960,
                         .reserved_mib = 605,
                         .bar1_mib = 65536,
                         .bus_width_bits = 5120,
                         .cores = 6912,
                         .idle_watts = 50,
                         .peak_watts = 386,
                         .min_limit_watts = 100,
                         .default_limit_watts = 400,
                         .max_limit_watts = 400,
                         .average_power = false,
                         .memory_watts = 0,
                         .idle_celsius = 33,
                         .peak_celsius = 64,
                         .memory_temperature = true,
                         .temperature_limits = false,
                         .shutdown_celsius = 92,
                         .slowdown_celsius = 89,
                         .memory_max_celsius = 95,
                         .gpu_max_celsius = 85,
                         .fans = 0,
                         .fan_max_rpm = 0,
                         .idle_graphics_mhz = 210,
                         .max_graphics_mhz = 1410,
                         .idle_memory_mhz = 1215,
                         .max_memory_mhz = 1215,
                         .idle_video_mhz = 585,
                         .max_video_mhz = 1290,
                         .idle_pstate = 0,
                         .busy_pstate = 0,
                         .pcie_generation = 4,
                         .pcie_idle_generation = 4,
                         .pcie_width = 16,
                         .nvlinks = 12,
                         .nvlink_version = 4,
                         .nvlink_mbps = 25000,
                         .ecc = Ecc::kEnabled,
                         .row_remapping = true,
                         .mig_capable = true,
                         .has_serial = true,
                         .has_fabric = false,
                         .has_display = false,
                         .has_gsp = true,
                         .board_part = "692-2G506-0200-003",
                         .vbios = "92.00.99.00.01",
                         .inforom_image = "G506.0200.00.04",
                         .inforom_ecc = "6.16"};

constexpr std::array<MigProfile, 5> kA100Profiles = {{
    {"1g.5gb", 19, 1, 1, 14, 4864, 1, 0, 0, 0},
    {"2g.10gb", 14, 2, 2, 28, 9856, 2, 1, 0, 0},
    {"3g.20gb", 9, 3, 4, 42, 19968, 3, 2, 0, 0},
    {"4g.20gb", 5, 4, 4, 56, 19968, 4, 2, 0, 0},
    {"7g.40gb", 0, 7, 8, 98, 40192, 7, 5, 1, 1},
}};

constexpr std::array<MigProfile, 5> kH100Profiles = {{
    {"1g.10gb", 19, 1, 1, 16, 9984, 1, 1, 1, 0},
    {"2g.20gb", 14, 2, 2, 32, 20096, 2, 2, 2, 0},
    {"3g.40gb", 9, 3, 4, 60, 40320, 3, 3, 3, 0},
    {"4g.40gb", 5, 4, 4, 64, 40320, 4, 4, 4, 0},
    {"7g.80gb", 0, 7, 8, 132, 80640, 8, 7, 7, 1},
}};

}  // namespace

const std::vector<Board>& boards() {
  static const std::vector<Board> all = {kH100, kRtx4090, kA100};
  return all;
}

const Board* find_board(std::string_view id) {
  for (const Board& board : boards()) {
    if (id == board.id) return &board;
  }
  return nullptr;
}

const MigProfile* find_mig_profile(const Board& board, std::string_view name) {
  if (!board.mig_capable) return nullptr;
  const auto& profiles = board.architecture == 9 ? kH100Profiles : kA100Profiles;
  for (const MigProfile& profile : profiles) {
    if (name == profile.name) return &profile;
  }
  return nullptr;
}

}  // namespace gpusight::sim
