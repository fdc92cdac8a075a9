#include "tree.h"

#include <cmath>
#include <cstdio>

#include "tree_writer.h"

namespace gpusight::sim {
namespace {

constexpr const char* kMark = ".gpusight-sim-tree";

std::string hex(unsigned value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x", digits, value);
  return text;
}

std::string address(const GpuSpec& gpu) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", gpu.pci_domain, gpu.pci_bus, gpu.pci_device);
  return text;
}

std::string link_speed(unsigned generation) {
  constexpr const char* kSpeeds[] = {"Unknown",       "2.5 GT/s PCIe",  "5.0 GT/s PCIe",
                                     "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe",
                                     "64.0 GT/s PCIe"};
  return kSpeeds[generation <= 6 ? generation : 0];
}

void write_power(const GpuSpec& gpu, double at, const std::string& folder, TreeWriter& out) {
  const bool asleep = gpu.runtime_status == "suspended";
  // Boards that drive a display may sleep; servers' stay on.
  constexpr unsigned kDisplayController = 0x030000;
  const bool may_sleep = gpu.board->pci_class == kDisplayController || asleep;
  const auto milliseconds = static_cast<long long>(std::max(0.0, at) * 1000);
  out.line(folder + "power/runtime_status", gpu.runtime_status);
  out.line(folder + "power/control", may_sleep ? "auto" : "on");
  out.line(folder + "power/autosuspend_delay_ms", may_sleep ? "5000" : "-1");
  out.line(folder + "power/runtime_active_time", std::to_string(asleep ? 9000 : milliseconds));
  out.line(folder + "power/runtime_suspended_time", std::to_string(asleep ? milliseconds : 0));
  out.line(folder + "power/runtime_usage", asleep ? "0" : "1");
  out.line(folder + "power_state", asleep ? "D3cold" : "D0");
  out.line(folder + "d3cold_allowed", "1");
}

void write_gpu(const GpuModel& model, double at, TreeWriter& out) {
  const GpuSpec& gpu = model.spec();
  const Board& board = model.board();
  const std::string bdf = address(gpu);
  const std::string folder = "sys/bus/pci/devices/" + bdf + "/";
  out.line(folder + "vendor", hex(board.pci_device_id & 0xFFFF, 4));
  out.line(folder + "device", hex(board.pci_device_id >> 16, 4));
  out.line(folder + "subsystem_vendor", hex(board.pci_subsystem_id & 0xFFFF, 4));
  out.line(folder + "subsystem_device", hex(board.pci_subsystem_id >> 16, 4));
  out.line(folder + "class", hex(board.pci_class, 6));
  out.line(folder + "numa_node", std::to_string(gpu.numa_node));
  out.line(folder + "boot_vga", gpu.display_active ? "1" : "0");
  out.line(folder + "enable", "1");
  out.line(folder + "current_link_speed", link_speed(model.pcie_generation(at)));
  out.line(folder + "max_link_speed", link_speed(board.pcie_generation));
  out.line(folder + "current_link_width", std::to_string(model.pcie_width(at)));
  out.line(folder + "max_link_width", std::to_string(board.pcie_width));
  write_power(gpu, at, folder, out);
  out.link(folder + "driver", "../../drivers/nvidia");
  out.link("sys/bus/pci/drivers/nvidia/" + bdf, "../../devices/" + bdf);
  out.put("proc/driver/nvidia/gpus/" + bdf + "/information",
          "Model: \t\t " + gpu.name + "\nIRQ:   \t\t " + std::to_string(first_irq() + gpu.minor) +
              "\nGPU UUID: \t " + gpu.uuid + "\nVideo BIOS: \t " + board.vbios +
              "\nBus Type: \t PCIe\nBus Location: \t " + bdf + "\nDevice Minor: \t " +
              std::to_string(gpu.minor) + "\n");
  out.put("dev/nvidia" + std::to_string(gpu.minor), "");
}

void write_driver(const Scenario& scenario, TreeWriter& out) {
  out.put("proc/driver/nvidia/version",
          "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + scenario.driver +
              "  Sat Jan  1 00:00:00 UTC 2000\nGCC version:  gcc version 12.2.0 (Debian 12.2.0)\n");
  out.line("sys/module/nvidia/version", scenario.driver);
  out.put("dev/nvidiactl", "");
}

// Empty when the directory may be written to.
std::string check_root(const std::filesystem::path& root) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(root, error);
  if (error || whole == whole.root_path()) return root.string() + ": is no place for a tree";
  if (!std::filesystem::exists(whole)) return "";
  if (!std::filesystem::is_directory(whole, error)) return root.string() + ": is no directory";
  const bool empty = std::filesystem::is_empty(whole, error);
  if (error) return root.string() + ": " + error.message();
  if (empty || std::filesystem::exists(whole / kMark)) return "";
  return root.string() + ": holds files that are not a simulated machine's";
}

}  // namespace

std::string write_tree(const Scenario& scenario, const std::filesystem::path& root, double at) {
  if (std::string problem = check_root(root); !problem.empty()) return problem;
  TreeWriter out(root);
  out.line(kMark, scenario.name);
  write_driver(scenario, out);
  for (std::size_t gpu = 0; gpu < scenario.gpus.size(); ++gpu) {
    write_gpu(GpuModel(scenario, gpu), at, out);
  }
  write_host(scenario, at, out);
  write_processes(scenario, at, out);
  write_kernel_log(scenario, at, out);
  return out.error();
}

}  // namespace gpusight::sim
