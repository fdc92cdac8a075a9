#include "collect/nvml/topology_reader.h"

#include <algorithm>
#include <array>

#include "collect/nvml/field_tables.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {
namespace {

using model::Path;
using model::PathKind;

constexpr uint32_t kFieldLinkCount = 91;
constexpr uint32_t kFieldSwitchLinkCount = 147;
constexpr uint64_t kCallsAPair = 2;  // at most

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

// A call that tells of two devices says nothing of the one whose lane this is: its code is nobody's
// fate.
template <typename... Parameters, typename... Arguments>
Return call(Report& report, Return (*function)(Parameters...), Arguments... arguments) {
  if (function == nullptr) return Return::kFunctionNotFound;
  const MonoTime start = report.now();
  const Return code = function(arguments...);
  report.count_call(report.now() - start);
  return code;
}

unsigned count_in(const FieldValue& field) {
  return link_count(
      field_reading(field, {.id = field.field_id, .metric = catalog::MetricId::kCount}));
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

}  // namespace

TopologyReader::TopologyReader(const LaneContext& context,
                               std::span<const std::unique_ptr<SharedGpu>> gpus, size_t place)
    : api_(*context.api), root_(context.root), gpu_(gpus[place]->gpu) {
  for (const auto& other : gpus.subspan(place + 1)) {
    others_.push_back(&other->gpu);
    known_.paths.push_back({.from_uuid = gpu_.device.uuid, .to_uuid = other->gpu.device.uuid});
  }
}

void TopologyReader::add_kernels_word() {
  const std::string& address = gpu_.device.pci;
  for (const platform::NetworkCard& card : platform::network_cards(root_)) {
    known_.paths.push_back({.from_uuid = gpu_.device.uuid,
                            .to_uuid = "nic:" + card.name,
                            .kind = kind_between(root_, address, card.address)});
  }
  const platform::PciPlace place = platform::pci_place(root_, address);
  known_.places.push_back(
      {.uuid = gpu_.device.uuid, .numa_node = place.numa_node, .cpu_list = place.cpu_list});
}

void TopologyReader::read(Report& report, uint64_t most_calls) {
  if (is_done_) return;
  if (known_.places.empty()) add_kernels_word();
  const bool has_all_links = others_.empty() || read_links(report, most_calls);
  while (has_all_links && next_other_ < others_.size() &&
         report.calls() + kCallsAPair <= most_calls) {
    read_pair(report, *others_[next_other_], known_.paths[next_other_]);
    ++next_other_;
  }
  is_done_ = next_other_ == others_.size();
  report.topology(known_);
}

// The GPU's own links, to switches and to other devices; true when all are known.
bool TopologyReader::read_links(Report& report, uint64_t most_calls) {
  if (report.calls() >= most_calls) return false;
  if (!links_) {
    std::array<FieldValue, 2> fields{
        {{.field_id = kFieldLinkCount}, {.field_id = kFieldSwitchLinkCount}}};
    const Return code = call(report, api_.field_values, gpu_.handle, 2, fields.data());
    links_ = code == Return::kSuccess ? count_in(fields[0]) : 0;
    if (*links_ > 0) to_switches_ = std::min(count_in(fields[1]), *links_);
    if (to_switches_ == *links_) next_link_ = *links_;
  }
  for (; next_link_ < *links_; ++next_link_) {
    if (report.calls() >= most_calls) return false;
    PciInfo remote{};
    const Return code = call(report, api_.remote_pci, gpu_.handle, unsigned{next_link_}, &remote);
    if (code != Return::kSuccess) continue;
    ++to_devices_[platform::pci_address(remote.domain, remote.bus, remote.device)];
  }
  return true;
}

// Through switches every GPU reaches every other with as many links as the poorer one has.
void TopologyReader::read_pair(Report& report, const Gpu& other, Path& path) {
  const auto direct = to_devices_.find(other.device.pci);
  if (direct != to_devices_.end()) {
    path.links = direct->second;
  } else if (to_switches_ > 0) {
    FieldValue field{.field_id = kFieldSwitchLinkCount};
    const Return code = call(report, api_.field_values, other.handle, 1, &field);
    if (code == Return::kSuccess) path.links = std::min(to_switches_, count_in(field));
  }
  uint32_t level = 0;
  if (path.links > 0) {
    path.kind = PathKind::kNvLink;
  } else if (call(report, api_.common_ancestor, gpu_.handle, other.handle, &level) ==
             Return::kSuccess) {
    path.kind = path_kind(level);
  }
}

}  // namespace gpusight::collect::nvml
