#include "collect/amdgpu/gpu_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpusight::collect::amdgpu {
namespace {

using enum MetricField;

// A table as a driver hands it out: all ones but for the header and what was put.
class Table {
 public:
  Table(unsigned format, unsigned content, size_t size) : bytes_(size, '\xff') {
    put(0, size, 2).put(2, format, 1).put(3, content, 1);
  }
  Table& put(size_t offset, uint64_t number, size_t width) {
    for (size_t i = 0; i < width; ++i) bytes_.at(offset + i) = static_cast<char>(number >> (8 * i));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Where some fields stand in each revision, by the kernel's structs; written down apart from the
// table under test.
struct Place {
  MetricField field;
  size_t offset;
  size_t width;
  uint64_t raw;
  double number;
};
struct Revision {
  unsigned format;
  unsigned content;
  size_t size;
  size_t throttle;  // 0: none
  std::vector<Place> places;
};

const std::vector<Revision>& revisions() {
  static const std::vector<Place> kV11 = {
      {kTemperatureEdge, 4, 2, 56, 56},   {kTemperatureHotspot, 6, 2, 59, 59},
      {kTemperatureMemory, 8, 2, 54, 54}, {kTemperatureVrGfx, 10, 2, 49, 49},
      {kGfxActivity, 16, 2, 3, 0.03},     {kMemoryActivity, 18, 2, 7, 0.07},
      {kSocketPower, 22, 2, 36, 36},      {kEnergy, 24, 8, uint64_t{65536} * 5, 5},
      {kClockGfx, 54, 2, 500, 500e6},     {kClockMemory, 58, 2, 1000, 1e9},
      {kClockDecode, 62, 2, 12, 12e6},    {kFanRpm, 72, 2, 1200, 1200},
      {kTemperatureHbm, 88, 2, 61, 61},
  };
  static const std::vector<Place> kV21 = {
      {kTemperatureEdge, 4, 2, 2500, 25}, {kTemperatureSoc, 6, 2, 2737, 27.37},
      {kGfxActivity, 28, 2, 79, 0.0079},  {kMediaActivity, 30, 2, 10000, 1},
      {kSocketPower, 40, 2, 3401, 3.401}, {kCpuPower, 42, 2, 1000, 1},
      {kSocPower, 44, 2, 743, 0.743},     {kGfxPower, 46, 2, 585, 0.585},
      {kClockGfx, 76, 2, 800, 800e6},     {kClockFabric, 82, 2, 400, 400e6},
      {kClockVideo, 84, 2, 90, 90e6},
  };
  static const auto kV17 = std::vector<Place>{
      {kTemperatureHotspot, 4, 2, 71, 71}, {kSocketPower, 10, 2, 750, 750},
      {kEnergy, 24, 8, 65536, 1},          {kAccumulation, 40, 4, 1000, 1000},
      {kResidencyProchot, 44, 4, 1, 1},    {kResidencyPower, 48, 4, 2, 2},
      {kResidencyHbmThermal, 60, 4, 3, 3}, {kPcieReplays, 112, 8, 9, 9},
      {kClockGfx, 296, 2, 2100, 2.1e9},    {kClockMemory, 336, 2, 1300, 1.3e9},
  };
  static const std::vector<Revision> kRevisions = {
      {1,
       0,
       80,
       0,
       {{kTemperatureEdge, 16, 2, 40, 40},
        {kGfxActivity, 28, 2, 50, 0.5},
        {kEnergy, 36, 4, 65536, 1},
        {kClockGfx, 54, 2, 800, 800e6},
        {kFanRpm, 72, 2, 900, 900}}},
      {1, 1, 96, 0, kV11},
      {1, 2, 104, 0, kV11},
      {1, 3, 120, 112, kV11},
      {1,
       4,
       288,
       0,
       {{kTemperatureHotspot, 4, 2, 50, 50},
        {kMediaActivity, 16, 2, 25, 0.25},
        {kEnergy, 24, 8, 65536, 1},
        {kPcieRecoveries, 80, 8, 4, 4},
        {kClockGfx, 240, 2, 2100, 2.1e9},
        {kClockMemory, 280, 2, 1300, 1.3e9}}},
      {1,
       5,
       360,
       0,
       {{kSocketPower, 10, 2, 140, 140},
        {kJpegActivity, 24, 2, 1, 0.01},
        {kEnergy, 88, 8, 65536, 1},
        {kPcieReplays, 152, 8, 6, 6},
        {kClockGfx, 312, 2, 2100, 2.1e9},
        {kClockMemory, 352, 2, 900, 900e6}}},
      {1,
       6,
       1664,
       0,
       {{kGfxActivity, 12, 2, 99, 0.99},
        {kEnergy, 16, 8, 65536, 1},
        {kAccumulation, 32, 4, 1000, 1000},
        {kResidencyPower, 40, 4, 100, 100},
        {kPcieReplays, 104, 8, 6, 6},
        {kClockGfx, 264, 2, 2100, 2.1e9},
        {kClockMemory, 304, 2, 900, 900e6}}},
      {1, 7, 2208, 0, kV17},
      {1, 8, 3872, 0, kV17},
      {2,
       0,
       120,
       0,
       {{kTemperatureEdge, 16, 2, 4000, 40},
        {kGfxActivity, 40, 2, 5000, 0.5},
        {kSocketPower, 44, 2, 15000, 15},
        {kClockGfx, 80, 2, 400, 400e6}}},
      {2, 1, 120, 0, kV21},
      {2, 2, 128, 120, kV21},
      {2, 3, 152, 120, kV21},
      {2, 4, 168, 120, kV21},
      {3,
       0,
       264,
       0,
       {{kTemperatureEdge, 4, 2, 3812, 38.12},
        {kTemperatureSkin, 40, 2, 3598, 35.98},
        {kMediaActivity, 44, 2, 1000, 0.1},
        {kSocketPower, 112, 4, 9839, 9.839},
        {kGfxPower, 124, 4, 1536, 1.536},
        {kCpuPower, 132, 4, 2499, 2.499},
        {kClockFabric, 182, 2, 1162, 1162e6},
        {kClockMemory, 186, 2, 836, 836e6}}},
  };
  return kRevisions;
}

TEST(GpuMetrics, EveryRevisionIsReadByItsOwnLayout) {
  for (const Revision& revision : revisions()) {
    SCOPED_TRACE(testing::Message() << revision.format << "." << revision.content);
    Table bytes(revision.format, revision.content, revision.size);
    for (const Place& place : revision.places) bytes.put(place.offset, place.raw, place.width);
    if (revision.throttle != 0) bytes.put(revision.throttle, 0x0002000100000001, 8);
    const auto table = parse_gpu_metrics(bytes.bytes());
    ASSERT_TRUE(table.ok()) << table.status().message();
    EXPECT_EQ(table->format, revision.format);
    EXPECT_EQ(table->content, revision.content);
    for (size_t f = 0; f < kMetricFieldCount; ++f) {
      const auto field = static_cast<MetricField>(f);
      std::optional<double> wanted;
      for (const Place& place : revision.places) {
        if (place.field == field) wanted = place.number;
      }
      const auto found = table->number(field);
      ASSERT_EQ(found.has_value(), wanted.has_value()) << f << ": only what was put is there";
      if (wanted) {
        EXPECT_NEAR(*found, *wanted, 1e-9) << f;
      }
    }
    EXPECT_EQ(table->throttle,
              revision.throttle == 0 ? std::nullopt : std::optional<uint64_t>(0x0002000100000001));
  }
}

// FAULT-019
TEST(GpuMetrics, AllOnesIsNoReadingWhateverTheScale) {
  for (const Revision& revision : revisions()) {
    const auto table =
        parse_gpu_metrics(Table(revision.format, revision.content, revision.size).bytes());
    ASSERT_TRUE(table.ok());
    for (size_t f = 0; f < kMetricFieldCount; ++f) {
      EXPECT_EQ(table->number(static_cast<MetricField>(f)), std::nullopt)
          << revision.format << "." << revision.content << " field " << f;
    }
    EXPECT_EQ(table->throttle, std::nullopt);
  }
}

// FAULT-019
TEST(GpuMetrics, ATableThatIsTooShortForItsRevisionIsRefused) {
  for (const Revision& revision : revisions()) {
    const std::string whole = Table(revision.format, revision.content, revision.size).bytes();
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(parse_gpu_metrics(std::string_view(whole).substr(0, size)).ok()) << size;
    }
    // What its header says counts as well as what came.
    Table lying(revision.format, revision.content, revision.size);
    lying.put(0, revision.size - 1, 2);
    EXPECT_FALSE(parse_gpu_metrics(lying.bytes()).ok());
  }
}

TEST(GpuMetrics, BytesBehindTheTableAreIgnored) {
  Table table(1, 3, 4096);
  table.put(0, 120, 2).put(4, 56, 2);
  EXPECT_EQ(parse_gpu_metrics(table.bytes())->number(kTemperatureEdge), 56);
  Table longer(1, 3, 136);  // of a driver that appended to it
  longer.put(4, 56, 2);
  EXPECT_EQ(parse_gpu_metrics(longer.bytes())->number(kTemperatureEdge), 56);
}

// FAULT-019
TEST(GpuMetrics, AnUnknownRevisionIsNamedAndNotGuessed) {
  for (const auto& [format, content] :
       {std::pair(9, 9), {1, 9}, {2, 5}, {3, 1}, {0, 0}, {255, 255}}) {
    const auto table = parse_gpu_metrics(
        Table(static_cast<unsigned>(format), static_cast<unsigned>(content), 4096).bytes());
    ASSERT_FALSE(table.ok());
    EXPECT_EQ(table.status().code(), Code::kUnsupported);
    EXPECT_NE(table.status().message().find(std::to_string(format) + "." + std::to_string(content)),
              std::string::npos);
  }
}

TEST(GpuMetrics, ElementsOfAnArrayKeepTheirPlaces) {
  Table bytes(1, 4, 288);
  bytes.put(242, 2100, 2).put(246, 132, 2);  // the second and the fourth of eight chiplets
  const auto table = parse_gpu_metrics(bytes.bytes());
  const auto clocks = table->elements(kClockGfx);
  ASSERT_EQ(clocks.size(), 2u);
  EXPECT_EQ(clocks[0].index, 1);
  EXPECT_EQ(clocks[1].index, 3);
  EXPECT_EQ(table->highest(kClockGfx), 2.1e9);
  EXPECT_EQ(table->highest(kClockSoc), std::nullopt);
}

TEST(GpuMetrics, AnEnergyOfZeroIsNone) {
  EXPECT_EQ(parse_gpu_metrics(Table(1, 3, 120).put(24, 0, 8).bytes())->number(kEnergy),
            std::nullopt);
}

}  // namespace
}  // namespace gpusight::collect::amdgpu
