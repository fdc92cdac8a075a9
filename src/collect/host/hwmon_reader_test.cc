#include "collect/host/hwmon_reader.h"

#include <gtest/gtest.h>

#include "collect/host/host_test_tree.h"

namespace gpusight::collect::host {
namespace {

using catalog::MetricId;
constexpr MetricId kTemperature = MetricId::kHostTemperature;

class HwmonReaderTest : public HostTest {
 protected:
  void add_chip(int number, const std::string& name, const std::string& device) {
    write(folder(number) + "/name", name + "\n");
    if (!device.empty()) link(folder(number) + "/device", "../../../devices/" + device);
    std::filesystem::create_directories(at("/sys/devices/" + device));
  }
  void add_sensor(int number, int sensor, const std::string& label, const std::string& input) {
    const std::string path = folder(number) + "/temp" + std::to_string(sensor);
    write(path + "_input", input);
    if (!label.empty()) write(path + "_label", label + "\n");
  }
  static std::string folder(int number) {
    return "/sys/class/hwmon/hwmon" + std::to_string(number);
  }
};

TEST_F(HwmonReaderTest, ASensorIsNamedByItsChipAndItsLabel) {
  add_chip(0, "coretemp", "platform/coretemp.0");
  add_sensor(0, 1, "Package id 0", "45500\n");
  add_sensor(0, 12, "", "-5250\n");
  write(folder(0) + "/temp1_max", "100000\n");
  write(folder(0) + "/temp_input", "1\n");
  write(folder(0) + "/in0_input", "1\n");
  poll_slow();
  EXPECT_EQ(count(kTemperature), 2u);
  EXPECT_EQ(number(kTemperature, "coretemp/Package id 0"), 45.5);
  EXPECT_EQ(number(kTemperature, "coretemp/temp12"), -5.25);
}

// FAULT-037
TEST_F(HwmonReaderTest, ChipsOfOneNameAreToldApartByWhatTheyHangOnNotByTheirNumber) {
  for (const auto& [first, second] : {std::pair(3, 12), std::pair(12, 3)}) {
    remove("/sys");
    add_chip(first, "nvme", "pci/0000:01:00.0/nvme/nvme0");
    add_sensor(first, 1, "Composite", "31850\n");
    add_chip(second, "nvme", "pci/0000:02:00.0/nvme/nvme1");
    add_sensor(second, 1, "Composite", "40850\n");
    link("/sys/devices/pci/0000:01:00.0/nvme/nvme0/device", "../../../0000:01:00.0");
    link("/sys/devices/pci/0000:02:00.0/nvme/nvme1/device", "../../../0000:02:00.0");
    poll_slow();
    EXPECT_EQ(count(kTemperature), 2u);
    EXPECT_EQ(number(kTemperature, "nvme@0000:01:00.0/Composite"), 31.85);
    EXPECT_EQ(number(kTemperature, "nvme@0000:02:00.0/Composite"), 40.85);
  }
}

TEST_F(HwmonReaderTest, ChipsThatCannotBeToldApartAreLeftOutButOne) {
  for (int number = 0; number < 3; ++number) {
    add_chip(number, "acpitz", "");
    add_sensor(number, 1, "", "30000\n");
  }
  poll_slow();
  EXPECT_EQ(count(kTemperature), 1u);
}

TEST_F(HwmonReaderTest, TwoSensorsOfOneLabelKeepTheirNumbers) {
  add_chip(0, "chip", "");
  add_sensor(0, 1, "same", "1000\n");
  add_sensor(0, 2, "same", "2000\n");
  poll_slow();
  EXPECT_EQ(number(kTemperature, "chip/same"), 1);
  EXPECT_EQ(number(kTemperature, "chip/same temp2"), 2);
}

// FAULT-087
TEST_F(HwmonReaderTest, SensorsOfAGpuAreNeverTouched) {
  int number = 0;
  for (const char* name : {"amdgpu", "radeon", "nouveau", "nvidia", "i915", "xe", "i915_gt0"}) {
    add_chip(number, name, "");
    make_broken(folder(number) + "/temp1_input");
    ++number;
  }
  add_chip(number, "unusual", "pci/0000:03:00.0");
  link("/sys/devices/pci/0000:03:00.0/driver", "../../bus/pci/drivers/amdgpu");
  add_sensor(number, 1, "", "1000\n");
  poll_slow();
  EXPECT_EQ(count(kTemperature), 1u);
  EXPECT_EQ(reason(kTemperature), "not_supported");
}

// FAULT-087
TEST_F(HwmonReaderTest, WhatIsSuspendedIsLeftAsleep) {
  add_chip(0, "nvme", "pci/0000:01:00.0/nvme/nvme0");
  link("/sys/devices/pci/0000:01:00.0/nvme/nvme0/device", "../../../0000:01:00.0");
  write("/sys/devices/pci/0000:01:00.0/power/runtime_status", "suspended\n");
  add_sensor(0, 1, "Composite", "31000\n");
  poll_slow();
  EXPECT_EQ(reason(kTemperature, "nvme/Composite"), "asleep");
  write("/sys/devices/pci/0000:01:00.0/power/runtime_status", "active\n");
  poll_slow();
  EXPECT_EQ(number(kTemperature, "nvme/Composite"), 31);
}

// FAULT-024, FAULT-047
TEST_F(HwmonReaderTest, BadReadingsAreAbsentWithTheirLabel) {
  add_chip(0, "chip", "");
  const std::pair<const char*, const char*> cases[] = {
      {"250000\n", "implausible"},  {"255000\n", "implausible"},
      {"-128000\n", "implausible"}, {"2147483647\n", "implausible"},
      {"", "driver_error"},         {"warm\n", "driver_error"},
      {"45.5\n", "driver_error"},   {"99999999999999999999\n", "driver_error"},
      {"249000\n", "a number"},
  };
  int sensor = 0;
  for (const auto& [text, wanted] : cases) add_sensor(0, ++sensor, "", text);
  make_broken(folder(0) + "/temp20_input");
  std::filesystem::create_directory(at(folder(0) + "/temp21_input"));
  link(folder(0) + "/temp22_input", "nowhere");
  add_sensor(0, 23, "", "20000\n");
  write(folder(0) + "/temp23_fault", "1\n");
  poll_slow();
  sensor = 0;
  for (const auto& [text, wanted] : cases) {
    EXPECT_EQ(reason(kTemperature, "chip/temp" + std::to_string(++sensor)), wanted) << text;
  }
  EXPECT_EQ(reason(kTemperature, "chip/temp20"), "driver_error");
  EXPECT_EQ(reason(kTemperature, "chip/temp21"), "driver_error");
  EXPECT_EQ(reason(kTemperature, "chip/temp22"), "not_supported");
  EXPECT_EQ(reason(kTemperature, "chip/temp23"), "driver_error");
  EXPECT_EQ(report_->implausible(), 4u);
}

// FAULT-047
TEST_F(HwmonReaderTest, TreesWithHolesAreSurvived) {
  poll_slow();
  EXPECT_EQ(reason(kTemperature), "not_supported");
  write("/sys/class/hwmon/hwmon0", "a file");
  write(folder(1) + "/temp1_input", "1000\n");  // no name
  write(folder(2) + "/name", "");               // an empty one
  std::filesystem::create_directories(at(folder(3) + "/name"));
  link(folder(4), "nowhere");
  add_chip(5, "\x1b[1m\xff name", "");
  add_sensor(5, 1, "\x07la\nbel", "1000\n");
  poll_slow();
  EXPECT_EQ(count(kTemperature), 1u);
  EXPECT_EQ(number(kTemperature, "[1m\xEF\xBF\xBD name/label"), 1);
}

TEST_F(HwmonReaderTest, SensorsAreBounded) {
  add_chip(0, "chip", "");
  for (int i = 1; i <= 300; ++i) add_sensor(0, i, "", "1000\n");
  poll_slow();
  EXPECT_EQ(count(kTemperature), HwmonReader::kMostSensors);
}

}  // namespace
}  // namespace gpusight::collect::host
