#include "collect/amdgpu/gpu_metrics_layout.h"

#include <algorithm>

namespace gpusight::collect::amdgpu {
namespace {

using enum MetricField;

constexpr double kMega = 1e6;
constexpr double kCenti = 0.01;
constexpr double kMilli = 0.001;
constexpr double kEnergyUnit = 1.0 / 65536;  // 15.259 µJ

// clang-format off
constexpr FieldRow kV10[] = {
    {kTemperatureEdge, 2, 16},
    {kTemperatureHotspot, 2, 18},
    {kTemperatureMemory, 2, 20},
    {kTemperatureVrGfx, 2, 22},
    {kTemperatureVrSoc, 2, 24},
    {kTemperatureVrMemory, 2, 26},
    {kGfxActivity, 2, 28, 1, kCenti},
    {kMemoryActivity, 2, 30, 1, kCenti},
    {kMediaActivity, 2, 32, 1, kCenti},
    {kSocketPower, 2, 34},
    {kEnergy, 4, 36, 1, kEnergyUnit},
    {kClockGfx, 2, 54, 1, kMega},
    {kClockSoc, 2, 56, 1, kMega},
    {kClockMemory, 2, 58, 1, kMega},
    {kClockVideo, 2, 60, 1, kMega},
    {kClockDecode, 2, 62, 1, kMega},
    {kFanRpm, 2, 72},
};
// Of 1.1 to 1.3, which each only append to the one before.
constexpr FieldRow kV11[] = {
    {kTemperatureEdge, 2, 4},
    {kTemperatureHotspot, 2, 6},
    {kTemperatureMemory, 2, 8},
    {kTemperatureVrGfx, 2, 10},
    {kTemperatureVrSoc, 2, 12},
    {kTemperatureVrMemory, 2, 14},
    {kGfxActivity, 2, 16, 1, kCenti},
    {kMemoryActivity, 2, 18, 1, kCenti},
    {kMediaActivity, 2, 20, 1, kCenti},
    {kSocketPower, 2, 22},
    {kEnergy, 8, 24, 1, kEnergyUnit},
    {kClockGfx, 2, 54, 1, kMega},
    {kClockSoc, 2, 56, 1, kMega},
    {kClockMemory, 2, 58, 1, kMega},
    {kClockVideo, 2, 60, 1, kMega},
    {kClockDecode, 2, 62, 1, kMega},
    {kFanRpm, 2, 72},
    {kTemperatureHbm, 2, 88, 4},
};
constexpr FieldRow kMore13[] = {
    {kVoltageSoc, 2, 104, 1, kMilli},
    {kVoltageGfx, 2, 106, 1, kMilli},
    {kVoltageMemory, 2, 108, 1, kMilli},
};
constexpr FieldRow kV14[] = {
    {kTemperatureHotspot, 2, 4},
    {kTemperatureMemory, 2, 6},
    {kTemperatureVrSoc, 2, 8},
    {kSocketPower, 2, 10},
    {kGfxActivity, 2, 12, 1, kCenti},
    {kMemoryActivity, 2, 14, 1, kCenti},
    {kMediaActivity, 2, 16, 4, kCenti},
    {kEnergy, 8, 24, 1, kEnergyUnit},
    {kPcieRecoveries, 8, 80},
    {kPcieReplays, 8, 88},
    {kPcieReplayRollovers, 8, 96},
    {kClockGfx, 2, 240, 8, kMega},
    {kClockSoc, 2, 256, 4, kMega},
    {kClockVideo, 2, 264, 4, kMega},
    {kClockDecode, 2, 272, 4, kMega},
    {kClockMemory, 2, 280, 1, kMega},
};
constexpr FieldRow kV15[] = {
    {kTemperatureHotspot, 2, 4},
    {kTemperatureMemory, 2, 6},
    {kTemperatureVrSoc, 2, 8},
    {kSocketPower, 2, 10},
    {kGfxActivity, 2, 12, 1, kCenti},
    {kMemoryActivity, 2, 14, 1, kCenti},
    {kMediaActivity, 2, 16, 4, kCenti},
    {kJpegActivity, 2, 24, 32, kCenti},
    {kEnergy, 8, 88, 1, kEnergyUnit},
    {kPcieRecoveries, 8, 144},
    {kPcieReplays, 8, 152},
    {kPcieReplayRollovers, 8, 160},
    {kClockGfx, 2, 312, 8, kMega},
    {kClockSoc, 2, 328, 4, kMega},
    {kClockVideo, 2, 336, 4, kMega},
    {kClockDecode, 2, 344, 4, kMega},
    {kClockMemory, 2, 352, 1, kMega},
};
constexpr FieldRow kV16[] = {
    {kTemperatureHotspot, 2, 4},
    {kTemperatureMemory, 2, 6},
    {kTemperatureVrSoc, 2, 8},
    {kSocketPower, 2, 10},
    {kGfxActivity, 2, 12, 1, kCenti},
    {kMemoryActivity, 2, 14, 1, kCenti},
    {kEnergy, 8, 16, 1, kEnergyUnit},
    {kAccumulation, 4, 32},
    {kResidencyProchot, 4, 36},
    {kResidencyPower, 4, 40},
    {kResidencySocketThermal, 4, 44},
    {kResidencyVrThermal, 4, 48},
    {kResidencyHbmThermal, 4, 52},
    {kPcieRecoveries, 8, 96},
    {kPcieReplays, 8, 104},
    {kPcieReplayRollovers, 8, 112},
    {kClockGfx, 2, 264, 8, kMega},
    {kClockSoc, 2, 280, 4, kMega},
    {kClockVideo, 2, 288, 4, kMega},
    {kClockDecode, 2, 296, 4, kMega},
    {kClockMemory, 2, 304, 1, kMega},
};
// Of 1.7 and 1.8, which differ in what they tell of partitions.
constexpr FieldRow kV17[] = {
    {kTemperatureHotspot, 2, 4},
    {kTemperatureMemory, 2, 6},
    {kTemperatureVrSoc, 2, 8},
    {kSocketPower, 2, 10},
    {kGfxActivity, 2, 12, 1, kCenti},
    {kMemoryActivity, 2, 14, 1, kCenti},
    {kEnergy, 8, 24, 1, kEnergyUnit},
    {kAccumulation, 4, 40},
    {kResidencyProchot, 4, 44},
    {kResidencyPower, 4, 48},
    {kResidencySocketThermal, 4, 52},
    {kResidencyVrThermal, 4, 56},
    {kResidencyHbmThermal, 4, 60},
    {kPcieRecoveries, 8, 104},
    {kPcieReplays, 8, 112},
    {kPcieReplayRollovers, 8, 120},
    {kClockGfx, 2, 296, 8, kMega},
    {kClockSoc, 2, 312, 4, kMega},
    {kClockVideo, 2, 320, 4, kMega},
    {kClockDecode, 2, 328, 4, kMega},
    {kClockMemory, 2, 336, 1, kMega},
};
constexpr FieldRow kV20[] = {
    {kTemperatureEdge, 2, 16, 1, kCenti},
    {kTemperatureSoc, 2, 18, 1, kCenti},
    {kGfxActivity, 2, 40, 1, kCenti * kCenti},
    {kMediaActivity, 2, 42, 1, kCenti * kCenti},
    {kSocketPower, 2, 44, 1, kMilli},
    {kCpuPower, 2, 46, 1, kMilli},
    {kSocPower, 2, 48, 1, kMilli},
    {kGfxPower, 2, 50, 1, kMilli},
    {kClockGfx, 2, 80, 1, kMega},
    {kClockSoc, 2, 82, 1, kMega},
    {kClockMemory, 2, 84, 1, kMega},
    {kClockFabric, 2, 86, 1, kMega},
    {kClockVideo, 2, 88, 1, kMega},
    {kClockDecode, 2, 90, 1, kMega},
};
// Of 2.1 to 2.4.
constexpr FieldRow kV21[] = {
    {kTemperatureEdge, 2, 4, 1, kCenti},
    {kTemperatureSoc, 2, 6, 1, kCenti},
    {kGfxActivity, 2, 28, 1, kCenti * kCenti},
    {kMediaActivity, 2, 30, 1, kCenti * kCenti},
    {kSocketPower, 2, 40, 1, kMilli},
    {kCpuPower, 2, 42, 1, kMilli},
    {kSocPower, 2, 44, 1, kMilli},
    {kGfxPower, 2, 46, 1, kMilli},
    {kClockGfx, 2, 76, 1, kMega},
    {kClockSoc, 2, 78, 1, kMega},
    {kClockMemory, 2, 80, 1, kMega},
    {kClockFabric, 2, 82, 1, kMega},
    {kClockVideo, 2, 84, 1, kMega},
    {kClockDecode, 2, 86, 1, kMega},
};
constexpr FieldRow kMore24[] = {
    {kVoltageSoc, 2, 154, 1, kMilli},
    {kVoltageGfx, 2, 156, 1, kMilli},
};
constexpr FieldRow kV30[] = {
    {kTemperatureEdge, 2, 4, 1, kCenti},
    {kTemperatureSoc, 2, 6, 1, kCenti},
    {kTemperatureSkin, 2, 40, 1, kCenti},
    {kMediaActivity, 2, 44, 1, kCenti * kCenti},
    {kSocketPower, 4, 112, 1, kMilli},
    {kGfxPower, 4, 124, 1, kMilli},
    {kCpuPower, 4, 132, 1, kMilli},
    {kClockGfx, 2, 174, 1, kMega},
    {kClockSoc, 2, 176, 1, kMega},
    {kClockFabric, 2, 182, 1, kMega},
    {kClockVideo, 2, 184, 1, kMega},
    {kClockMemory, 2, 186, 1, kMega},
};

constexpr Layout kLayouts[] = {
    {1, 0, 80, 0, kV10},
    {1, 1, 96, 0, kV11},
    {1, 2, 104, 0, kV11},
    {1, 3, 120, 112, kV11, kMore13},
    {1, 4, 288, 0, kV14},
    {1, 5, 360, 0, kV15},
    {1, 6, 1664, 0, kV16},
    {1, 7, 2208, 0, kV17},
    {1, 8, 3872, 0, kV17},
    {2, 0, 120, 0, kV20},
    {2, 1, 120, 0, kV21},
    {2, 2, 128, 120, kV21},
    {2, 3, 152, 120, kV21},
    {2, 4, 168, 120, kV21, kMore24},
    {3, 0, 264, 0, kV30},
};
// clang-format on

consteval bool rows_lie_inside() {
  for (const Layout& layout : kLayouts) {
    for (const auto rows : {layout.rows, layout.more_rows}) {
      for (const FieldRow& row : rows) {
        if (row.offset + row.bytes * row.count > layout.size || row.count > kMostElements)
          return false;
      }
    }
    if (layout.throttle_offset + 8 > layout.size) return false;
  }
  return true;
}
static_assert(rows_lie_inside());

}  // namespace

std::span<const Layout> layouts() { return kLayouts; }

const Layout* find_layout(uint8_t format, uint8_t content) {
  const auto* const at = std::ranges::find_if(kLayouts, [&](const Layout& layout) {
    return layout.format == format && layout.content == content;
  });
  return at == std::end(kLayouts) ? nullptr : at;
}

}  // namespace gpusight::collect::amdgpu
