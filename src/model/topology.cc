#include "model/topology.h"

#include <algorithm>
#include <iterator>

namespace gpusight::model {
namespace {

constexpr std::string_view kKinds[] = {"same_board",  "nvlink",    "one_switch",   "switches",
                                       "host_bridge", "same_node", "across_nodes", "unknown"};

}  // namespace

std::string_view path_kind_key(PathKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<PathKind> find_path_kind(std::string_view key) {
  const auto at = std::ranges::find(kKinds, key);
  if (at == std::end(kKinds)) return std::nullopt;
  return static_cast<PathKind>(at - std::begin(kKinds));
}

}  // namespace gpusight::model
