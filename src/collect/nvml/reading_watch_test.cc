// Readings in doubt, and numbers that are none, on a fake library.
#include "collect/nvml/reading_watch.h"

#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using enum catalog::MetricId;
using model::Reason;

class NvmlDoubts : public TestMachine {
 protected:
  FakeGpu& gpu() { return fake_.gpus[0]; }
  void set_power(double watts) {
    gpu().set_field(kFieldPowerAverage, ValueType::kUint32, static_cast<uint64_t>(watts * 1000));
  }
  void ticks(int count) {
    for (int i = 0; i < count; ++i) tick();
  }
};

// FAULT-014
TEST_F(NvmlDoubts, ActivityOfNothingOnABusyGpuIsSaidToBeInDoubt) {
  gpu().has_gpm = true;
  gpu().gpm[1] = 0;
  gpu().utilization.gpu = 100;
  open();
  fast();
  ticks(9);
  EXPECT_EQ(number(kGpuReadingSuspect, "activity"), 0);  // not yet: it may just have begun
  ticks(3);
  EXPECT_EQ(number(kGpuReadingSuspect, "activity"), 1);
  EXPECT_EQ(number(kGpuGraphicsActivity), 0);  // what the driver says stays what it says
  gpu().gpm[1] = 80;
  ticks(1);
  EXPECT_EQ(number(kGpuReadingSuspect, "activity"), 0);
  gpu().gpm[1] = 0;
  gpu().utilization.gpu = 0;  // idle: 0 is right
  ticks(20);
  EXPECT_EQ(number(kGpuReadingSuspect, "activity"), 0);
  gpu().gpm.erase(1);  // a reading that fails is absent, and nothing to doubt
  gpu().utilization.gpu = 100;
  ticks(20);
  EXPECT_EQ(value(kGpuReadingSuspect, "activity"), nullptr);
}

// FAULT-024
TEST_F(NvmlDoubts, ASensorThatStandsStillWhileTheLoadChangesIsSaidToBeInDoubt) {
  gpu().set_field(kFieldMemoryTemperature, ValueType::kUint32, 43);
  open();
  const auto minutes = [&](int count, double watts) {
    set_power(watts);
    for (int i = 0; i < count * 60; ++i) {
      gpu().temperature = static_cast<int>(30 + watts / 20) + i % 2;
      tick();
    }
  };
  minutes(4, 100);
  minutes(4, 600);
  EXPECT_EQ(number(kGpuReadingSuspect, "memory_temperature"), 1);
  EXPECT_EQ(number(kGpuReadingSuspect, "temperature"), 0);  // this one moves
  EXPECT_EQ(number(kGpuMemoryTemperature), 43);
  gpu().set_field(kFieldMemoryTemperature, ValueType::kUint32, 44);
  tick();
  EXPECT_EQ(number(kGpuReadingSuspect, "memory_temperature"), 0);
}

// FAULT-024
TEST_F(NvmlDoubts, ASensorMayStandStillUnderALoadThatDoesTheSameInEveryMinute) {
  gpu().set_field(kFieldMemoryTemperature, ValueType::kUint32, 60);
  open();
  for (int i = 0; i < 15 * 60; ++i) {
    set_power(i % 2 == 0 ? 100 : 600);
    tick();
  }
  EXPECT_EQ(number(kGpuReadingSuspect, "memory_temperature"), 0);
}

// FAULT-023, FAULT-024
TEST_F(NvmlDoubts, NoWattsAndNoDegreesAreNoReadings) {
  gpu().temperature = 0;
  set_power(0);
  gpu().set_field(kFieldPowerInstant, ValueType::kUint32, 0);
  gpu().set_field(kFieldEnergy, ValueType::kUint64, 5'000);  // and it never grows
  gpu().power_mw = 0;
  open();
  fast();
  ticks(2);
  EXPECT_EQ(reason(kGpuTemperature), Reason::kImplausible);
  EXPECT_EQ(reason(kGpuPower), Reason::kImplausible);
  EXPECT_EQ(reason(kGpuPowerAverage), Reason::kImplausible);
  EXPECT_EQ(reason(kGpuPowerInstant), Reason::kImplausible);
  EXPECT_EQ(number(kGpuEnergy), 5);
  EXPECT_GE(report_->implausible(), 4u);
}

// FAULT-023
TEST_F(NvmlDoubts, AnEnergyCounterThatStandsStillLeavesThePowerToTheAverage) {
  set_power(250);
  gpu().set_field(kFieldEnergy, ValueType::kUint64, 5'000);
  open();
  fast();
  ticks(3);
  EXPECT_EQ(number(kGpuPower), 250);
}

}  // namespace
}  // namespace gpusight::collect::nvml
