#include "collect/nvml/field_tables.h"

#include <algorithm>
#include <array>
#include <string>

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;

constexpr double kMilli = 0.001;
constexpr double kNano = 1e-9;
constexpr double kKibi = 1024;
constexpr double kMega = 1e6;

// Power has one field for each of its parts, which stands in the scope.
constexpr uint32_t kScopeModule = 1;
constexpr uint32_t kScopeMemory = 2;
// Older drivers have the field and no scopes, and could take any for the board's.
constexpr DriverAges kModuleScope{.first = {535, 43, 2}};
constexpr DriverAges kMemoryScope{.first = {545, 23, 6}};

// The numbers of these moved by eighteen with 580.82.07.
constexpr DriverAges kBeforeMove{{575, 51, 2}, {580, 82, 7}};
constexpr DriverAges kAfterMove{.first = {580, 82, 7}};

// These came to the branches apart.
constexpr DriverAges kInactiveRemaps580{{580, 159, 3}, {590, 0, 0}};
constexpr DriverAges kInactiveRemaps595{.first = {595, 71, 5}};

// clang-format off
constexpr FieldRow kFast[] = {
    {kFieldMemoryTemperature, kGpuMemoryTemperature},
    {kFieldEnergy, kGpuEnergy, kMilli},
    {kFieldPowerAverage, kGpuPowerAverage, kMilli},
    {kFieldPowerInstant, kGpuPowerInstant, kMilli},
    {kFieldPowerInstant, kGpuModulePower, kMilli, {}, kScopeModule, kModuleScope},
    {kFieldPowerAverage, kGpuModulePower, kMilli, {}, kScopeModule, kModuleScope},
    {kFieldPowerInstant, kGpuMemoryPower, kMilli, {}, kScopeMemory, kMemoryScope},
    {kFieldPowerAverage, kGpuMemoryPower, kMilli, {}, kScopeMemory, kMemoryScope},
    {.id = 197, .metric = kGpuPcieTransmit, .width = FieldWidth::k64Bits},
    {.id = 198, .metric = kGpuPcieReceive, .width = FieldWidth::k64Bits},
};

