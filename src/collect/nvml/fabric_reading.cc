#include "collect/nvml/fabric_reading.h"

#include <fmt/format.h>

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;

// Two bits each of the fabric's health mask: 0 not told, 1 true, 2 false.
struct FabricFault {
  unsigned shift;
  std::string_view label;
};
constexpr FabricFault kFabricFaults[] = {
    {0, "degraded_bandwidth"},
    {2, "route_recovery"},
    {4, "route_unhealthy"},
    {6, "access_timeout_recovery"},
};
constexpr unsigned kWrongConfigurationShift = 8;  // four bits: 0 not told, 1 none, else which

// As UUIDs are written.
std::string uuid_text(const uint8_t (&bytes)[16]) {
  std::string text;
  for (size_t i = 0; i < std::size(bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

// Most members mean something only once registration is complete.
template <typename Info>
Fabric fabric_of(const Info& info) {
  Fabric fabric{.code = Return::kSuccess, .state = info.state};
  if (info.state == kFabricNotSupported) fabric.code = Return::kNotSupported;
  if (info.state != kFabricCompleted) return fabric;
  fabric.clique = info.clique;
  fabric.cluster = uuid_text(info.cluster);
  return fabric;
}

Reading reading(const Fabric& fabric, double number) { return {fabric.code, number}; }

}  // namespace

Fabric ask_fabric(const AskFabric& ask) {
  FabricInfoV3 v3{.v2 = {.version = struct_version<FabricInfoV3>(3)}};
  Return code = ask(3, &v3);
  FabricInfoV2 v2{.version = struct_version<FabricInfoV2>(2)};
  if (code == Return::kSuccess) {
    v2 = v3.v2;
  } else if (is_unsupported(code)) {
    code = ask(2, &v2);
  }
  if (code == Return::kSuccess) {
    Fabric fabric = fabric_of(v2);
    fabric.health = v2.health_mask;
    fabric.summary = v3.health_summary;
    return fabric;
  }
  if (!is_unsupported(code)) return {.code = code};
  FabricInfoV1 v1{};
  code = ask(1, &v1);
  return code == Return::kSuccess ? fabric_of(v1) : Fabric{.code = code};
}

void read_fabric(Conversation& talk, Gathering& found) {
  const NvmlApi& api = talk.api();
  const Fabric fabric = ask_fabric([&](unsigned form, void* info) {
    if (form > 1) return talk.ask(Query::kFabric, form, api.fabric_v, info);
    return talk.ask(Query::kFabric, form, api.fabric_v1, static_cast<FabricInfoV1*>(info));
  });
  found.put(kGpuFabricState, reading(fabric, fabric.state));
  const bool is_complete = fabric.code == Return::kSuccess && fabric.state == kFabricCompleted;
  Fabric known = fabric;
  if (fabric.code == Return::kSuccess && !is_complete) known.code = Return::kNotReady;
  found.put(kGpuFabricClique, reading(known, fabric.clique));
  if (fabric.code != Return::kSuccess) {
    found.put(kGpuFabricHealth, reading(fabric, 0));
    return found.put(kGpuFabricFault, reading(fabric, 0));
  }
  if (fabric.summary != 0) found.put(kGpuFabricHealth, reading(fabric, fabric.summary));
  for (const FabricFault& fault : kFabricFaults) {
    const unsigned told = fabric.health >> fault.shift & 3;
    if (told == 1 || told == 2) {
      found.put(kGpuFabricFault, reading(fabric, told == 1), fault.label);
    }
  }
  const unsigned wrong = fabric.health >> kWrongConfigurationShift & 0xF;
  if (wrong != 0) found.put(kGpuFabricFault, reading(fabric, wrong > 1), "wrong_configuration");
}

}  // namespace gpusight::collect::nvml
