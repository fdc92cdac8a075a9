#include "collect/amdgpu/lanes.h"

#include <algorithm>

#include "collect/amdgpu/amd_test_tree.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;
using model::Reason;

constexpr size_t kFast = 0;
constexpr size_t kSlow = 1;

class AmdLanes : public AmdTest {
 protected:
  std::string h(const std::string& file) const { return folder(0) + "/hwmon/hwmon7/" + file; }
  std::string d(const std::string& file) const { return folder(0) + "/" + file; }
};

TEST_F(AmdLanes, FastReadsWhatABoardHas) {
  add_board();
  open();
  ASSERT_EQ(poll(kFast), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.65);
  EXPECT_EQ(number(MetricId::kGpuMemoryUtilization), 0.31);
  EXPECT_EQ(number(MetricId::kGpuMediaActivity, "vcn"), 0.12);
  EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 4e9);
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 24e9);
  EXPECT_EQ(number(MetricId::kGpuMemoryFree), 20e9);
  EXPECT_EQ(number(MetricId::kGpuMemoryPoolUsed, "gtt"), 1e6);
  EXPECT_EQ(number(MetricId::kGpuPower), 68);
  EXPECT_EQ(number(MetricId::kGpuPowerAverage), 68);
  EXPECT_EQ(number(MetricId::kGpuVoltage, "gfx"), 0.686);
  EXPECT_EQ(number(MetricId::kGpuClock, "graphics"), 31e6);
  EXPECT_EQ(number(MetricId::kGpuClock, "memory"), 1249e6);
  EXPECT_EQ(number(MetricId::kGpuClock, "soc"), 1500e6);
  EXPECT_EQ(number(MetricId::kGpuClock, "video"), 0);
  EXPECT_EQ(number(MetricId::kGpuFanSpeed, "0"), 0.4);
  EXPECT_EQ(number(MetricId::kGpuFanRpm, "0"), 1600);
  EXPECT_EQ(reason(MetricId::kGpuPowerInstant), Reason::kNotSupported);
  EXPECT_EQ(reason(MetricId::kGpuModulePower), Reason::kNotSupported);
}

// FAULT-120
TEST_F(AmdLanes, EachTemperatureHasItsOwnReadingByItsLabel) {
  add_board();
  write(h("temp1_label"), "mem\n");  // another order than usual
  write(h("temp3_label"), "edge\n");
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuMemoryTemperature), 53);
  EXPECT_EQ(number(MetricId::kGpuHotspotTemperature), 61);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 68);
}

// FAULT-120
TEST_F(AmdLanes, ASensorThatIsNotFittedSaysSo) {
  add_board();
  write(h("temp3_input"), "0\n");
  remove(h("temp1_input"));
  open();
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuMemoryTemperature), Reason::kNotSupported);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 61) << "without one at the edge, the hot spot's";
}

TEST_F(AmdLanes, SlowReadsLimitsLinkErrorsAndModes) {
  add_board();
  open();
  ASSERT_EQ(poll(kSlow), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuPowerLimit), 290);
  EXPECT_EQ(number(MetricId::kGpuPowerLimitDefault), 303);
  EXPECT_EQ(number(MetricId::kGpuPowerLimitLowest), 0);
  EXPECT_EQ(number(MetricId::kGpuPowerLimitHighest), 333);
  EXPECT_EQ(number(MetricId::kGpuTemperatureThreshold, "slowdown"), 100);
  EXPECT_EQ(number(MetricId::kGpuTemperatureThreshold, "memory_shutdown"), 105);
  EXPECT_EQ(number(MetricId::kGpuClockLimit, "graphics"), 2219e6);
  EXPECT_EQ(number(MetricId::kGpuPcieGeneration), 3);
  EXPECT_EQ(number(MetricId::kGpuPcieGenerationLimit), 4);
  EXPECT_EQ(number(MetricId::kGpuPcieWidth), 8);
  EXPECT_EQ(number(MetricId::kGpuPcieReplays), 3);
  EXPECT_EQ(number(MetricId::kGpuPcieErrors, "correctable"), 5);
  EXPECT_EQ(number(MetricId::kGpuPcieErrors, "receiver"), 4);
  EXPECT_EQ(number(MetricId::kGpuPcieErrors, "fatal"), 0);
  EXPECT_EQ(number(MetricId::kGpuPerformanceLevel), 0);
  EXPECT_EQ(number(MetricId::kGpuAwakeSeconds), 61);
  EXPECT_EQ(number(MetricId::kGpuAsleepSeconds), 2.5);
  EXPECT_EQ(number(MetricId::kGpuEccVolatileCorrected), 8);
  EXPECT_EQ(number(MetricId::kGpuEccVolatileUncorrected), 1);
  EXPECT_EQ(number(MetricId::kGpuEccVolatileDeferredAt, "umc"), 2);
  EXPECT_EQ(number(MetricId::kGpuRetiredPagesUncorrected), 1);
  EXPECT_EQ(number(MetricId::kGpuRetiredPagesPending), 1);
}

