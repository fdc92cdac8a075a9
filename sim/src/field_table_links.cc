// Fields of NVLink and of the link between the chips of one package.
#include <cmath>

#include "field_table.h"

namespace gpusight::sim {
namespace {

constexpr unsigned kAllLinks = 0xFFFFFFFF;
constexpr unsigned kFirstBlock = 6;  // the oldest fields name links 0 to 5, then come 6 to 11
constexpr unsigned kBytesInPacket = 256;

// Links are refused on boards without them and while the GPU is divided.
Answer on_link(const Call& call, unsigned link, double value) {
  if (!call.model().has_nvlinks()) return kNotSupported;
  if (link >= call.board().nvlinks) return kInvalid;
  return count_of(value);
}

bool fifth_generation(const Call& call) { return call.board().nvlink_packets; }

double errors_of(const Call& call, NvlinkCounter counter, unsigned link) {
  return call.model().conditions().counted(FaultKind::kNvlinkErrors, static_cast<unsigned>(counter),
                                           0, call.t(), link);
}

double errors_of_all(const Call& call, NvlinkCounter counter) {
  double sum = 0;
  for (unsigned link = 0; link < call.board().nvlinks; ++link) {
    sum += errors_of(call, counter, link);
  }
  return sum;
}

// One counter, by link in the name of the field. The fifth generation has no such counters.
template <NvlinkCounter counter, unsigned first>
Answer link_errors(const Call& call, unsigned, unsigned nth) {
  if (fifth_generation(call)) return kNotSupported;
  const unsigned link = first + nth;
  if (call.model().has_nvlinks() && link >= call.board().nvlinks) return kNotSupported;
  return on_link(call, link, errors_of(call, counter, link));
}

template <NvlinkCounter counter>
Answer link_errors_total(const Call& call, unsigned, unsigned) {
  if (fifth_generation(call)) return kNotSupported;
  return on_link(call, 0, errors_of_all(call, counter));
}

// Replay, recovery, CRC of the link that the scope names.
Answer data_link_errors(const Call& call, unsigned scope, unsigned nth) {
  constexpr NvlinkCounter kCounters[] = {NvlinkCounter::kReplay, NvlinkCounter::kRecovery,
                                         NvlinkCounter::kCrcFlit};
  if (fifth_generation(call)) return kNotSupported;
  if (scope == kAllLinks) return on_link(call, 0, errors_of_all(call, kCounters[nth]));
  return on_link(call, scope, errors_of(call, kCounters[nth], scope));
}

double speed(const Call& call, unsigned link) {
  return call.model().nvlink_up(link, call.t()) ? call.board().nvlink_mbps : 0;
}

template <unsigned first>
Answer speed_by_name(const Call& call, unsigned, unsigned nth) {
  if (call.model().has_nvlinks() && first + nth >= call.board().nvlinks) return kNotSupported;
  return on_link(call, first + nth, speed(call, first + nth));
}
Answer speed_common(const Call& call, unsigned, unsigned) {
  return on_link(call, 0, call.board().nvlink_mbps);
}
Answer speed_by_scope(const Call& call, unsigned scope, unsigned) {
  return on_link(call, scope, speed(call, scope));
}
Answer link_count(const Call& call, unsigned, unsigned) {
  return on_link(call, 0, call.board().nvlinks);
}
Answer links_to_switch(const Call& call, unsigned, unsigned) {
  return on_link(call, 0, call.board().nvswitch ? call.board().nvlinks : 0);
}
Answer remote_link(const Call& call, unsigned scope, unsigned) {
  return on_link(call, scope, scope);
}
Answer state(const Call& call, unsigned scope, unsigned) {
  return on_link(call, scope, call.model().nvlink_up(scope, call.t()) ? 1 : 0);
}
Answer version(const Call& call, unsigned scope, unsigned) {
  return on_link(call, scope, call.board().nvlink_version);
}
// Whether the link is in its low power state: 0 = at full power.
Answer power_state(const Call& call, unsigned scope, unsigned) {
  if (call.board().architecture < NVML_DEVICE_ARCH_HOPPER) return kNotSupported;
  return on_link(call, scope, 0);
}

// Bytes through one link since the driver was loaded.
double bytes_of(const Call& call, unsigned link, double overhead) {
  constexpr double kShareOfLink = 0.35;  // at full activity
  if (!call.model().nvlink_up(link, call.t())) return 0;
  return call.model().busy_seconds(call.t()) * call.board().nvlink_mbps * 1e6 * kShareOfLink *
         overhead;
}

double bytes_of_scope(const Call& call, unsigned scope, double overhead) {
  if (scope != kAllLinks) return bytes_of(call, scope, overhead);
  double sum = 0;
  for (unsigned link = 0; link < call.board().nvlinks; ++link) {
    sum += bytes_of(call, link, overhead);
  }
  return sum;
}

// KiB: data sent, data received, and the same with what the protocol adds.
Answer traffic(const Call& call, unsigned scope, unsigned nth) {
  constexpr double kProtocol = 1.12;
  const double overhead = nth < 2 ? 1 : kProtocol;
  return on_link(call, scope == kAllLinks ? 0 : scope,
                 bytes_of_scope(call, scope, overhead) / 1024);
}

// Packets sent, bytes sent, packets received, bytes received.
Answer packets(const Call& call, unsigned scope, unsigned nth) {
  if (!fifth_generation(call)) return kNotSupported;
  const double bytes = bytes_of_scope(call, scope, 1);
  return on_link(call, scope == kAllLinks ? 0 : scope,
                 nth % 2 == 0 ? bytes / kBytesInPacket : bytes);
}

// Malformed, overrun, receive errors ...: what the older counters call CRC shows as receive errors.
Answer packet_errors(const Call& call, unsigned scope, unsigned nth) {
  if (!fifth_generation(call)) return kNotSupported;
  constexpr unsigned kReceiveErrors = 2;
  return on_link(call, scope,
                 nth == kReceiveErrors ? errors_of(call, NvlinkCounter::kCrcFlit, scope) : 0);
}

// Recoveries that succeeded, failed, and all.
Answer recoveries(const Call& call, unsigned scope, unsigned nth) {
  if (!fifth_generation(call)) return kNotSupported;
  const bool down = call.model().has_nvlinks() && !call.model().nvlink_up(scope, call.t());
  const double good = errors_of(call, NvlinkCounter::kRecovery, scope);
  const double counts[] = {good, down ? 1.0 : 0.0, good + (down ? 1 : 0)};
  return on_link(call, scope, counts[nth]);
}

Answer symbol_errors(const Call& call, unsigned scope, unsigned) {
  if (!fifth_generation(call)) return kNotSupported;
  return on_link(call, scope, errors_of(call, NvlinkCounter::kCrcData, scope));
}

// A bit error ratio as the driver packs it: mantissa << 8 | negative exponent.
Answer error_ratio(const Call& call, unsigned scope, unsigned) {
  constexpr unsigned kFloor = 15U << 8 | 255;  // 15e-255 stands for none seen
  if (!fifth_generation(call)) return kNotSupported;
  const bool errors = errors_of(call, NvlinkCounter::kCrcData, scope) > 0;
  return on_link(call, scope, errors ? 3U << 8 | 12 : kFloor);
}

// Symbols that were corrected, by how many errors a block had: most blocks had none.
Answer fec_history(const Call& call, unsigned scope, unsigned nth) {
  if (!fifth_generation(call)) return kNotSupported;
  const double blocks = bytes_of(call, scope, 1) / 68;
  return on_link(call, scope, std::floor(blocks / std::pow(1e4, nth)));
}

Answer repeated_blocks(const Call& call, unsigned scope, unsigned nth) {
  if (!fifth_generation(call)) return kNotSupported;
  if (nth == 0) return on_link(call, scope, bytes_of(call, scope, 1) / 68);
  return on_link(call, scope, errors_of(call, NvlinkCounter::kReplay, scope));
}

// Count, state and speed of the links between the chips of one package.
constexpr unsigned kChipLinks = 10;

// State and speed are those of the link that the scope names.
Answer chip_to_chip(const Call& call, unsigned scope, unsigned nth) {
  constexpr unsigned kMegabytesPerSecond = 44712;
  if (call.board().c2c != C2c::kOn) return kNotSupported;
  if (nth > 0 && scope >= kChipLinks) return kInvalid;
  const unsigned facts[] = {kChipLinks, 1, kMegabytesPerSecond};
  return count_of(facts[nth]);
}

Answer chip_to_chip_errors(const Call& call, unsigned scope, unsigned) {
  if (call.board().c2c != C2c::kOn) return kNotSupported;
  return scope < kChipLinks ? count_of(0) : kInvalid;
}

using F = FieldName;
using N = NvlinkCounter;

constexpr Field kFields[] = {
    {F::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0, F::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L5,
     kU64, link_errors<N::kCrcFlit, 0>},
    {F::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL,
     F::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, kU64, link_errors_total<N::kCrcFlit>},
    {F::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L0, F::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L5,
     kU64, link_errors<N::kCrcData, 0>},
    {F::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
     F::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, kU64, link_errors_total<N::kCrcData>},
    {F::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L0, F::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L5, kU64,
     link_errors<N::kReplay, 0>},
    {F::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, F::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
     kU64, link_errors_total<N::kReplay>},
    {F::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L0, F::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L5,
     kU64, link_errors<N::kRecovery, 0>},
    {F::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
     F::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, kU64, link_errors_total<N::kRecovery>},
    {F::NVML_FI_DEV_NVLINK_SPEED_MBPS_L0, F::NVML_FI_DEV_NVLINK_SPEED_MBPS_L5, kU32,
     speed_by_name<0>},
    {F::NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, F::NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, kU32,
     speed_common},
    {F::NVML_FI_DEV_NVLINK_LINK_COUNT, F::NVML_FI_DEV_NVLINK_LINK_COUNT, kU32, link_count},
    {F::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6, F::NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L11,
     kU64, link_errors<N::kCrcFlit, kFirstBlock>},
    {F::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L6, F::NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L11,
     kU64, link_errors<N::kCrcData, kFirstBlock>},
    {F::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L6, F::NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L11,
     kU64, link_errors<N::kReplay, kFirstBlock>},
    {F::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L6, F::NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L11,
     kU64, link_errors<N::kRecovery, kFirstBlock>},
    {F::NVML_FI_DEV_NVLINK_SPEED_MBPS_L6, F::NVML_FI_DEV_NVLINK_SPEED_MBPS_L11, kU32,
     speed_by_name<kFirstBlock>},
    {F::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, F::NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX, kU64,
     traffic},
    {F::NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID, F::NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID, kU32,
     remote_link},
    {F::NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT, F::NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT,
     kU32, links_to_switch},
    {F::NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L0, F::NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L11,
     kU64, link_errors<N::kEcc, 0>},
    {F::NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL,
     F::NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL, kU64, link_errors_total<N::kEcc>},
    {F::NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY, F::NVML_FI_DEV_NVLINK_ERROR_DL_CRC, kU64,
     data_link_errors},
    {F::NVML_FI_DEV_NVLINK_GET_SPEED, F::NVML_FI_DEV_NVLINK_GET_SPEED, kU32, speed_by_scope},
    {F::NVML_FI_DEV_NVLINK_GET_STATE, F::NVML_FI_DEV_NVLINK_GET_STATE, kU32, state},
    {F::NVML_FI_DEV_NVLINK_GET_VERSION, F::NVML_FI_DEV_NVLINK_GET_VERSION, kU32, version},
    {F::NVML_FI_DEV_NVLINK_GET_POWER_STATE, F::NVML_FI_DEV_NVLINK_GET_POWER_STATE, kU32,
     power_state},
    {F::NVML_FI_DEV_C2C_LINK_COUNT, F::NVML_FI_DEV_C2C_LINK_GET_MAX_BW, kU32, chip_to_chip},
    {F::NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS, F::NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES, kU64,
     packets},
    {F::NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS, F::NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS,
     kU64, packet_errors},
    {F::NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS,
     F::NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS, kU64, recoveries},
    {F::NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS, F::NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS,
     kU64, symbol_errors},
    {F::NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER, F::NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER, kU64,
     error_ratio},
    {F::NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS, F::NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS, kU64,
     symbol_errors},
    {F::NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER, F::NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER, kU64,
     error_ratio},
    {F::NVML_FI_DEV_C2C_LINK_ERROR_INTR, F::NVML_FI_DEV_C2C_LINK_POWER_STATE, kU32,
     chip_to_chip_errors},
    {F::NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_0, F::NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_15, kU64,
     fec_history},
    {F::NVML_FI_DEV_NVLINK_PLR_XMIT_BLOCKS, F::NVML_FI_DEV_NVLINK_PLR_XMIT_RETRY_BLOCKS, kU64,
     repeated_blocks},
};

}  // namespace

std::span<const Field> link_fields() { return kFields; }

}  // namespace gpusight::sim
