// How devices hang together: which pairs are joined by what. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

std::string_view path_kind_key(PathKind kind);  // "same_board", "nvlink", "one_switch", …
std::optional<PathKind> find_path_kind(std::string_view key);

struct Path {
  std::string from_uuid;
  std::string to_uuid;  // a device's uuid, or "nic:" and an interface's name
  PathKind kind = PathKind::kUnknown;
  uint32_t links = 0;  // NVLinks between the two; 0 for other kinds
  bool operator==(const Path&) const = default;
};

struct Topology {
  std::vector<Path> paths;
  struct Place {
    std::string uuid;
    std::optional<uint32_t> numa_node;
    std::string cpu_list;  // "0-31,64-95"; empty if not known
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;
};

}  // namespace gpusight::model
