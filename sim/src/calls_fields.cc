// Field values: one table row a field id, with the driver that brought it and the type that it has.
//
// Numbers of fields moved between drivers (199/200 and 251..273); rows name the range in which a
// number had a meaning, as the field table of the facts records it.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "call.h"

using namespace gpusight::sim;

namespace gpusight::sim {
namespace {

constexpr unsigned kAllLinks = 0xFFFFFFFF;
constexpr unsigned kU32 = NVML_VALUE_TYPE_UNSIGNED_INT;
constexpr unsigned kU64 = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
constexpr unsigned kI32 = NVML_VALUE_TYPE_SIGNED_INT;

// A reader's answer: a number, or why there is none.
struct Answer {
  nvmlReturn_t code = NVML_SUCCESS;
  std::int64_t number = 0;
};

constexpr Answer kNotSupported{NVML_ERROR_NOT_SUPPORTED, 0};
constexpr Answer kInvalid{NVML_ERROR_INVALID_ARGUMENT, 0};

Answer number(double value) { return {NVML_SUCCESS, std::llround(value)}; }
Answer milliwatts(double watts) { return number(watts * 1000); }

using Read = Answer (*)(const Call& call, unsigned scope);

struct Field {
  unsigned first;  // ids first..last are read alike
  unsigned last;
  const char* since;  // first driver
  const char* until;  // the driver from which the number means something else; empty = none
  unsigned type;
  Read read;
};

Answer ecc_mode(const Call& call, unsigned) {
  if (call.board().ecc == Ecc::kNone) return kNotSupported;
  return number(call.board().ecc == Ecc::kEnabled ? 1 : 0);
}

Answer ecc_count(const Call& call, unsigned) {
  return call.board().ecc == Ecc::kEnabled ? number(0) : kNotSupported;
}

Answer held_by_power(const Call& call, unsigned) {
  return number(call.model().power_held_seconds(call.t()) * 1e9);
}

Answer held_never(const Call&, unsigned) { return number(0); }

Answer memory_temperature(const Call& call, unsigned) {
  if (!call.board().memory_temperature) return kNotSupported;
  return number(call.model().memory_temperature(call.t()));
}

Answer energy(const Call& call, unsigned) {
  return {NVML_SUCCESS, static_cast<std::int64_t>(call.model().energy_mj(call.t()))};
}

Answer replays(const Call& call, unsigned) { return number(call.model().spec().replay_counter); }

Answer remapped(const Call& call, unsigned) {
  if (!call.board().row_remapping || call.model().spec().mig) return kNotSupported;
  return number(0);
}

// Links are refused on boards without them and while the GPU is divided.
Answer link(const Call& call, unsigned scope, double value) {
  if (call.board().nvlinks == 0 || call.model().spec().mig) return kNotSupported;
  if (scope >= call.board().nvlinks) return kInvalid;
  return number(value);
}

Answer link_speed_common(const Call& call, unsigned) {
  return link(call, 0, call.board().nvlink_mbps);
}
Answer link_count(const Call& call, unsigned) { return link(call, 0, call.board().nvlinks); }
Answer link_speed(const Call& call, unsigned scope) {
  return link(call, scope, call.board().nvlink_mbps);
}
Answer link_state(const Call& call, unsigned scope) { return link(call, scope, 1); }
Answer link_version(const Call& call, unsigned scope) {
  return link(call, scope, call.board().nvlink_version);
}
Answer link_errors(const Call& call, unsigned scope) { return link(call, scope, 0); }

// KiB through one link, or all of them, since the driver was loaded.
Answer link_traffic(const Call& call, unsigned scope, double overhead) {
  constexpr double kShareOfLink = 0.35;  // at full activity
  const double one = call.model().busy_seconds(call.t()) * call.board().nvlink_mbps * 1e6 / 1024 *
                     kShareOfLink * overhead;
  if (scope == kAllLinks) return link(call, 0, one * call.board().nvlinks);
  return link(call, scope, one);
}

Answer link_data(const Call& call, unsigned scope) { return link_traffic(call, scope, 1); }
Answer link_raw(const Call& call, unsigned scope) { return link_traffic(call, scope, 1.12); }

Answer power_average(const Call& call, unsigned scope) {
  const Board& b = call.board();
  if (!b.average_power) return kNotSupported;
  if (scope == NVML_POWER_SCOPE_GPU) return milliwatts(call.model().mean_power(call.t(), 1));
  if (scope == NVML_POWER_SCOPE_MEMORY && b.memory_watts > 0) {
    return milliwatts(b.memory_watts * (0.33 + 0.67 * call.model().memory_busy(call.t(), 1)));
  }
  return kNotSupported;
}

Answer power_instant(const Call& call, unsigned scope) {
  if (scope != NVML_POWER_SCOPE_GPU) return kNotSupported;
  return milliwatts(call.model().power(call.t()));
}

// The four limits exist for the GPU as a whole, scope 0.
Answer limit(unsigned scope, double watts) {
  return scope == NVML_POWER_SCOPE_GPU ? milliwatts(watts) : kNotSupported;
}
Answer limit_least(const Call& call, unsigned scope) {
  return limit(scope, call.board().min_limit_watts);
}
Answer limit_most(const Call& call, unsigned scope) {
  return limit(scope, call.board().max_limit_watts);
}
Answer limit_default(const Call& call, unsigned scope) {
  return limit(scope, call.board().default_limit_watts);
}
Answer limit_now(const Call& call, unsigned scope) {
  return limit(scope, call.model().spec().power_limit_watts);
}

// Distances to the limits, counted from where software slowdown begins.
Answer distance_to(const Call& call, int celsius) {
  if (!call.board().temperature_limits) return kNotSupported;
  return number(call.board().gpu_max_celsius - celsius);
}
Answer shutdown_distance(const Call& call, unsigned) {
  return distance_to(call, call.board().shutdown_celsius);
}
Answer slowdown_distance(const Call& call, unsigned) {
  return distance_to(call, call.board().slowdown_celsius);
}
Answer memory_distance(const Call& call, unsigned) {
  if (!call.board().memory_temperature) return kNotSupported;
  return distance_to(call, call.board().gpu_max_celsius);
}
Answer gpu_distance(const Call& call, unsigned) {
  return distance_to(call, call.board().gpu_max_celsius);
}

Answer pcie_bytes(const Call& call, double share) {
  constexpr double kLinkBytesPerSecond = 31.5e9;
  return number(call.model().busy_seconds(call.t()) * kLinkBytesPerSecond * share);
}
Answer pcie_sent(const Call& call, unsigned) { return pcie_bytes(call, 0.06); }
Answer pcie_received(const Call& call, unsigned) { return pcie_bytes(call, 0.11); }

Answer recovery_action(const Call&, unsigned) { return number(NVML_GPU_RECOVERY_ACTION_NONE); }

constexpr Field kFields[] = {
    {1, 2, "384.47", "", kU32, ecc_mode},
    {3, 28, "384.47", "", kU64, ecc_count},
    {74, 74, "384.47", "", kU64, held_by_power},
    {75, 79, "384.47", "", kU64, held_never},
    {81, 81, "384.47", "", kU64, held_never},
    {82, 82, "384.59", "", kU32, memory_temperature},
    {83, 83, "410.104", "", kU64, energy},
    {90, 90, "410.104", "", kU32, link_speed_common},
    {91, 91, "410.104", "", kU32, link_count},
    {94, 94, "410.104", "", kU32, replays},
    {95, 95, "410.104", "", kU32, held_never},
    {138, 139, "450.51", "", kU64, link_data},
    {140, 141, "450.51", "", kU64, link_raw},
    {142, 145, "450.51", "", kU32, remapped},
    {147, 147, "460.27.04", "", kU32, link_count},
    {161, 163, "520.56.06", "", kU64, link_errors},
    {164, 164, "520.56.06", "", kU32, link_speed},
    {165, 165, "520.56.06", "", kU32, link_state},
    {166, 166, "520.56.06", "", kU32, link_version},
    {169, 169, "525.53", "", kU32, held_never},
    {185, 185, "525.105.17", "", kU32, power_average},
    {186, 186, "525.105.17", "", kU32, power_instant},
    {187, 187, "535.43.02", "", kU32, limit_least},
    {188, 188, "535.43.02", "", kU32, limit_most},
    {189, 189, "535.43.02", "", kU32, limit_default},
    {190, 190, "535.43.02", "", kU32, limit_now},
    {191, 191, "535.43.02", "", kU64, energy},
    {192, 192, "535.43.02", "", kU32, limit_now},
    {193, 193, "525.125.06", "", kI32, shutdown_distance},
    {194, 194, "525.125.06", "", kI32, slowdown_distance},
    {195, 195, "525.125.06", "", kI32, memory_distance},
    {196, 196, "525.125.06", "", kI32, gpu_distance},
    {197, 197, "555.42.02", "", kU64, pcie_sent},
    {198, 198, "555.42.02", "", kU64, pcie_received},
    {230, 230, "565.57.01", "", kU32, recovery_action},
    {251, 253, "575.51.02", "580.82.07", kU64, held_never},
    {269, 271, "580.82.07", "", kU64, held_never},
};

const Field* find_field(const Call& call, unsigned id) {
  const std::uint64_t driver = call.plan().driver_key;
  for (const Field& field : kFields) {
    if (id < field.first || id > field.last || driver < version_key(field.since)) continue;
    if (*field.until != '\0' && driver >= version_key(field.until)) continue;
    // The 530 branch came out before the numbers that 525.105 had already.
    const bool missing_in_530 = field.first >= 185 && field.first <= 196 &&
                                driver >= version_key("530") && driver < version_key("535");
    if (!missing_in_530) return &field;
  }
  return nullptr;
}

void store(const Call& call, nvmlFieldValue_t& value, const Field& field, std::int64_t what) {
  const std::string id = std::to_string(value.fieldId);
  value.valueType = field.type;
  value.value.ullVal = 0;
  if (field.type == kU32) {
    call.put(&value.value.uiVal, static_cast<unsigned>(what), id);
  } else if (field.type == kI32) {
    call.put(&value.value.siVal, static_cast<int>(what), id);
  } else {
    call.put(&value.value.ullVal, static_cast<unsigned long long>(what), id);
  }
}

// Fills one entry; false when it holds no value afterwards.
bool fill(const Call& call, nvmlFieldValue_t& value) {
  const Field* field = find_field(call, value.fieldId);
  // Libraries of that age leave the entry of an ECC counter as it was when there is no ECC.
  if (field != nullptr && field->read == &ecc_count && call.board().ecc != Ecc::kEnabled &&
      call.driver_older_than("470")) {
    return false;
  }
  value.timestamp = static_cast<long long>(library().stamp_us(call.t()));
  value.latencyUsec = 12;
  const Answer answer = field == nullptr ? kInvalid : field->read(call, value.scopeId);
  value.nvmlReturn = answer.code;
  if (answer.code != NVML_SUCCESS) return false;
  store(call, value, *field, answer.number);
  return true;
}

}  // namespace
}  // namespace gpusight::sim

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return on_gpu(Fn::nvmlDeviceGetFieldValues, device, values != nullptr && count > 0,
                [&](Call& call) -> nvmlReturn_t {
                  bool any = false;
                  for (int i = 0; i < count; ++i) any = fill(call, values[i]) || any;
                  return any || count == 0 ? NVML_SUCCESS : values[0].nvmlReturn;
                });
}
