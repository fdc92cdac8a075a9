#include "model/device.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace gpusight::model {
namespace {

constexpr std::string_view kKinds[] = {"gpu", "mig"};
constexpr std::string_view kStates[] = {"active", "asleep", "busy", "lost", "released"};

template <typename E, size_t N>
std::optional<E> find_key(const std::string_view (&keys)[N], std::string_view key) {
  const auto at = std::find(std::begin(keys), std::end(keys), key);
  if (at == std::end(keys)) return std::nullopt;
  return static_cast<E>(at - std::begin(keys));
}

}  // namespace

std::string_view device_kind_key(DeviceKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view device_state_key(DeviceState state) { return kStates[static_cast<size_t>(state)]; }
std::optional<DeviceKind> find_device_kind(std::string_view key) {
  return find_key<DeviceKind>(kKinds, key);
}
std::optional<DeviceState> find_device_state(std::string_view key) {
  return find_key<DeviceState>(kStates, key);
}

const std::string* find_fact(const Device& device, std::string_view name) {
  const auto at = std::ranges::find_if(
      device.facts, [&](const auto& fact) { return std::string_view(fact.first) == name; });
  return at == device.facts.end() ? nullptr : &at->second;
}

void sort_for_views(std::vector<Device>& devices) {
  constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();
  std::map<std::string, std::pair<uint32_t, std::string>> gpu_order;
  for (const Device& d : devices) {
    if (d.kind == DeviceKind::kGpu) gpu_order[d.uuid] = {d.index.value_or(kLast), d.pci};
  }
  const auto order = [&](const Device& d) {
    const std::string& gpu = d.parent.empty() ? d.uuid : d.parent;
    const auto at = gpu_order.find(gpu);
    const auto place = at == gpu_order.end() ? std::pair{kLast, std::string()} : at->second;
    return std::tuple(place.first, place.second, gpu, d.kind, d.gpu_instance.value_or(0),
                      d.compute_instance.value_or(0), d.uuid);
  };
  std::ranges::stable_sort(devices, {}, order);
}

}  // namespace gpusight::model
