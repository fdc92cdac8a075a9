// Real devices, as others recorded them. The recordings are not part of this project: a folder
// named by GPUSIGHT_CAPTURES holds them, in amd/NAME; without it these tests are skipped. What must
// come out was worked out by hand from the files of each.
#include <cstdlib>
#include <string>
#include <vector>

#include "collect/amdgpu/amd_test_tree.h"

namespace gpusight::collect::amdgpu {
namespace {

using enum catalog::MetricId;

struct Expected {
  catalog::MetricId metric;
  std::string label;
  std::optional<double> number;  // nullopt: absent
};
struct Capture {
  std::string name;
  std::string address;
  std::string uuid;
  std::vector<Expected> values;
};

const std::vector<Capture>& captures() {
  static const std::vector<Capture> kCaptures = {
      {"rx7900xtx",
       "0000:03:00.0",
       "PCI-0000:03:00.0",
       {{kGpuUtilization, "", 0.03},
        {kGpuTemperature, "", 53},
        {kGpuHotspotTemperature, "", 61},
        {kGpuMemoryTemperature, "", 68},
        {kGpuPower, "", 68},
        {kGpuPowerLimit, "", 290},
        {kGpuPowerLimitLowest, "", 261},
        {kGpuClock, "graphics", 31e6},
        {kGpuClock, "memory", 1249e6},
        {kGpuClock, "soc", 1500e6},
        {kGpuClockLimit, "graphics", 2219e6},
        {kGpuVoltage, "gfx", 0.686},
        {kGpuFanRpm, "0", 0},
        {kGpuPcieGeneration, "", 4},
        {kGpuPcieWidth, "", 16},
        {kGpuMemoryUsed, "", std::nullopt}}},
      {"rx9070xt",
       "0000:0f:00.0",
       "PCI-0000:0f:00.0",
       {{kGpuPower, "", 55},
        {kGpuPowerLimit, "", 120},
        {kGpuPowerLimitDefault, "", 304},
        {kGpuFanRpm, "0", 896},
        {kGpuFanSpeed, "0", 0.318},  // 81 of 255
        {kGpuClock, "graphics", 167e6},
        {kGpuPcieGeneration, "", 5}}},
      {"rx6900xt",
       "0000:0c:00.0",
       "GPU-d2da20c4c97c420d",
       {{kGpuUtilization, "", 0.03},
        {kGpuMemoryUtilization, "", 0},
        {kGpuMemoryUsed, "", 668274688},
        {kGpuMemoryTotal, "", 17163091968},
        {kGpuMemoryPoolUsed, "gtt", 62369792},
        {kGpuTemperature, "", 56},
        {kGpuPower, "", 36},
        {kGpuClock, "graphics", 500e6},
        {kGpuClock, "fabric", 1302e6},
        {kGpuClock, "video", 0},
        {kGpuSensorTemperature, "vr_gfx", 49},  // table: 0x31
        {kGpuSensorTemperature, "vr_mem", 51},  // table: 0x33
        {kGpuVoltage, "gfx", 0.775},
        {kGpuVoltage, "soc", 0.818},     // table: 0x0332
        {kGpuVoltage, "memory", 1.356},  // table: 0x054c
        {kGpuEnergy, "", std::nullopt},  // in a unit of its own
        {kGpuThrottle, "sw_thermal", 0},
        {kGpuPcieErrors, "correctable", 0},
        {kGpuPcieReplays, "", 0}}},
      {"phoenix",
       "0000:64:00.0",
       "PCI-0000:64:00.0",
       {{kGpuUtilization, "", 0},
        {kGpuTemperature, "", 25},
        {kGpuPower, "", 3.103},
        {kGpuPowerInstant, "", 3.142},
        {kGpuModulePower, "", 3.103},
        {kGpuComponentPower, "gfx", 0.585},  // table: 0x0249 mW
        {kGpuComponentPower, "soc", 0.743},  // table: 0x02e7 mW
        {kGpuComponentPower, "cpu", std::nullopt},
        {kGpuMemoryPoolTotal, "vram", 4294967296},
        {kGpuMemoryPoolUsed, "gtt", 211398656},
        {kGpuMemoryUsed, "", 1484292096},
        {kGpuSensorTemperature, "soc", 27},  // table: 0x0ab1, 27.37
        {kGpuVoltage, "northbridge", 0.615},
        {kGpuClock, "fabric", 400e6},
        {kGpuPcieGeneration, "", std::nullopt}}},
      {"strixpoint",
       "0000:c1:00.0",
       "PCI-0000:c1:00.0",
       {{kGpuUtilization, "", 0.03},
        {kGpuTemperature, "", 38},
        {kGpuPower, "", 9.087},
        {kGpuComponentPower, "gfx", 1.536},   // table: 0x0600 mW
        {kGpuComponentPower, "cpu", 2.499},   // table: 0x09c3 mW
        {kGpuSensorTemperature, "skin", 36},  // table: 0x0e0e, 35.98
        {kGpuClock, "graphics", 848e6},
        {kGpuClock, "memory", 836e6},  // no level has a star; table: 0x0344
        {kGpuVoltage, "gfx", std::nullopt},
        {kGpuMemoryPoolUsed, "vram", 514580480},
        {kGpuMemoryUsed, "", 4461391872}}},
      {"vega56",
       "0000:0b:00.0",
       "PCI-0000:0b:00.0",
       {{kGpuPower, "", 8},
        {kGpuMemoryTemperature, "", 39},
        {kGpuFanRpm, "0", 5},
        {kGpuTemperatureThreshold, "slowdown", 85},
        {kGpuTemperatureThreshold, "hotspot_shutdown", 110},
        {kGpuMemoryUtilization, "", std::nullopt}}},
      {"rx580",
       "0000:09:00.0",
       "PCI-0000:09:00.0",
       {{kGpuUtilization, "", 0.11},
        {kGpuMemoryUtilization, "", 0.02},
        {kGpuPower, "", 41.045},
        {kGpuClock, "graphics", 798e6},
        {kGpuHotspotTemperature, "", std::nullopt},
        {kGpuPcieReplays, "", 3}}},
      {"r9-280",
       "0000:01:00.0",
       "PCI-0000:01:00.0",
       {{kGpuUtilization, "", std::nullopt},
        {kGpuPower, "", std::nullopt},
        {kGpuTemperature, "", 37},
        {kGpuFanSpeed, "0", 0.545},  // 139 of 255
        {kGpuPcieGeneration, "", 2},
        {kGpuPcieWidth, "", 8}}},
  };
  return kCaptures;
}

class AmdCapture : public AmdTest {};

TEST_F(AmdCapture, IsReadAsItsFilesSay) {
  const char* place = std::getenv("GPUSIGHT_CAPTURES");
  if (place == nullptr) {
    GTEST_SKIP() << "no folder of captures (GPUSIGHT_CAPTURES); " << captures().size()
                 << " are known";
  }
  size_t missing = 0;
  for (const Capture& capture : captures()) {
    SCOPED_TRACE(capture.name);
    const std::string folder = std::string(place) + "/amd/" + capture.name;
    if (!std::filesystem::exists(folder)) {
      ++missing;
      continue;
    }
    remove("/sys");
    link("/sys/class/drm", folder);
    source_.reset();
    open();
    ASSERT_NE(generation_, nullptr);
    ASSERT_EQ(generation_->devices().size(), 1u);
    EXPECT_EQ(generation_->devices()[0].pci, capture.address);
    EXPECT_EQ(generation_->devices()[0].uuid, capture.uuid);
    report_.emplace(clock_, 2);
    for (const auto& lane : generation_->lanes()) {
      EXPECT_EQ(lane->poll(*report_), Verdict::kGood);
    }
    EXPECT_EQ(report_->implausible(), 0u);
    for (const Expected& expected : capture.values) {
      const auto found = number(expected.metric, expected.label);
      const std::string name =
          std::string(catalog::metric(expected.metric).name) + " " + expected.label;
      ASSERT_EQ(found.has_value(), expected.number.has_value()) << name;
      if (found) {
        EXPECT_DOUBLE_EQ(*found, *expected.number) << name;
      }
    }
  }
  if (missing > 0) GTEST_SKIP() << missing << " of " << captures().size() << " are not there";
}

}  // namespace
}  // namespace gpusight::collect::amdgpu
