#include "profiles.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "embedded.h"
#include "toml_reader.h"

namespace gpusight::sim {
namespace {

// The driver's numbers for the words of a board file.
const std::vector<std::string> kBrands = {
    "unknown", "quadro", "tesla", "nvs",   "grid",       "geforce",    "titan", "vapps",
    "vpc",     "vcs",    "vws",   "cloud", "quadro-rtx", "nvidia-rtx", "nvidia"};
const std::vector<std::string> kArchitectures = {"",       "",       "kepler",   "maxwell",
                                                 "pascal", "volta",  "turing",   "ampere",
                                                 "ada",    "hopper", "blackwell"};
const std::vector<std::string> kEccWords = {"none", "disabled", "enabled"};
const std::vector<std::string> kC2cWords = {"none", "off", "on"};
const std::vector<std::string> kAddressingWords = {"none", "hmm", "ats"};

constexpr unsigned kVendor = 0x10DE;

unsigned number(TomlReader& table, const char* key, unsigned fallback, std::int64_t most) {
  return static_cast<unsigned>(table.integer(key, fallback, 0, most));
}

void read_identity(TomlReader& table, Board& b) {
  b.name = table.text("name", b.name);
  b.brand = static_cast<unsigned>(table.choice("brand", b.brand, kBrands));
  b.architecture =
      static_cast<unsigned>(table.choice("architecture", b.architecture, kArchitectures));
  if (table.has("cuda_capability")) {
    const std::string text = table.text("cuda_capability", "");
    if (std::sscanf(text.c_str(), "%d.%d", &b.cuda_major, &b.cuda_minor) != 2) {
      table.wrong("cuda_capability", "a version such as \"9.0\" is wanted");
    }
  }
  b.pci_device_id = number(table, "pci_device_id", b.pci_device_id >> 16, 0xFFFF) << 16 | kVendor;
  b.pci_subsystem_id = number(table, "pci_subsystem_id", b.pci_subsystem_id, 0xFFFFFFFF);
  b.pci_class = number(table, "pci_class", b.pci_class, 0xFFFFFF);
  b.pci_domain = static_cast<int>(table.integer("pci_domain", b.pci_domain, -1, 0xFFFF));
  b.pci_bus = static_cast<int>(table.integer("pci_bus", b.pci_bus, -1, 255));
  b.board_part = table.text("board_part", b.board_part);
  b.vbios = table.text("vbios", b.vbios);
  b.inforom_image = table.text("inforom_image", b.inforom_image);
  b.inforom_ecc = table.text("inforom_ecc", b.inforom_ecc);
  b.inforom_oem = table.text("inforom_oem", b.inforom_oem);
  b.has_serial = table.boolean("serial", b.has_serial);
  b.module_ids = table.boolean("module_ids", b.module_ids);
  b.black_box = table.boolean("black_box", b.black_box);
}

void read_memory(TomlReader& table, Board& b) {
  b.unified_memory = table.boolean("unified_memory", b.unified_memory);
  b.memory_mib = number(table, "memory_mib", b.memory_mib, 1 << 24);
  b.reserved_mib = number(table, "reserved_mib", b.reserved_mib, 1 << 20);
  b.bar1_mib = number(table, "bar1_mib", b.bar1_mib, 1 << 24);
  b.bus_width_bits = number(table, "bus_width_bits", b.bus_width_bits, 1 << 16);
  b.ecc = static_cast<Ecc>(table.choice("ecc", static_cast<std::size_t>(b.ecc), kEccWords));
  b.retired_pages = table.boolean("retired_pages", b.retired_pages);
  b.remap_banks = number(table, "remap_banks", b.remap_banks, 1 << 16);
  if (b.memory_mib <= b.reserved_mib) {
    table.wrong("reserved_mib", "must be less than memory_mib");
  }
}

void read_power(TomlReader& table, Board& b) {
  constexpr double kMost = 1e5;
  b.idle_watts = table.number("idle_watts", b.idle_watts, 0, kMost);
  b.peak_watts = table.number("peak_watts", b.peak_watts, 0, kMost);
  b.min_limit_watts = table.number("min_limit_watts", b.min_limit_watts, 0, kMost);
  b.default_limit_watts = table.number("default_limit_watts", b.default_limit_watts, 0, kMost);
  b.max_limit_watts = table.number("max_limit_watts", b.max_limit_watts, 0, kMost);
  b.power_reading = table.boolean("power_reading", b.power_reading);
  b.average_power = table.boolean("average_power", b.average_power);
  b.memory_watts = table.number("memory_watts", b.memory_watts, 0, kMost);
  b.has_battery = table.boolean("battery", b.has_battery);
  b.persistence = table.boolean("persistence", b.persistence);
  b.power_smoothing = table.boolean("power_smoothing", b.power_smoothing);
}

void read_temperature(TomlReader& table, Board& b) {
  const auto celsius = [&](const char* key, int fallback) {
    return static_cast<int>(table.integer(key, fallback, 0, 200));
  };
  b.idle_celsius = table.number("idle_celsius", b.idle_celsius, 0, 200);
  b.peak_celsius = table.number("peak_celsius", b.peak_celsius, 0, 200);
  b.memory_temperature = table.boolean("memory_temperature", b.memory_temperature);
  b.temperature_limits = table.boolean("temperature_limits", b.temperature_limits);
  b.shutdown_celsius = celsius("shutdown_celsius", b.shutdown_celsius);
  b.slowdown_celsius = celsius("slowdown_celsius", b.slowdown_celsius);
  b.memory_max_celsius = celsius("memory_max_celsius", b.memory_max_celsius);
  b.gpu_max_celsius = celsius("gpu_max_celsius", b.gpu_max_celsius);
  b.acoustic_celsius = celsius("acoustic_celsius", b.acoustic_celsius);
  b.fans = number(table, "fans", b.fans, 8);
  b.fan_max_rpm = number(table, "fan_max_rpm", b.fan_max_rpm, 100000);
}

void read_clocks(TomlReader& table, Board& b) {
  const auto mhz = [&](const char* key, unsigned& value) {
    value = number(table, key, value, 100000);
  };
  mhz("idle_graphics_mhz", b.idle_graphics_mhz);
  mhz("max_graphics_mhz", b.max_graphics_mhz);
  mhz("idle_memory_mhz", b.idle_memory_mhz);
  mhz("max_memory_mhz", b.max_memory_mhz);
  mhz("idle_video_mhz", b.idle_video_mhz);
  mhz("max_video_mhz", b.max_video_mhz);
  mhz("application_graphics_mhz", b.application_graphics_mhz);
  b.idle_pstate = number(table, "idle_pstate", b.idle_pstate, 15);
  b.busy_pstate = number(table, "busy_pstate", b.busy_pstate, 15);
  b.cores = number(table, "cores", b.cores, 1 << 20);
  b.encoders = number(table, "encoders", b.encoders, 64);
  b.decoders = number(table, "decoders", b.decoders, 8);
  b.jpeg_engines = number(table, "jpeg_engines", b.jpeg_engines, 8);
  b.ofa_engines = number(table, "ofa_engines", b.ofa_engines, 2);
}

void read_links(TomlReader& table, Board& b) {
  b.pcie_generation = number(table, "pcie_generation", b.pcie_generation, 6);
  b.pcie_idle_generation =
      number(table, "pcie_idle_generation",
             b.pcie_idle_generation == 0 ? b.pcie_generation : b.pcie_idle_generation, 6);
  b.pcie_width = number(table, "pcie_width", b.pcie_width, 32);
  b.nvlinks = number(table, "nvlinks", b.nvlinks, 36);
  b.nvlink_version = number(table, "nvlink_version", b.nvlink_version, 8);
  b.nvlink_mbps = number(table, "nvlink_mbps", b.nvlink_mbps, 1000000);
  b.nvlink_bridge = table.boolean("nvlink_bridge", b.nvlink_bridge);
  b.nvlink_packets = table.boolean("nvlink_packets", b.nvlink_packets);
  b.nvswitch = table.boolean("nvswitch", b.nvswitch);
  b.has_fabric = table.boolean("fabric", b.has_fabric);
  b.c2c = static_cast<C2c>(table.choice("c2c", static_cast<std::size_t>(b.c2c), kC2cWords));
  b.has_display = table.boolean("display", b.has_display);
  b.has_gsp = table.boolean("gsp", b.has_gsp);
  b.confidential_computing = table.boolean("confidential_computing", b.confidential_computing);
  b.addressing_mode =
      static_cast<unsigned>(table.choice("addressing_mode", b.addressing_mode, kAddressingWords));
  b.machine_gpus = number(table, "machine_gpus", b.machine_gpus, 64);
  b.machine_cpus = number(table, "machine_cpus", b.machine_cpus, 1024);
  b.machine_memory_gib = number(table, "machine_memory_gib", b.machine_memory_gib, 65536);
}

void read_mig_profiles(TomlReader& table, Board& b) {
  std::vector<MigProfile> profiles;
  table.tables("mig_profiles", [&](TomlReader& row) {
    MigProfile profile;
    profile.name = row.text("name", "");
    if (profile.name.empty()) row.wrong("name", "is missing");
    const auto read = [&](const char* key, unsigned& value) {
      value = number(row, key, 0, 1 << 20);
    };
    read("id", profile.profile_id);
    read("kind", profile.kind);
    const auto part = [&](const char* key, std::int64_t most) {
      return static_cast<unsigned>(row.integer(key, 1, 1, most));
    };
    profile.slices = part("slices", 7);
    profile.memory_slices = part("memory_slices", 8);
    profile.most = part("most", 7);
    read("multiprocessors", profile.multiprocessors);
    read("memory_mib", profile.memory_mib);
    read("copy_engines", profile.copy_engines);
    read("decoders", profile.decoders);
    read("jpegs", profile.jpegs);
    read("ofas", profile.ofas);
    profiles.push_back(std::move(profile));
  });
  if (!profiles.empty()) b.mig_profiles = std::move(profiles);
}

BoardPtr parse_builtin(const EmbeddedText& text) {
  TomlErrors errors("built-in board " + std::string(text.name));
  const std::optional<toml::table> document = errors.parse(text.text);
  Board board;
  if (document) {
    TomlReader reader(*document, "", errors);
    const std::string like = reader.text("like", "");
    Board base;
    for (const EmbeddedText& other : embedded_boards()) {
      if (!like.empty() && like == other.name) base = *parse_builtin(other);
    }
    board = read_board(reader, std::string(text.name), std::move(base));
    if (!errors.failed()) reader.finish();
  }
  if (errors.failed()) {
    // A board that was built in and cannot be read is a mistake of ours.
    std::fprintf(stderr, "BUG: gpusight-sim: %s\n", errors.message().c_str());
    std::abort();
  }
  return std::make_shared<const Board>(std::move(board));
}

}  // namespace

Board read_board(TomlReader& table, const std::string& id, Board base) {
  base.id = id;
  if (base.pci_class == 0) base.pci_class = 0x030200;
  if (base.pcie_width == 0) base.pcie_width = 16;
  if (base.inforom_oem.empty()) base.inforom_oem = "2.0";
  read_identity(table, base);
  read_memory(table, base);
  read_power(table, base);
  read_temperature(table, base);
  read_clocks(table, base);
  read_links(table, base);
  read_mig_profiles(table, base);
  return base;
}

const std::vector<BoardPtr>& boards() {
  static const std::vector<BoardPtr> all = [] {
    std::vector<BoardPtr> result;
    for (const EmbeddedText& text : embedded_boards()) result.push_back(parse_builtin(text));
    return result;
  }();
  return all;
}

BoardPtr find_board(std::string_view id) {
  for (const BoardPtr& board : boards()) {
    if (id == board->id) return board;
  }
  return nullptr;
}

const MigProfile* find_mig_profile(const Board& board, std::string_view name) {
  for (const MigProfile& profile : board.mig_profiles) {
    if (name == profile.name) return &profile;
  }
  return nullptr;
}

}  // namespace gpusight::sim