constexpr FieldRow kSlow[] = {
    {190, kGpuPowerLimit, kMilli}, {192, kGpuPowerLimitRequested, kMilli},
    {189, kGpuPowerLimitDefault, kMilli}, {187, kGpuPowerLimitLowest, kMilli},
    {188, kGpuPowerLimitHighest, kMilli},

    {193, kGpuTemperatureMarginThreshold, 1, "shutdown"},
    {194, kGpuTemperatureMarginThreshold, 1, "slowdown"},
    {195, kGpuTemperatureMarginThreshold, 1, "memory_max"},
    {196, kGpuTemperatureMarginThreshold, 1, "gpu_max"},

    {74, kGpuThrottleSeconds, kNano, "sw_power_cap"}, {76, kGpuThrottleSeconds, kNano, "sync_boost"},
    {.id = 251, .metric = kGpuThrottleSeconds, .unit = kNano, .label = "sw_thermal", .ages = kBeforeMove},
    {.id = 252, .metric = kGpuThrottleSeconds, .unit = kNano, .label = "hw_thermal", .ages = kBeforeMove},
    {.id = 253, .metric = kGpuThrottleSeconds, .unit = kNano, .label = "hw_power_brake", .ages = kBeforeMove},
    {.id = 269, .metric = kGpuThrottleSeconds, .unit = kNano, .label = "sw_thermal", .ages = kAfterMove},
    {.id = 270, .metric = kGpuThrottleSeconds, .unit = kNano, .label = "hw_thermal", .ages = kAfterMove},
    {.id = 271, .metric = kGpuThrottleSeconds, .unit = kNano, .label = "hw_power_brake", .ages = kAfterMove},

    {74, kGpuViolationSeconds, kNano, "power"}, {75, kGpuViolationSeconds, kNano, "thermal"},
    {76, kGpuViolationSeconds, kNano, "sync_boost"}, {77, kGpuViolationSeconds, kNano, "board_limit"},
    {78, kGpuViolationSeconds, kNano, "low_utilization"}, {79, kGpuViolationSeconds, kNano, "reliability"},
    {80, kGpuViolationSeconds, kNano, "application_clocks"}, {81, kGpuViolationSeconds, kNano, "base_clocks"},

    {94, kGpuPcieReplays}, {95, kGpuPcieReplayRollovers}, {169, kGpuPcieRecoveries},
    {173, kGpuPcieErrors, 1, "correctable"}, {174, kGpuPcieErrors, 1, "naks_received"},
    {175, kGpuPcieErrors, 1, "receiver"}, {176, kGpuPcieErrors, 1, "bad_tlp"},
    {177, kGpuPcieErrors, 1, "naks_sent"}, {178, kGpuPcieErrors, 1, "bad_dllp"},
    {179, kGpuPcieErrors, 1, "non_fatal"}, {180, kGpuPcieErrors, 1, "fatal"},
    {181, kGpuPcieErrors, 1, "unsupported_request"}, {182, kGpuPcieErrors, 1, "lcrc"},
    {183, kGpuPcieErrors, 1, "lane"},

    {1, kGpuEccMode}, {2, kGpuEccModePending},
    {3, kGpuEccVolatileCorrected}, {4, kGpuEccVolatileUncorrected},
    {5, kGpuEccAggregateCorrected}, {6, kGpuEccAggregateUncorrected},
    {7, kGpuEccVolatileCorrectedAt, 1, "l1_cache"}, {8, kGpuEccVolatileUncorrectedAt, 1, "l1_cache"},
    {9, kGpuEccVolatileCorrectedAt, 1, "l2_cache"}, {10, kGpuEccVolatileUncorrectedAt, 1, "l2_cache"},
    {11, kGpuEccVolatileCorrectedAt, 1, "dram"}, {12, kGpuEccVolatileUncorrectedAt, 1, "dram"},
    {13, kGpuEccVolatileCorrectedAt, 1, "register_file"}, {14, kGpuEccVolatileUncorrectedAt, 1, "register_file"},
    {15, kGpuEccVolatileCorrectedAt, 1, "texture_memory"}, {16, kGpuEccVolatileUncorrectedAt, 1, "texture_memory"},
    {17, kGpuEccVolatileUncorrectedAt, 1, "cbu"},
    {18, kGpuEccAggregateCorrectedAt, 1, "l1_cache"}, {19, kGpuEccAggregateUncorrectedAt, 1, "l1_cache"},
    {20, kGpuEccAggregateCorrectedAt, 1, "l2_cache"}, {21, kGpuEccAggregateUncorrectedAt, 1, "l2_cache"},
    {22, kGpuEccAggregateCorrectedAt, 1, "dram"}, {23, kGpuEccAggregateUncorrectedAt, 1, "dram"},
    {24, kGpuEccAggregateCorrectedAt, 1, "register_file"}, {25, kGpuEccAggregateUncorrectedAt, 1, "register_file"},
    {26, kGpuEccAggregateCorrectedAt, 1, "texture_memory"}, {27, kGpuEccAggregateUncorrectedAt, 1, "texture_memory"},
    {28, kGpuEccAggregateUncorrectedAt, 1, "cbu"},
    {29, kGpuRetiredPagesCorrected}, {30, kGpuRetiredPagesUncorrected}, {31, kGpuRetiredPagesPending},
    {142, kGpuRemappedRowsCorrected}, {143, kGpuRemappedRowsUncorrected},
    {144, kGpuRemappedRowsPending}, {145, kGpuRemappedRowsFailure},
    {.id = 301, .metric = kGpuRemappedRowsInactive, .label = "corrected", .ages = kInactiveRemaps580},
    {.id = 302, .metric = kGpuRemappedRowsInactive, .label = "uncorrected", .ages = kInactiveRemaps580},
    {.id = 301, .metric = kGpuRemappedRowsInactive, .label = "corrected", .ages = kInactiveRemaps595},
    {.id = 302, .metric = kGpuRemappedRowsInactive, .label = "uncorrected", .ages = kInactiveRemaps595},
    {230, kGpuRecoveryAction},
};

// Of one link, which stands in the scope. Traffic of NVLink 5 has counters of its own.
constexpr FieldRow kOfALink[] = {
    {165, kGpuNvlinkState}, {166, kGpuNvlinkVersion}, {164, kGpuNvlinkSpeed, kMega},
    {202, kGpuNvlinkTransmit}, {204, kGpuNvlinkReceive},
    {138, kGpuNvlinkTransmit, kKibi}, {139, kGpuNvlinkReceive, kKibi},
    {161, kGpuNvlinkReplays}, {162, kGpuNvlinkRecoveries}, {163, kGpuNvlinkCrcErrors},
    {213, kGpuNvlinkRecoveries}, {214, kGpuNvlinkFailedRecoveries},
    {208, kGpuNvlinkReceiveErrors}, {221, kGpuNvlinkSymbolErrors}, {219, kGpuNvlinkEffectiveErrors},
    {.id = 222, .metric = kGpuNvlinkSymbolErrorRatio, .packing = FieldPacking::kErrorRatio},
    {.id = 220, .metric = kGpuNvlinkEffectiveErrorRatio, .packing = FieldPacking::kErrorRatio},
    {167, kGpuNvlinkPowerState},
};

