#include "collect/host/system_readers.h"

#include <gtest/gtest.h>

#include "collect/host/host_test_tree.h"

namespace gpusight::collect::host {
namespace {

using enum catalog::MetricId;
using SystemReadersTest = HostTest;

TEST_F(SystemReadersTest, LoadAndUptimeAreTheKernels) {
  write_machine();
  poll_fast();
  EXPECT_EQ(number(kHostLoad1), 1.25);
  EXPECT_EQ(number(kHostLoad5), 0.5);
  EXPECT_EQ(number(kHostLoad15), 0.1);
  EXPECT_EQ(number(kHostUptime), 12345.67);
}

TEST_F(SystemReadersTest, MemoryUsedIsWhatIsNotAvailable) {
  write_machine();
  poll_fast();
  EXPECT_EQ(number(kHostMemoryTotal), 1000 * 1024);
  EXPECT_EQ(number(kHostMemoryAvailable), 600 * 1024);
  EXPECT_EQ(number(kHostMemoryUsed), 400 * 1024);
  EXPECT_EQ(number(kHostSwapTotal), 500 * 1024);
  EXPECT_EQ(number(kHostSwapUsed), 50 * 1024);
}

TEST_F(SystemReadersTest, OldKernelsAvailableMemoryIsEstimated) {
  write("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\nCached: 300 kB\n");
  poll_fast();
  EXPECT_EQ(number(kHostMemoryAvailable), 420 * 1024);
  EXPECT_EQ(number(kHostMemoryUsed), 580 * 1024);
  EXPECT_EQ(reason(kHostSwapTotal), "driver_error");
}

TEST_F(SystemReadersTest, AMachineWithoutSwapHasNoneUsed) {
  write("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 5 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
  poll_fast();
  EXPECT_EQ(number(kHostSwapTotal), 0);
  EXPECT_EQ(number(kHostSwapUsed), 0);
}

TEST_F(SystemReadersTest, NumbersThatCannotBeAreDroppedNotClamped) {
  write("/proc/meminfo",
        "MemTotal: 100 kB\nMemAvailable: 200 kB\nSwapTotal: 18446744073709551615 kB\n"
        "SwapFree: 99999999999999999999999 kB\n");
  poll_fast();
  EXPECT_EQ(reason(kHostMemoryUsed), "implausible");
  EXPECT_EQ(number(kHostMemoryTotal), 100 * 1024);
  EXPECT_EQ(reason(kHostSwapTotal), "implausible");
  EXPECT_EQ(reason(kHostSwapUsed), "driver_error");
  EXPECT_EQ(report_->implausible(), 2u);
  write("/proc/loadavg", "-1 nan inf 1/2 3\n");
  write("/proc/uptime", "-5 1\n");
  poll_fast();
  for (const auto metric : {kHostLoad1, kHostLoad5, kHostLoad15, kHostUptime}) {
    EXPECT_EQ(reason(metric), "implausible");
  }
}

TEST_F(SystemReadersTest, PressureIsTheTimeWaited) {
  write_machine();
  poll_fast();
  for (const char* resource : {"cpu", "memory", "io"}) {
    EXPECT_EQ(number(kHostPressureWaiting, resource), 1.5) << resource;
    EXPECT_EQ(number(kHostPressureStalled, resource), 0.250001) << resource;
  }
}

TEST_F(SystemReadersTest, OldKernelsDoNotSayWhenAllWaitForAProcessor) {
  write_machine();
  write("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
  poll_fast();
  EXPECT_EQ(number(kHostPressureWaiting, "cpu"), 0.000007);
  EXPECT_EQ(reason(kHostPressureStalled, "cpu"), "not_supported");
  EXPECT_EQ(number(kHostPressureStalled, "io"), 0.250001);
}

TEST_F(SystemReadersTest, WithoutPressureInformationEachMetricSaysSoOnce) {
  write_machine();
  remove("/proc/pressure");
  poll_fast();
  for (const auto metric : {kHostPressureWaiting, kHostPressureStalled}) {
    EXPECT_EQ(reason(metric), "not_supported");
    EXPECT_EQ(count(metric), 1u);
  }
  // Switched off at start: the files are there and cannot be read.
  for (const char* resource : {"cpu", "memory", "io"}) {
    make_broken(std::string("/proc/pressure/") + resource);
  }
  poll_fast();
  EXPECT_EQ(reason(kHostPressureWaiting), "not_supported");
}

TEST_F(SystemReadersTest, OneBadPressureFileLeavesTheOthers) {
  write_machine();
  write("/proc/pressure/io", "some avg10=0.00 total=\nfull total=x\n");
  poll_fast();
  EXPECT_EQ(reason(kHostPressureWaiting, "io"), "driver_error");
  EXPECT_EQ(reason(kHostPressureStalled, "io"), "driver_error");
  EXPECT_EQ(number(kHostPressureWaiting, "memory"), 1.5);
}

}  // namespace
}  // namespace gpusight::collect::host
