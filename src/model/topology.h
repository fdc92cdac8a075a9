// How devices hang together: which pairs are joined by what. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpusight::model {

// From closest to farthest.
enum class PathKind : uint8_t {
  kSameBoard,
  kNvLink,
  kOneSwitch,
  kSwitches,
  kHostBridge,
  kSameNode,
  kAcrossNodes,
  kUnknown,
};

struct Path {
  std::string from_uuid;
  std::string to_uuid;  // a device's uuid, or "nic:" and an interface's name
  PathKind kind = PathKind::kUnknown;
  uint32_t links = 0;  // NVLinks between the two; 0 for other kinds
};

struct Topology {
  std::vector<Path> paths;
  struct Place {
    std::string uuid;
    std::optional<uint32_t> numa_node;
    std::string cpu_list;  // "0-31,64-95"; empty if not known
  };
  std::vector<Place> places;
};

}  // namespace gpusight::model
