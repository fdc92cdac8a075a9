#include "model/process.h"

#include <algorithm>
#include <iterator>

namespace gpusight::model {
namespace {
constexpr std::string_view kTypes[] = {"compute", "graphics", "compute+graphics"};
constexpr std::string_view kOwnerStates[] = {"known", "exited", "foreign", "pending"};
}  // namespace

std::string_view process_type_key(ProcessType type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<ProcessType> find_process_type(std::string_view key) {
  const auto at = std::ranges::find(kTypes, key);
  if (at == std::end(kTypes)) return std::nullopt;
  return static_cast<ProcessType>(at - std::begin(kTypes));
}

std::string_view owner_state_key(OwnerState state) {
  return kOwnerStates[static_cast<size_t>(state)];
}

std::optional<OwnerState> find_owner_state(std::string_view key) {
  const auto at = std::ranges::find(kOwnerStates, key);
  if (at == std::end(kOwnerStates)) return std::nullopt;
  return static_cast<OwnerState>(at - std::begin(kOwnerStates));
}

}  // namespace gpusight::model
