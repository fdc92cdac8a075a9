#include "model/unexplained.h"

namespace gpusight::model {
namespace {

using catalog::MetricId;

std::optional<double> rest(std::optional<double> whole, std::optional<double> part) {
  if (!whole || !part || *part > *whole) return std::nullopt;
  return *whole - *part;
}

std::optional<double> number_of(const DeviceSnapshot& device, MetricId metric) {
  const Value* value = find_sample(device.samples, metric);
  return value != nullptr ? value->number() : std::nullopt;
}

}  // namespace

std::optional<double> unexplained_memory_bytes(const DeviceSnapshot& device) {
  if (!device.processes_known) return std::nullopt;
  double held = 0;
  for (const Process& process : device.processes) {
    const auto memory = process.memory_bytes.number();
    if (!memory) return std::nullopt;
    held += *memory;
  }
  for (const UserTotal& hidden : device.hidden_users) {
    if (!hidden.memory_bytes) return std::nullopt;
    held += *hidden.memory_bytes;
  }
  return rest(number_of(device, MetricId::kGpuMemoryUsed), held);
}

std::optional<double> unattributed_ratio(const DeviceSnapshot& device) {
  if (!device.processes_known || !device.hidden_users.empty()) return std::nullopt;
  double shares = 0;
  for (const Process& process : device.processes) {
    const auto share = process.utilization_ratio.number();
    if (!share) return std::nullopt;
    shares += *share;
  }
  return rest(number_of(device, MetricId::kGpuUtilization), shares);
}

}  // namespace gpusight::model
