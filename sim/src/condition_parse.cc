// The keys of conditions in a [[fault]] table.
#include "conditions.h"
#include "toml_reader.h"

namespace gpusight::sim {
namespace {

unsigned word(TomlReader& table, const char* key, std::size_t fallback,
              const std::vector<std::string>& words) {
  return static_cast<unsigned>(table.choice(key, fallback, words));
}

// How many there are at once, and how many more each second.
void read_amount(TomlReader& table, Fault& fault, double at_once) {
  fault.per_second = table.number("per_second", 0, 0, 1e9);
  fault.amount = static_cast<double>(table.integer(
      "count", fault.per_second > 0 ? 0 : static_cast<std::int64_t>(at_once), 0, 1LL << 40));
}

void read_part(TomlReader& table, Fault& fault, const char* key, std::int64_t most) {
  if (table.has(key)) fault.part = static_cast<unsigned>(table.integer(key, 0, 0, most));
}

void read_ecc(TomlReader& table, Fault& fault) {
  fault.what = word(table, "location", 2,
                    {"l1", "l2", "dram", "register", "texture", "texture_shm", "cbu", "sram"});
  fault.code = word(table, "error", 0, {"corrected", "uncorrected"});
  fault.part = word(table, "unit", 0, {"l2", "sm", "pcie", "mcu", "other"});
  fault.failed = table.boolean("parity", false);
  fault.pending = table.boolean("earlier", false);
  read_amount(table, fault, 1);
}

void read_throttle(TomlReader& table, Fault& fault) {
  // The driver's bits, in its order.
  const unsigned bits[] = {0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80, 0x100};
  const std::size_t reason =
      table.choice("reason", 2,
                   {"application_clocks", "sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal",
                    "hw_thermal", "hw_power_brake", "display_clocks"});
  fault.what = bits[reason];
  fault.clocks = table.number("clocks", 0.5, 0.01, 1);
}

// The mask of the fabric's health: two bits for each trouble, 1 = there, 2 = not there.
void read_fabric(TomlReader& table, Fault& fault) {
  fault.what =
      word(table, "state", 3, {"not_supported", "not_started", "in_progress", "completed"});
  fault.code = static_cast<unsigned>(table.integer("status", 0, 0, 999));
  const std::vector<std::string> troubles = {"degraded_bandwidth", "route_recovery",
                                             "route_unhealthy", "access_timeout_recovery"};
  if (table.has("trouble")) fault.part = word(table, "trouble", 0, troubles) * 2;
}

}  // namespace

void read_condition(TomlReader& table, Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kEccErrors: return read_ecc(table, fault);
    case FaultKind::kRetiredPages:
      fault.what = word(table, "cause", 1, {"single_bit", "double_bit"});
      fault.pending = table.boolean("pending", false);
      return read_amount(table, fault, 1);
    case FaultKind::kRemappedRows:
      fault.what = word(table, "error", 1, {"corrected", "uncorrected"});
      fault.pending = table.boolean("pending", false);
      fault.failed = table.boolean("failed", false);
      return read_amount(table, fault, 1);
    case FaultKind::kNvlinkErrors:
      fault.what = word(table, "counter", 2, {"replay", "recovery", "crc_flit", "crc_data", "ecc"});
      read_part(table, fault, "link", 35);
      return read_amount(table, fault, 1);
    case FaultKind::kNvlinkDown: return read_part(table, fault, "link", 35);
    case FaultKind::kPcieErrors:
      fault.what = word(
          table, "counter", 0,
          {"replay", "rollover", "correctable", "naks_received", "receiver", "bad_tlp", "naks_sent",
           "bad_dllp", "non_fatal", "fatal", "unsupported", "lcrc", "lane", "recovery"});
      return read_amount(table, fault, 1);
    case FaultKind::kPcieLink:
      fault.what = static_cast<unsigned>(table.integer("generation", 0, 1, 6));
      fault.amount = static_cast<double>(table.integer("width", 0, 1, 16));
      return;
    case FaultKind::kThrottle: return read_throttle(table, fault);
    case FaultKind::kOverheat:
      fault.amount = table.number("degrees", 20, 0, 200);
      fault.per_second = table.number("degrees_per_second", 0, 0, 100);
      return;
    case FaultKind::kFanStopped: return read_part(table, fault, "fan", 7);
    case FaultKind::kPowerSource:
      fault.what = word(table, "source", 1, {"ac", "battery", "undersized"});
      return;
    case FaultKind::kRecoveryAction:
      fault.what = word(table, "action", 1,
                        {"none", "reset", "reboot", "drain_p2p", "drain_and_reset", "imex_domain"});
      return;
    case FaultKind::kFabric: return read_fabric(table, fault);
    case FaultKind::kBadSamples:
      fault.what = word(table, "how", 0, {"garbage", "future", "stale"});
      return;
    default: return;
  }
}

}  // namespace gpusight::sim
