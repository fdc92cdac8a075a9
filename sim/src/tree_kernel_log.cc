// The driver's lines in the kernel's log: Xid errors, and GPUs that have fallen off the bus.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "conditions.h"
#include "tree_writer.h"

namespace gpusight::sim {
namespace {

// What the driver writes behind the number, in short.
struct XidText {
  unsigned code;
  const char* text;
};

constexpr XidText kTexts[] = {
    {13, "Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Out Of Range Address"},
    {31, "Ch 00000008, intr 10000000. MMU Fault: ENGINE GRAPHICS"},
    {43, "Ch 00000010"},
    {45, "Ch 00000008"},
    {48, "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer"},
    {62, "2c0a(32c0) 00000000 00000000"},
    {63, "Row Remapper: New row marked for remapping, reset gpu to activate"},
    {64, "Row Remapper: Error while writing to the inforom"},
    {74, "NVLink: fatal error detected on link 7"},
    {79, "GPU has fallen off the bus"},
    {94, "Contained: SM (0x1). RST: No, D-RST: No"},
    {95, "Uncontained: FBHUB (0x1). RST: Yes, D-RST: No"},
    {119, "Timeout after 6s of waiting for RPC response from GPU0 GSP!"},
    {120, "GSP task exception"},
};

struct Line {
  double at;
  std::string text;
};

std::string xid_line(const GpuSpec& gpu, const Fault& fault) {
  const auto* found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                   [&](const XidText& one) { return one.code == fault.code; });
  const std::string pid = fault.pid == 0 ? "'<unknown>'" : std::to_string(fault.pid);
  const char* name = fault.pid == 0 ? "<unknown>" : "python3";
  char head[128];
  std::snprintf(head, sizeof head, "NVRM: Xid (PCI:%04x:%02x:%02x): %u, pid=%s, name=%s, ",
                gpu.pci_domain, gpu.pci_bus, gpu.pci_device, fault.code, pid.c_str(), name);
  return std::string(head) + (found == std::end(kTexts) ? "" : found->text);
}

// Three lines without a number: how newer drivers tell that a GPU is gone.
void add_lost_lines(const GpuSpec& gpu, double at, std::vector<Line>& lines) {
  char place[64];
  std::snprintf(place, sizeof place, "NVRM: The NVIDIA GPU %04x:%02x:%02x.0", gpu.pci_domain,
                gpu.pci_bus, gpu.pci_device);
  char id[64];
  std::snprintf(id, sizeof id, "NVRM: (PCI ID: %04x:%04x) installed in this system has",
                gpu.board->pci_device_id & 0xFFFF, gpu.board->pci_device_id >> 16);
  lines.push_back({at, place});
  lines.push_back({at, id});
  lines.push_back({at, "NVRM: fallen off the bus and is not responding to commands."});
}

}  // namespace

void write_kernel_log(const Scenario& scenario, double at, TreeWriter& out) {
  std::vector<Line> lines = {
      {-scenario.uptime_seconds,
       "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  " + scenario.driver}};
  for (const Fault& fault : scenario.faults) {
    const double when = std::isinf(fault.at) ? 0 : fault.at;
    const bool logged = fault.what != static_cast<unsigned>(XidWhere::kEvent);
    for (std::size_t gpu = 0; gpu < scenario.gpus.size() && when <= at; ++gpu) {
      const bool here = fault.gpus.empty() || std::count(fault.gpus.begin(), fault.gpus.end(), gpu);
      if (!here) continue;
      if (fault.kind == FaultKind::kXid && logged) {
        lines.push_back({when, xid_line(scenario.gpus[gpu], fault)});
      }
      if (fault.kind == FaultKind::kGpuLost) add_lost_lines(scenario.gpus[gpu], when, lines);
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.at < b.at; });
  std::string text;
  unsigned sequence = 1000;
  for (const Line& line : lines) {
    const auto us = std::llround(std::max(0.0, line.at + scenario.uptime_seconds) * 1e6);
    text += "4," + std::to_string(sequence++) + "," + std::to_string(us) + ",-;" + line.text + "\n";
  }
  out.grow("dev/kmsg", text);
}

}  // namespace gpusight::sim