TEST_F(AmdLanes, ErrorCountsAreAskedForOnceAMinuteAndToldEachTime) {
  add_board();
  open();
  const auto asked = [&] { return std::ranges::count(opened_files_, d("ras/umc_err_count")); };
  poll(kSlow);
  EXPECT_EQ(asked(), 1);
  for (int i = 0; i < 5; ++i) {
    clock_.advance(std::chrono::seconds(10));
    poll(kSlow);
    EXPECT_EQ(asked(), 0);
    EXPECT_EQ(number(MetricId::kGpuEccVolatileCorrectedAt, "umc"), 7);
  }
  write(d("ras/umc_err_count"), "ue: 1\nce: 9\n");
  clock_.advance(std::chrono::seconds(10));
  poll(kSlow);
  EXPECT_EQ(asked(), 1);
  EXPECT_EQ(number(MetricId::kGpuEccVolatileCorrectedAt, "umc"), 9);
}

TEST_F(AmdLanes, TheLinkIsTheSlotsWhereTheBoardHasASwitch) {
  const std::string top = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
  const std::string gpu = top + "/0000:02:00.0/0000:03:00.0";
  add_board();
  std::filesystem::create_directories(root_ + top + "/0000:02:00.0");
  std::filesystem::rename(root_ + folder(0), root_ + gpu);
  write(gpu + "/drm/card0/dev", "226:0\n");
  link("/sys/class/drm/card0/device",
       "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/"
       "0000:02:00.0/0000:03:00.0");
  for (const std::string& bridge : {top, top + "/0000:02:00.0"}) {
    write(bridge + "/class", "0x060400\n");
    write(bridge + "/vendor", "0x1002\n");
    write(bridge + "/current_link_speed", "2.5 GT/s PCIe\n");
    write(bridge + "/current_link_width", "4\n");
    write(bridge + "/max_link_speed", "16.0 GT/s PCIe\n");
    write(bridge + "/max_link_width", "16\n");
  }
  write(top + "/current_link_speed", "5.0 GT/s PCIe\n");
  open();
  poll(kSlow);
  EXPECT_EQ(number(MetricId::kGpuPcieGeneration), 2);
  EXPECT_EQ(number(MetricId::kGpuPcieWidth), 4);
}

TEST_F(AmdLanes, AFastPollOpensABoundedNumberOfFiles) {
  add_board();
  write(d("gpu_metrics"), board_table({}));
  write(h("power1_input"), "1\n");
  for (int fan = 2; fan <= 9; ++fan) {
    write(h("fan" + std::to_string(fan) + "_input"), "1\n");
    write(h("pwm" + std::to_string(fan)), "1\n");
  }
  open();
  poll(kFast);
  EXPECT_LE(opened_files_.size(), kMostFastReads);
  EXPECT_GE(opened_files_.size(), 25u) << "the count is real";
  const std::set<std::string> each(opened_files_.begin(), opened_files_.end());
  EXPECT_EQ(each.size(), opened_files_.size()) << "no file twice";
  EXPECT_FALSE(each.contains(d("pcie_bw"))) << "that one sleeps for a second";
}

// FAULT-020
TEST_F(AmdLanes, TheStableFilesComeBeforeTheTable) {
  add_board();
  write(d("gpu_metrics"), board_table({{4, 50},
                                       {6, 60},
                                       {8, 70},
                                       {16, 99},
                                       {18, 98},
                                       {22, 300},
                                       {54, 2000},
                                       {10, 44},
                                       {106, 900},
                                       {104, 800}}));
  remove(d("mem_busy_percent"));
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuUtilization), 0.65);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 53);
  EXPECT_EQ(number(MetricId::kGpuPower), 68);
  EXPECT_EQ(number(MetricId::kGpuClock, "graphics"), 31e6);
  EXPECT_EQ(number(MetricId::kGpuVoltage, "gfx"), 0.686);
  // What they do not tell, the table does.
  EXPECT_EQ(number(MetricId::kGpuMemoryUtilization), 0.98);
  EXPECT_EQ(number(MetricId::kGpuSensorTemperature, "vr_gfx"), 44);
  EXPECT_EQ(number(MetricId::kGpuVoltage, "soc"), 0.8);
}

