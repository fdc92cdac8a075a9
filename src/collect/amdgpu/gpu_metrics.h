// gpu_metrics: the table of readings that the firmware of AMD GPUs keeps and amdgpu hands out as
// bytes. Its header says which of many layouts it has; a layout that is not known is not guessed.
// Pure functions over bytes from outside: nothing is trusted, nothing is read past the end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace gpusight::collect::amdgpu {

// What a table can hold, in SI units. Of an array, as of memory stacks, each element stands alone.
enum class MetricField : uint8_t {
  kTemperatureEdge,  // °C; of an APU its graphics part
  kTemperatureHotspot,
  kTemperatureMemory,
  kTemperatureVrGfx,
  kTemperatureVrSoc,
  kTemperatureVrMemory,
  kTemperatureSoc,
  kTemperatureSkin,
  kTemperatureHbm,  // array
  kGfxActivity,     // ratio; not of layout 3.0, whose unit differs between firmwares
  kMemoryActivity,
  kMediaActivity,  // array of video engines
  kJpegActivity,   // array
  kSocketPower,    // W
  kCpuPower,
  kSocPower,
  kGfxPower,
  kEnergy,       // J since the driver was loaded; 0 is how some firmware says that it has none
  kClockGfx,     // Hz now, else the average; array of chiplets
  kClockSoc,     // array
  kClockMemory,  // array
  kClockFabric,
  kClockVideo,   // array
  kClockDecode,  // array
  kFanRpm,
  kVoltageSoc,  // V
  kVoltageGfx,
  kVoltageMemory,
  kAccumulation,  // count of the firmware's rounds; the residencies below count some of them
  kResidencyProchot,
  kResidencyPower,
  kResidencySocketThermal,
  kResidencyVrThermal,
  kResidencyHbmThermal,
  kPcieRecoveries,
  kPcieReplays,
  kPcieReplayRollovers,
  kCount,
};
inline constexpr size_t kMetricFieldCount = static_cast<size_t>(MetricField::kCount);

// Most elements that are kept of an array.
inline constexpr size_t kMostElements = 40;

class GpuMetrics {
 public:
  uint8_t format = 0;   // 1: boards, 2 and 3: APUs
  uint8_t content = 0;  // 3 of "1.3"
  // Why clocks are held down, one bit a reason (throttle_classes.h); nullopt: not told.
  std::optional<uint64_t> throttle;

  // nullopt: the layout has no such field, or the firmware no such reading. Of an array the first.
  std::optional<double> number(MetricField field) const;
  // Of an array those elements that have a reading, with their places.
  struct Element {
    uint8_t index;
    double number;
  };
  std::span<const Element> elements(MetricField field) const;
  std::optional<double> highest(MetricField field) const;

 private:
  friend Result<GpuMetrics> parse_gpu_metrics(std::string_view bytes);
  void add(MetricField field, uint8_t index, double number);

  static constexpr size_t kMostReadings = 160;
  struct Span {
    uint8_t begin = 0;
    uint8_t count = 0;
  };
  std::array<Span, kMetricFieldCount> spans_{};
  std::array<Element, kMostReadings> readings_{};
  size_t size_ = 0;
};

// kUnsupported: a layout that is not known, named in the message. kCorrupt: too short for what its
// header says. More bytes than the layout has are ignored: a newer driver may append to it.
Result<GpuMetrics> parse_gpu_metrics(std::string_view bytes);

}  // namespace gpusight::collect::amdgpu
