#include "collect/amdgpu/kfd.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"

namespace gpusight::collect::amdgpu {
namespace {

using platform::RootFs;

constexpr std::string_view kNodes = "/sys/class/kfd/kfd/topology/nodes";
constexpr std::string_view kProcesses = "/sys/class/kfd/kfd/proc";

// The number of the line "NAME 12".
uint64_t property(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() == 2 && words[0] == name) return parse_uint(words[1]).value_or(0);
  }
  return 0;
}

std::optional<KfdNode> read_node(const RootFs& root, const std::string& folder) {
  const auto id = root.read_trimmed(folder + "/gpu_id", 64);
  const auto number = id ? parse_uint(*id) : std::nullopt;
  if (!number || *number == 0) return std::nullopt;  // a processor
  const auto text = root.read_trimmed(folder + "/properties", 16384);
  if (!text) return std::nullopt;
  // Bus and device; partitions differ in what stands elsewhere in the number.
  const uint64_t place = property(*text, "location_id");
  return KfdNode{.gpu_id = *number,
                 .slot = fmt::format("{:04x}:{:02x}:{:02x}.", property(*text, "domain"),
                                     place >> 8 & 0xff, place >> 3 & 0x1f)};
}

}  // namespace

std::vector<KfdNode> kfd_nodes(const RootFs& root) {
  std::vector<KfdNode> nodes;
  for (const std::string& name : root.list(kNodes)) {
    if (nodes.size() == kMostKfdNodes) break;
    if (auto node = read_node(root, fmt::format("{}/{}", kNodes, name))) {
      nodes.push_back(std::move(*node));
    }
  }
  return nodes;
}

std::map<int64_t, uint64_t> kfd_memory(const RootFs& root, const std::vector<KfdNode>& nodes,
                                       std::string_view address) {
  std::map<int64_t, uint64_t> held;
  for (const std::string& name : root.list(kProcesses)) {
    const auto pid = parse_int(name);
    if (!pid || *pid <= 0 || held.size() == kMostKfdProcesses) continue;
    uint64_t bytes = 0;
    for (const KfdNode& node : nodes) {
      if (!address.starts_with(node.slot)) continue;
      const std::string path = fmt::format("{}/{}/vram_{}", kProcesses, name, node.gpu_id);
      const auto text = root.read_trimmed(path, 64);
      const auto number = text ? parse_uint(*text) : std::nullopt;
      // More than any board has is no number of bytes.
      if (number && *number < uint64_t{1} << 50) bytes += *number;
    }
    if (bytes > 0) held.emplace(*pid, bytes);
  }
  return held;
}

}  // namespace gpusight::collect::amdgpu
