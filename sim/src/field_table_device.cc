// Fields of the board itself.
#include <cmath>

#include "field_table.h"

namespace gpusight::sim {
namespace {

Answer milliwatts(double watts) { return {NVML_SUCCESS, std::llround(watts * 1000)}; }
Answer nanoseconds(double seconds) { return count_of(seconds * 1e9); }

Answer ecc_mode(const Call& call, unsigned, unsigned) {
  if (call.board().ecc == Ecc::kNone) return kNotSupported;
  return count_of(call.board().ecc == Ecc::kEnabled ? 1 : 0);
}

// In the order of the fields: single and double bit, volatile then aggregate.
Answer ecc_total(const Call& call, unsigned, unsigned nth) {
  if (call.board().ecc != Ecc::kEnabled) return kNotSupported;
  return count_of(static_cast<double>(call.model().ecc_errors(nth % 2 == 1, nth >= 2, call.t())));
}

// Eleven of one kind of count: both errors of five places, then what the CBU could not correct.
Answer ecc_place(const Call& call, unsigned, unsigned nth) {
  constexpr EccLocation kPlaces[] = {EccLocation::kL1, EccLocation::kL2, EccLocation::kDram,
                                     EccLocation::kRegister, EccLocation::kTexture};
  const bool aggregate = nth >= 11;
  const unsigned at = nth % 11;
  if (at == 10) return ecc_at(call, true, aggregate, EccLocation::kCbu);
  return ecc_at(call, at % 2 == 1, aggregate, kPlaces[at / 2]);
}

Answer retired_count(const Call& call, unsigned, unsigned nth) {
  if (!call.board().retired_pages) return kNotSupported;
  return count_of(call.model().conditions().counted(FaultKind::kRetiredPages, nth, 0, call.t()));
}

// Whether a page waits for retirement: for any cause, or one.
bool retirement_pending(const Call& call, std::optional<unsigned> cause) {
  bool pending = false;
  call.model().conditions().each(FaultKind::kRetiredPages, [&](const Fault& fault) {
    const bool now = call.t() >= fault.at && call.t() < fault.until;
    pending = pending || (now && fault.pending && (!cause || *cause == fault.what));
  });
  return pending;
}

Answer retired_pending(const Call& call, unsigned, unsigned) {
  if (!call.board().retired_pages) return kNotSupported;
  return count_of(retirement_pending(call, std::nullopt) ? 1 : 0);
}

Answer retired_pending_cause(const Call& call, unsigned, unsigned nth) {
  if (!call.board().retired_pages) return kNotSupported;
  return count_of(retirement_pending(call, nth) ? 1 : 0);
}

Answer remapped(const Call& call, unsigned, unsigned nth) {
  if (!call.board().row_remapping() || call.model().spec().mig) return kNotSupported;
  const Conditions& conditions = call.model().conditions();
  if (nth < 2) return count_of(conditions.counted(FaultKind::kRemappedRows, nth, 0, call.t()));
  bool flag = false;
  conditions.each(FaultKind::kRemappedRows, [&](const Fault& fault) {
    const bool now = call.t() >= fault.at && call.t() < fault.until;
    flag = flag || (now && (nth == 2 ? fault.pending : fault.failed));
  });
  return count_of(flag ? 1 : 0);
}

Answer remapped_inactive(const Call& call, unsigned, unsigned) {
  return call.board().row_remapping() && !call.model().spec().mig ? count_of(0) : kNotSupported;
}

Answer held(const Call& call, unsigned, unsigned nth) {
  constexpr Held kCauses[] = {Held::kPower, Held::kThermal,     Held::kSyncBoost,   Held::kBoard,
                              Held::kIdle,  Held::kReliability, Held::kApplication, Held::kBase};
  return nanoseconds(call.model().held_seconds(kCauses[nth], call.t()));
}

Answer held_by_reason(const Call& call, unsigned, unsigned nth) {
  constexpr std::uint64_t kReasons[] = {nvmlClocksEventReasonSwThermalSlowdown,
                                        nvmlClocksEventReasonHwThermalSlowdown,
                                        nvmlClocksEventReasonHwPowerBrakeSlowdown};
  return nanoseconds(call.model().held_by_reason_seconds(kReasons[nth], call.t()));
}

Answer memory_temperature(const Call& call, unsigned, unsigned) {
  if (!call.board().memory_temperature) return kNotSupported;
  return {NVML_SUCCESS, std::llround(call.model().memory_temperature(call.t()))};
}

Answer energy(const Call& call, unsigned, unsigned) {
  if (call.board().architecture < NVML_DEVICE_ARCH_VOLTA) return kNotSupported;
  return {NVML_SUCCESS, static_cast<std::int64_t>(call.model().energy_mj(call.t()))};
}

Answer pcie_errors(const Call& call, PcieCounter counter) {
  return count_of(call.model().pcie_errors(counter, call.t()));
}
Answer pcie_replays(const Call& call, unsigned, unsigned nth) {
  return pcie_errors(call, nth == 0 ? PcieCounter::kReplay : PcieCounter::kRollover);
}
Answer pcie_recoveries(const Call& call, unsigned, unsigned) {
  return pcie_errors(call, PcieCounter::kRecovery);
}
// In the order of the fields, which is that of the counters from kCorrectable on. Boards with a
// display do not count them.
Answer pcie_error(const Call& call, unsigned, unsigned nth) {
  if (call.board().ecc != Ecc::kEnabled) return kNotSupported;
  return pcie_errors(
      call, static_cast<PcieCounter>(static_cast<unsigned>(PcieCounter::kCorrectable) + nth));
}
Answer pcie_bytes(const Call& call, unsigned, unsigned nth) {
  if (call.board().unified_memory) return kNotSupported;
  // The counters have 32 bits on boards before Hopper, and wrap.
  const auto bytes = static_cast<std::uint64_t>(call.model().pcie_bytes(nth == 0, call.t()));
  const bool narrow = call.board().architecture < NVML_DEVICE_ARCH_HOPPER;
  return {NVML_SUCCESS, static_cast<std::int64_t>(narrow ? bytes & 0xFFFFFFFF : bytes)};
}

// Of a whole module with its processor, where a scenario says so.
Answer module_power(const Call& call, unsigned scope, const char* reading) {
  const std::optional<double> watts = call.model().reading(reading);
  return scope == NVML_POWER_SCOPE_MODULE && watts ? milliwatts(*watts) : kNotSupported;
}

Answer power_average(const Call& call, unsigned scope, unsigned) {
  const Board& b = call.board();
  if (!b.average_power || !b.power_reading) return kNotSupported;
  if (scope == NVML_POWER_SCOPE_GPU) return milliwatts(call.model().mean_power(call.t(), 1));
  if (scope == NVML_POWER_SCOPE_MEMORY && b.memory_watts > 0) {
    const double busy = call.model().memory_busy(call.t(), 1);
    return milliwatts(
        call.model().reading("memory_power_watts").value_or(b.memory_watts * (0.33 + 0.67 * busy)));
  }
  return module_power(call, scope, "module_average_watts");
}

Answer power_instant(const Call& call, unsigned scope, unsigned) {
  if (scope == NVML_POWER_SCOPE_MODULE) return module_power(call, scope, "module_watts");
  if (scope != NVML_POWER_SCOPE_GPU || !call.board().power_reading) return kNotSupported;
  return milliwatts(call.model().power(call.t()));
}

// Four limits (least, most, default, enforced) and the one asked for; for the GPU as a whole only.
Answer power_limit(const Call& call, unsigned scope, unsigned nth) {
  const Board& b = call.board();
  if (scope != NVML_POWER_SCOPE_GPU || b.default_limit_watts <= 0) return kNotSupported;
  const double now = call.model().spec().power_limit_watts;
  const double limits[] = {b.min_limit_watts, b.max_limit_watts, b.default_limit_watts, now};
  return milliwatts(limits[nth]);
}
Answer requested_limit(const Call& call, unsigned scope, unsigned) {
  return power_limit(call, scope, 3);
}

// Distances to the limits (shutdown, slowdown, memory, GPU), counted from where software slowdown
// begins.
Answer distance(const Call& call, unsigned, unsigned nth) {
  const Board& b = call.board();
  if (!b.temperature_limits || (nth == 2 && !b.memory_temperature)) return kNotSupported;
  const int limits[] = {b.shutdown_celsius, b.slowdown_celsius, b.gpu_max_celsius,
                        b.gpu_max_celsius};
  return count_of(b.gpu_max_celsius - limits[nth]);
}

Answer mig_without_reset(const Call& call, unsigned, unsigned) {
  return count_of(
      call.board().mig_capable() && call.board().architecture >= NVML_DEVICE_ARCH_HOPPER ? 1 : 0);
}

// Whether a reset is asked for, and one with draining before.
Answer reset_wanted(const Call& call, unsigned, unsigned nth) {
  const Fault* action = call.model().conditions().active(FaultKind::kRecoveryAction, call.t());
  const unsigned wanted = action == nullptr ? 0 : action->what;
  const unsigned own =
      nth == 0 ? NVML_GPU_RECOVERY_ACTION_GPU_RESET : NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET;
  return count_of(wanted == own ? 1 : 0);
}

Answer recovery_action(const Call& call, unsigned, unsigned) {
  const Fault* action = call.model().conditions().active(FaultKind::kRecoveryAction, call.t());
  return count_of(action == nullptr ? 0 : action->what);
}

// There on some boards, but for root only.
Answer power_smoothing(const Call& call, unsigned, unsigned) {
  if (!call.board().power_smoothing) return kNotSupported;
  return {NVML_ERROR_NO_PERMISSION, 0};
}

Answer edpp_multiplier(const Call& call, unsigned, unsigned) {
  return call.board().architecture >= NVML_DEVICE_ARCH_HOPPER && !call.board().unified_memory
             ? count_of(100)
             : kNotSupported;
}

// How much of the time the matrix units wait for their operands.
Answer mma_stall(const Call& call, unsigned, unsigned) {
  if (call.board().architecture < NVML_DEVICE_ARCH_BLACKWELL) return kNotSupported;
  return count_of(call.model().tensor(call.t(), 1) * 12);
}

using F = FieldName;

constexpr Field kFields[] = {
    {F::NVML_FI_DEV_ECC_CURRENT, F::NVML_FI_DEV_ECC_PENDING, kU32, ecc_mode},
    {F::NVML_FI_DEV_ECC_SBE_VOL_TOTAL, F::NVML_FI_DEV_ECC_DBE_AGG_TOTAL, kU64, ecc_total},
    {F::NVML_FI_DEV_ECC_SBE_VOL_L1, F::NVML_FI_DEV_ECC_DBE_AGG_CBU, kU64, ecc_place},
    {F::NVML_FI_DEV_RETIRED_SBE, F::NVML_FI_DEV_RETIRED_DBE, kU64, retired_count},
    {F::NVML_FI_DEV_RETIRED_PENDING, F::NVML_FI_DEV_RETIRED_PENDING, kU32, retired_pending},
    {F::NVML_FI_DEV_RETIRED_PENDING_SBE, F::NVML_FI_DEV_RETIRED_PENDING_DBE, kU32,
     retired_pending_cause},
    {F::NVML_FI_DEV_PERF_POLICY_POWER, F::NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS, kU64, held},
    {F::NVML_FI_DEV_MEMORY_TEMP, F::NVML_FI_DEV_MEMORY_TEMP, kU32, memory_temperature},
    {F::NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, F::NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, kU64,
     energy},
    {F::NVML_FI_DEV_PCIE_REPLAY_COUNTER, F::NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER, kU32,
     pcie_replays},
    {F::NVML_FI_DEV_REMAPPED_COR, F::NVML_FI_DEV_REMAPPED_FAILURE, kU32, remapped},
    {F::NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER, F::NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER, kU32,
     pcie_recoveries},
    {F::NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, F::NVML_FI_DEV_PCIE_COUNT_LANE_ERROR, kU32,
     pcie_error},
    {F::NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED, F::NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED, kU32,
     mig_without_reset},
    {F::NVML_FI_DEV_POWER_AVERAGE, F::NVML_FI_DEV_POWER_AVERAGE, kU32, power_average},
    {F::NVML_FI_DEV_POWER_INSTANT, F::NVML_FI_DEV_POWER_INSTANT, kU32, power_instant},
    {F::NVML_FI_DEV_POWER_MIN_LIMIT, F::NVML_FI_DEV_POWER_CURRENT_LIMIT, kU32, power_limit},
    {F::NVML_FI_DEV_ENERGY, F::NVML_FI_DEV_ENERGY, kU64, energy},
    {F::NVML_FI_DEV_POWER_REQUESTED_LIMIT, F::NVML_FI_DEV_POWER_REQUESTED_LIMIT, kU32,
     requested_limit},
    {F::NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT, F::NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT, kI32,
     distance},
    {F::NVML_FI_DEV_PCIE_COUNT_TX_BYTES, F::NVML_FI_DEV_PCIE_COUNT_RX_BYTES, kU64, pcie_bytes},
    {F::NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE,
     F::NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE, kU32, mig_without_reset},
    {F::NVML_FI_DEV_RESET_STATUS, F::NVML_FI_DEV_DRAIN_AND_RESET_STATUS, kU32, reset_wanted},
    {F::NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, F::NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, kU32,
     recovery_action},
    {F::NVML_FI_PWR_SMOOTHING_ENABLED, F::NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_DOWN_HYST_VAL,
     kU32, power_smoothing},
    {F::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
     F::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, kU64, held_by_reason},
    {F::NVML_FI_DEV_EDPP_MULTIPLIER, F::NVML_FI_DEV_EDPP_MULTIPLIER, kU32, edpp_multiplier},
    {F::NVML_FI_PWR_SMOOTHING_PRIMARY_POWER_FLOOR,
     F::NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_PRIMARY_FLOOR_ACT_OFFSET, kU32, power_smoothing},
    {F::NVML_FI_DEV_MMA_STALL_PERCENT, F::NVML_FI_DEV_MMA_STALL_PERCENT, kU32, mma_stall},
    {F::NVML_FI_DEV_REMAPPED_ROWS_COR_INACTIVE, F::NVML_FI_DEV_REMAPPED_ROWS_UNC_INACTIVE, kU32,
     remapped_inactive},
};

}  // namespace

std::span<const Field> device_fields() { return kFields; }

Answer ecc_at(const Call& call, bool uncorrected, bool aggregate, EccLocation where) {
  const Board& b = call.board();
  if (b.ecc != Ecc::kEnabled) return kNotSupported;
  // Boards of today count for the memory and for all on-chip memories together.
  const bool by_cache = b.architecture < NVML_DEVICE_ARCH_TURING;
  const bool known = where == EccLocation::kDram || (where == EccLocation::kSram) != by_cache;
  const bool hidden = call.model().spec().mig && !aggregate && where == EccLocation::kDram &&
                      b.architecture == NVML_DEVICE_ARCH_AMPERE;
  if (!known || hidden) return kNotSupported;
  return count_of(
      static_cast<double>(call.model().ecc_errors(uncorrected, aggregate, where, call.t())));
}

}  // namespace gpusight::sim