// FAULT-020
TEST_F(AmdLanes, ATableThatContradictsTheSensorsIsNotBelieved) {
  add_board();
  write(d("gpu_metrics"), board_table({{4, 0}, {10, 44}, {18, 98}}));
  remove(d("mem_busy_percent"));
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuTemperature), 53);
  EXPECT_EQ(number(MetricId::kGpuMemoryUtilization), std::nullopt);
  EXPECT_EQ(number(MetricId::kGpuSensorTemperature, "vr_gfx"), std::nullopt);
  EXPECT_EQ(report_->implausible(), 1u);
}

// FAULT-019, FAULT-020
TEST_F(AmdLanes, SentinelsAndUnknownTablesFillNothing) {
  add_board();
  remove(d("gpu_busy_percent"));
  write(d("gpu_metrics"), board_table({}));
  open();
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kNotSupported) << "not 655.35 %";
  EXPECT_EQ(report_->implausible(), 0u);
  write(d("gpu_metrics"), std::string("\x78\x00\x09\x09", 4) + std::string(116, '\x01'));
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kNotSupported);
  EXPECT_EQ(number(MetricId::kGpuPower), 68);
}

// FAULT-010
TEST_F(AmdLanes, ALoadBeyondAHundredIsDroppedAndCounted) {
  add_board();
  write(d("gpu_busy_percent"), "655\n");
  open();
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kImplausible);
  EXPECT_EQ(report_->implausible(), 1u);
}

// FAULT-021
TEST_F(AmdLanes, AnApuHasTwoPoolsOfWhichTheBorrowedIsNoMoreThanTheHost) {
  add_board();
  write(h("in1_label"), "vddnb\n");
  write(h("in1_input"), "615\n");
  write(d("mem_info_vram_total"), "536870912\n");
  write(d("mem_info_vram_used"), "300000000\n");
  write(d("mem_info_gtt_total"), "133143986176\n");
  write(d("mem_info_gtt_used"), "2000000000\n");
  write("/proc/meminfo", "MemTotal:       130000000 kB\n");
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuMemoryPoolTotal, "vram"), 536870912);
  EXPECT_EQ(number(MetricId::kGpuMemoryPoolTotal, "gtt"), 133143986176);
  EXPECT_EQ(number(MetricId::kGpuMemoryTotal), 536870912 + 130000000.0 * 1024);
  EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 2300000000);
  EXPECT_EQ(number(MetricId::kGpuModulePower), 68) << "the processor's part included";
  EXPECT_EQ(*model::find_fact(generation_->devices()[0], "memory_kind"), "unified");
}

// FAULT-023, FAULT-033
TEST_F(AmdLanes, PowerComesFromWhatTheKernelHas) {
  add_board();
  remove(h("power1_average"));
  write(h("power1_input"), "55000000\n");
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuPower), 55);
  EXPECT_EQ(reason(MetricId::kGpuPowerAverage), Reason::kNotSupported);
  write(h("power1_input"), "0\n");
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuPower), Reason::kNotSupported) << "no watts are no reading";
  remove(h("power1_input"));
  // The table's counter, in 2^-16 J, over two seconds.
  std::string table = board_table({{88, 40}});  // an Instinct: its memory has stacks
  const auto set_joules = [&](uint64_t joules) {
    for (size_t i = 0; i < 8; ++i) table[24 + i] = static_cast<char>((joules << 16) >> (8 * i));
    write(d("gpu_metrics"), table);
  };
  set_joules(1000);
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuEnergy), 1000);
  EXPECT_EQ(reason(MetricId::kGpuPower), Reason::kNotSupported);
  clock_.advance(std::chrono::seconds(2));
  set_joules(1240);
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuPower), 120);
  // A board that counts in a unit of its own is not believed.
  table[88] = '\xff';
  table[89] = '\xff';
  write(d("gpu_metrics"), table);
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuEnergy), Reason::kNotSupported);
}

TEST_F(AmdLanes, ThrottleReasonsAreSeries) {
  add_board();
  std::string table = board_table({});
  const auto set_bits = [&](uint64_t bits) {
    for (size_t i = 0; i < 8; ++i) table[112 + i] = static_cast<char>(bits >> (8 * i));
    write(d("gpu_metrics"), table);
  };
  set_bits(1);
  open();
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_power_cap"), 1);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_thermal"), 0);
  set_bits(uint64_t{1} << 36);
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_power_cap"), 0);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_thermal"), 1);
}

