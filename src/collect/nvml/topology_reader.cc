#include "collect/nvml/topology_reader.h"

#include <algorithm>
#include <map>

#include "collect/nvml/field_tables.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

using model::Path;
using model::PathKind;
using model::Topology;

constexpr uint32_t kFieldLinkCount = 91;
constexpr uint32_t kFieldSwitchLinkCount = 147;

PathKind path_kind(uint32_t level) {
  switch (level) {
    case 0: return PathKind::kSameBoard;
    case 10: return PathKind::kOneSwitch;
    case 20: return PathKind::kSwitches;
    case 30: return PathKind::kHostBridge;
    case 40: return PathKind::kSameNode;
    case 50: return PathKind::kAcrossNodes;
    default: return PathKind::kUnknown;
  }
}

// The links of one GPU: to switches, and to other devices by their address.
struct Links {
  uint32_t to_switches = 0;
  std::map<std::string, uint32_t> to_devices;
};

uint32_t ask_field(CallMeter& call, const NvmlApi& api, Handle gpu, uint32_t id) {
  FieldValue field{.field_id = id};
  if (call(api.field_values, gpu, 1, &field) != Return::kSuccess) return 0;
  const Reading count = field_reading(field, {.id = id, .metric = catalog::MetricId::kCount});
  return link_count(count);
}

Links read_links(CallMeter& call, const NvmlApi& api, const Gpu& gpu) {
  Links links;
  const uint32_t count = ask_field(call, api, gpu.handle, kFieldLinkCount);
  if (count == 0) return links;
  links.to_switches = std::min(ask_field(call, api, gpu.handle, kFieldSwitchLinkCount), count);
  for (uint32_t link = 0; link < count && links.to_switches < count; ++link) {
    PciInfo remote{};
    if (call(api.remote_pci, gpu.handle, unsigned{link}, &remote) != Return::kSuccess) continue;
    ++links.to_devices[platform::pci_address(remote.domain, remote.bus, remote.device)];
  }
  return links;
}

// Through switches every GPU reaches every other with as many links as the poorer one has.
uint32_t links_between(const Gpu& a, const Links& of_a, const Gpu& b, const Links& of_b) {
  const auto direct = of_a.to_devices.find(b.device.pci);
  if (direct != of_a.to_devices.end()) return direct->second;
  const auto back = of_b.to_devices.find(a.device.pci);
  if (back != of_b.to_devices.end()) return back->second;
  return std::min(of_a.to_switches, of_b.to_switches);
}

PathKind kind_between(const platform::RootFs& root, const std::string& gpu,
                      const std::string& other) {
  switch (platform::pci_distance(root, gpu, other)) {
    case platform::PciDistance::kOneSwitch: return PathKind::kOneSwitch;
    case platform::PciDistance::kSwitches: return PathKind::kSwitches;
    case platform::PciDistance::kHostBridge: return PathKind::kHostBridge;
    case platform::PciDistance::kSameNode: return PathKind::kSameNode;
    case platform::PciDistance::kAcrossNodes: return PathKind::kAcrossNodes;
    case platform::PciDistance::kUnknown: break;
  }
  return PathKind::kUnknown;
}

// Of a machine with more GPUs the pairs are too many for a call each.
constexpr size_t kMostAskedInPairs = 16;

enum class PairsBy : uint8_t { kDriver, kKernel };

Path read_pair(CallMeter& call, const NvmlApi& api, const Gpu& a, const Links& of_a, const Gpu& b,
               const Links& of_b, PairsBy by, const platform::RootFs& root) {
  Path path{.from_uuid = a.device.uuid, .to_uuid = b.device.uuid};
  path.links = links_between(a, of_a, b, of_b);
  uint32_t level = 0;
  if (path.links > 0) {
    path.kind = PathKind::kNvLink;
  } else if (by == PairsBy::kKernel) {
    path.kind = kind_between(root, a.device.pci, b.device.pci);
  } else if (call(api.common_ancestor, a.handle, b.handle, &level) == Return::kSuccess) {
    path.kind = path_kind(level);
  }
  return path;
}

}  // namespace

std::shared_ptr<const Topology> read_topology(CallMeter& call, const NvmlApi& api,
                                              const platform::RootFs& root,
                                              const std::vector<Gpu>& gpus) {
  auto topology = std::make_shared<Topology>();
  std::vector<Links> links;
  for (const Gpu& gpu : gpus) links.push_back(read_links(call, api, gpu));
  const PairsBy by = gpus.size() <= kMostAskedInPairs ? PairsBy::kDriver : PairsBy::kKernel;
  const auto cards = platform::network_cards(root);
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t j = i + 1; j < gpus.size(); ++j) {
      topology->paths.push_back(
          read_pair(call, api, gpus[i], links[i], gpus[j], links[j], by, root));
    }
    const std::string& address = gpus[i].device.pci;
    for (const platform::NetworkCard& card : cards) {
      topology->paths.push_back({.from_uuid = gpus[i].device.uuid,
                                 .to_uuid = "nic:" + card.name,
                                 .kind = kind_between(root, address, card.address)});
    }
    const platform::PciPlace place = platform::pci_place(root, address);
    topology->places.push_back(
        {.uuid = gpus[i].device.uuid, .numa_node = place.numa_node, .cpu_list = place.cpu_list});
  }
  return topology;
}

}  // namespace gpusight::collect::nvml
