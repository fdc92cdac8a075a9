// Names of the catalogue's enumerations.
#include "catalog/metric.h"

namespace gpusight::catalog {
namespace {

struct GroupRow {
  Group group;
  std::string_view key;
  Text title;
};

constexpr GroupRow kGroups[] = {
    {Group::kUtilization, "utilization", {"Utilization", "利用率"}},
    {Group::kActivity, "activity", {"Engine activity", "引擎活动"}},
    {Group::kMemory, "memory", {"Memory", "显存"}},
    {Group::kPower, "power", {"Power", "功率"}},
    {Group::kTemperature, "temperature", {"Temperature", "温度"}},
    {Group::kClocks, "clocks", {"Clocks", "时钟"}},
    {Group::kFans, "fans", {"Fans", "风扇"}},
    {Group::kPcie, "pcie", {"PCIe", "PCIe"}},
    {Group::kNvlink, "nvlink", {"NVLink", "NVLink"}},
    {Group::kThrottle, "throttle", {"Throttling", "降频"}},
    {Group::kHealth, "health", {"Health", "健康"}},
    {Group::kMemoryErrors, "memory_errors", {"Memory errors", "内存错误"}},
    {Group::kModes, "modes", {"Modes", "模式"}},
    {Group::kHostCpu, "host_cpu", {"CPU", "CPU"}},
    {Group::kHostMemory, "host_memory", {"Host memory", "主机内存"}},
    {Group::kHostPressure, "host_pressure", {"Pressure", "资源压力"}},
    {Group::kHostDisk, "host_disk", {"Disks", "磁盘"}},
    {Group::kHostNetwork, "host_network", {"Network", "网络"}},
    {Group::kHostSensors, "host_sensors", {"Host sensors", "主机传感器"}},
    {Group::kSelf, "self", {"gpusight itself", "gpusight 自身"}},
};

constexpr Group kOrder[] = {
    Group::kUtilization, Group::kActivity,    Group::kMemory,      Group::kPower,
    Group::kTemperature, Group::kClocks,      Group::kFans,        Group::kPcie,
    Group::kNvlink,      Group::kThrottle,    Group::kHealth,      Group::kMemoryErrors,
    Group::kModes,       Group::kHostCpu,     Group::kHostMemory,  Group::kHostPressure,
    Group::kHostDisk,    Group::kHostNetwork, Group::kHostSensors, Group::kSelf,
};

consteval bool group_rows_stand_in_order() {
  for (size_t i = 0; i < std::size(kGroups); ++i) {
    if (static_cast<size_t>(kGroups[i].group) != i) return false;
  }
  return std::size(kGroups) == std::size(kOrder);
}
static_assert(group_rows_stand_in_order());

}  // namespace

std::string_view unit_symbol(Unit unit) {
  constexpr std::string_view kSymbols[] = {"", "", "B", "W", "J", "°C", "Hz", "s", "B/s", "V"};
  return kSymbols[static_cast<size_t>(unit)];
}

std::string_view kind_name(Kind kind) {
  constexpr std::string_view kNames[] = {"gauge", "counter", "state"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view scope_name(Scope scope) {
  constexpr std::string_view kNames[] = {"device", "host", "self"};
  return kNames[static_cast<size_t>(scope)];
}

std::string_view cadence_name(Cadence cadence) {
  constexpr std::string_view kNames[] = {"fast", "slow"};
  return kNames[static_cast<size_t>(cadence)];
}

std::string_view group_key(Group group) { return kGroups[static_cast<size_t>(group)].key; }
Text group_title(Group group) { return kGroups[static_cast<size_t>(group)].title; }
std::span<const Group> groups() { return kOrder; }

}  // namespace gpusight::catalog