TEST_F(AmdLanes, AThrottleReasonBeginsAndEndsAsEvents) {
  add_board();
  std::string table = board_table({});
  const auto events_at = [&](uint64_t bits) {
    for (size_t i = 0; i < 8; ++i) table[112 + i] = static_cast<char>(bits >> (8 * i));
    write(d("gpu_metrics"), table);
    poll(kFast);
    clock_.advance(std::chrono::milliseconds(1500));
    return report_->events();
  };
  write(d("gpu_metrics"), table);
  open();
  EXPECT_TRUE(events_at(0).empty());
  const auto begun = events_at(1);
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].kind, catalog::EventKind::kThrottleBegin);
  EXPECT_EQ(begun[0].uuid, "GPU-00c0ffee00000000");
  EXPECT_EQ(begun[0].arguments, std::vector<std::string>{"sw_power_cap"});
  EXPECT_TRUE(events_at(1).empty()) << "it goes on";
  open();
  EXPECT_TRUE(events_at(1).empty()) << "opening again begins nothing";
  const auto ended = events_at(0);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].kind, catalog::EventKind::kThrottleEnd);
  EXPECT_EQ(ended[0].arguments, (std::vector<std::string>{"sw_power_cap", "4.5"}));
}

TEST_F(AmdLanes, AThrottleBitThatNeverChangesOnAnIdleBoardIsNotBelieved) {
  add_board();
  write(d("gpu_busy_percent"), "0\n");
  std::string table = board_table({});
  table.replace(112, 8, std::string("\0\0\0\0\x10\0\0\0", 8));
  write(d("gpu_metrics"), table);
  open();
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuThrottle), Reason::kImplausible);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_thermal"), std::nullopt);
}

TEST_F(AmdLanes, ResidenciesAreSharesOfTheFirmwaresRounds) {
  add_board();
  std::string table(1664, '\xff');
  table.replace(0, 4, std::string("\x80\x06\x01\x06", 4));
  const auto put = [&](size_t offset, uint32_t number) {
    for (size_t i = 0; i < 4; ++i) table[offset + i] = static_cast<char>(number >> (8 * i));
  };
  put(32, 0xffffff00);  // about to go round
  put(40, 100);
  put(44, 5);
  write(d("gpu_metrics"), table);
  open();
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuThrottleShare, "sw_power_cap"), Reason::kWarmingUp);
  put(32, 744);  // 1000 rounds later
  put(40, 350);
  write(d("gpu_metrics"), table);
  poll(kFast);
  EXPECT_EQ(number(MetricId::kGpuThrottleShare, "sw_power_cap"), 0.25);
  EXPECT_EQ(number(MetricId::kGpuThrottleShare, "sw_thermal"), 0);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_power_cap"), 1);
  EXPECT_EQ(number(MetricId::kGpuThrottle, "sw_thermal"), 0);
}

// FAULT-047
TEST_F(AmdLanes, ADeviceWithoutSensorsIsUsable) {
  add_board();
  remove(folder(0) + "/hwmon");
  remove(d("gpu_busy_percent"));
  open();
  EXPECT_EQ(poll(kFast), Verdict::kGood);
  EXPECT_EQ(number(MetricId::kGpuMemoryUsed), 4e9);
  EXPECT_EQ(reason(MetricId::kGpuTemperature), Reason::kNotSupported);
  EXPECT_EQ(poll(kSlow), Verdict::kGood);
  EXPECT_EQ(reason(MetricId::kGpuPowerLimit), Reason::kNotSupported);
}

// FAULT-056
TEST_F(AmdLanes, EachFileFailsForItself) {
  add_board();
  open();
  fail(d("gpu_busy_percent"), Code::kIo);
  fail(h("temp1_input"), Code::kPermissionDenied);
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kDriverError);
  EXPECT_EQ(reason(MetricId::kGpuTemperature), std::nullopt) << "the hot spot stands in";
  EXPECT_EQ(number(MetricId::kGpuMemoryUtilization), 0.31);
  EXPECT_EQ(report_->subjects()[0].state, model::DeviceState::kActive) << "it is awake";
}

TEST_F(AmdLanes, TheLoadOfChipsThatAlwaysSayAHundredIsNotBelieved) {
  add_board();
  write(d("uevent"), "DRIVER=amdgpu\nPCI_ID=1002:15D8\nPCI_SLOT_NAME=0000:03:00.0\n");
  write(d("gpu_busy_percent"), "100\n");
  open();
  poll(kFast);
  EXPECT_EQ(reason(MetricId::kGpuUtilization), Reason::kNotSupported);
}

}  // namespace
}  // namespace gpusight::collect::amdgpu