// Of one link each, of which the sum is told: a label more, and the series would be too many.
constexpr FieldRow kSummed[] = {
    {206, kGpuNvlinkPacketErrors, 1, "malformed"}, {207, kGpuNvlinkPacketErrors, 1, "overrun"},
    {209, kGpuNvlinkPacketErrors, 1, "remote"}, {210, kGpuNvlinkPacketErrors, 1, "header"},
    {211, kGpuNvlinkPacketErrors, 1, "integrity"}, {212, kGpuNvlinkPacketErrors, 1, "discarded"},
    {235, kGpuNvlinkFecBlocks, 1, "0"}, {236, kGpuNvlinkFecBlocks, 1, "1"},
    {237, kGpuNvlinkFecBlocks, 1, "2"}, {238, kGpuNvlinkFecBlocks, 1, "3"},
    {239, kGpuNvlinkFecBlocks, 1, "4"}, {240, kGpuNvlinkFecBlocks, 1, "5"},
    {241, kGpuNvlinkFecBlocks, 1, "6"}, {242, kGpuNvlinkFecBlocks, 1, "7"},
    {243, kGpuNvlinkFecBlocks, 1, "8"}, {244, kGpuNvlinkFecBlocks, 1, "9"},
    {245, kGpuNvlinkFecBlocks, 1, "10"}, {246, kGpuNvlinkFecBlocks, 1, "11"},
    {247, kGpuNvlinkFecBlocks, 1, "12"}, {248, kGpuNvlinkFecBlocks, 1, "13"},
    {249, kGpuNvlinkFecBlocks, 1, "14"}, {250, kGpuNvlinkFecBlocks, 1, "15"},
};

// Of a link between the chips of one package.
constexpr FieldRow kOfAChipLink[] = {
    {171, kGpuC2cState}, {172, kGpuC2cSpeed, kMega}, {231, kGpuC2cCrcErrors},
    {232, kGpuC2cReplays}, {233, kGpuC2cRepeatedReplays}, {234, kGpuC2cPowerState},
};

// Before 520 a field belonged to a link itself: numbers of links 0 to 5, then of 6 to 11.
struct PerLink {
  uint32_t first;
  uint32_t seventh;
  catalog::MetricId metric;
  double unit = 1;
};
constexpr PerLink kByNumber[] = {
    {84, 132, kGpuNvlinkSpeed, kMega}, {32, 96, kGpuNvlinkCrcErrors},
    {39, 102, kGpuNvlinkCrcDataErrors}, {46, 108, kGpuNvlinkReplays},
    {53, 114, kGpuNvlinkRecoveries}, {148, 154, kGpuNvlinkEccErrors},
};
// clang-format on
constexpr unsigned kNumberedLinks = 12;

// The rows once for each link.
std::vector<FieldRow> for_each_link(std::span<const FieldRow> rows, unsigned links) {
  std::vector<FieldRow> all;
  for (unsigned link = 0; link < std::min(links, kMostLinks); ++link) {
    for (FieldRow row : rows) {
      row.scope = link;
      row.label = link_label(link);
      all.push_back(row);
    }
  }
  return all;
}

}  // namespace

std::string_view link_label(unsigned link) {
  static const std::array<std::string, kMostLinks> kLabels = [] {
    std::array<std::string, kMostLinks> labels;
    for (unsigned i = 0; i < kMostLinks; ++i) labels[i] = std::to_string(i);
    return labels;
  }();
  return kLabels[link];
}

std::vector<FieldRow> fast_fields() { return {std::begin(kFast), std::end(kFast)}; }
std::vector<FieldRow> slow_fields() { return {std::begin(kSlow), std::end(kSlow)}; }

unsigned link_count(const Reading& count) {
  if (!count.ok() || !(count.number > 0)) return 0;
  return static_cast<unsigned>(std::min<double>(count.number, kMostLinks));
}

std::vector<FieldRow> pcie_byte_fields() {
  std::vector<FieldRow> rows = fast_fields();
  std::erase_if(rows, [](const FieldRow& row) {
    return row.metric != kGpuPcieTransmit && row.metric != kGpuPcieReceive;
  });
  return rows;
}

std::vector<FieldRow> wanted(std::vector<FieldRow> rows, const catalog::MetricSet& disabled) {
  std::erase_if(rows, [&](const FieldRow& row) { return disabled.has(row.metric); });
  return rows;
}

std::vector<FieldRow> link_fields(unsigned links) {
  std::vector<FieldRow> rows = for_each_link(kOfALink, links);
  for (unsigned link = 0; link < std::min(links, kNumberedLinks); ++link) {
    for (const PerLink& numbered : kByNumber) {
      rows.push_back({link < 6 ? numbered.first + link : numbered.seventh + link - 6,
                      numbered.metric, numbered.unit, link_label(link)});
    }
  }
  return rows;
}

std::vector<FieldRow> link_sum_fields(unsigned links) {
  std::vector<FieldRow> rows;
  for (const FieldRow& summed : kSummed) {
    for (unsigned link = 0; link < std::min(links, kMostLinks); ++link) {
      rows.push_back(summed);
      rows.back().scope = link;
    }
  }
  return rows;
}

std::vector<FieldRow> c2c_fields(unsigned links) { return for_each_link(kOfAChipLink, links); }

}  // namespace gpusight::collect::nvml
