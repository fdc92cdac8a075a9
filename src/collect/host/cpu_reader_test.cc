#include "collect/host/cpu_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "collect/host/host_test_tree.h"

namespace gpusight::collect::host {
namespace {

using enum catalog::MetricId;
using std::chrono::seconds;

class CpuReaderTest : public HostTest {
 protected:
  void write_stat(const std::string& text) { write("/proc/stat", text + "intr 1 2\nbtime 5\n"); }
  std::optional<double> core(std::string_view label) const {
    return number(kHostCpuCoreUtilization, label);
  }
};

TEST_F(CpuReaderTest, SharesNeedTwoReadingsTotalsDoNot) {
  write_machine();
  poll_fast();
  EXPECT_EQ(reason(kHostCpuUtilization), "warming_up");
  EXPECT_EQ(reason(kHostCpuCoreUtilization, "0"), "warming_up");
  EXPECT_EQ(reason(kHostCpuCoreUtilization, "1"), "warming_up");
  EXPECT_EQ(number(kHostCpuSeconds, "user"), 1.0);
  EXPECT_EQ(number(kHostCpuSeconds, "nice"), 0.0);
  EXPECT_EQ(number(kHostCpuSeconds, "system"), 0.5);
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 8.0);
  EXPECT_EQ(number(kHostCpuSeconds, "iowait"), 0.4);
  EXPECT_EQ(number(kHostCpuSeconds, "irq"), 0.0);
  EXPECT_EQ(number(kHostCpuSeconds, "softirq"), 0.1);
  EXPECT_EQ(number(kHostCpuSeconds, "steal"), 0.0);
  EXPECT_EQ(count(kHostCpuSeconds), 8u);
}

TEST_F(CpuReaderTest, ASharesIsWhatWasNeitherIdleNorWaiting) {
  write_stat("cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n");
  poll_fast();
  // Core 0: 30 user of which 20 are a guest's, 5 nice, 10 system, 1 irq, 2 softirq, 2 steal: 50 of
  // 100. Core 1: 25 of 100.
  write_stat(
      "cpu 55 5 10 100 25 1 2 2 20 0\ncpu0 30 5 10 40 10 1 2 2 20 0\ncpu1 25 0 0 60 15 0 0 0 0 "
      "0\n");
  poll_again();
  EXPECT_EQ(core("0"), 0.5);
  EXPECT_EQ(core("1"), 0.25);
  EXPECT_EQ(number(kHostCpuUtilization), 0.375);
  EXPECT_EQ(find(kHostCpuUtilization)->window(), seconds(1));
  EXPECT_EQ(find(kHostCpuCoreUtilization, "0")->window(), seconds(1));
  EXPECT_EQ(number(kHostCpuSeconds, "user"), 0.55);
  EXPECT_EQ(number(kHostCpuSeconds, "iowait"), 0.25);
}

TEST_F(CpuReaderTest, IdleAndWaitingMayPassTicksToEachOther) {
  write_stat("cpu 0 0 0 1000 500\ncpu0 0 0 0 1000 500\n");
  poll_fast();
  // 60 ticks go from waiting to idle, while 20 of 100 are busy.
  write_stat("cpu 20 0 0 1140 440\ncpu0 20 0 0 1140 440\n");
  poll_again();
  EXPECT_EQ(core("0"), 0.2);
  EXPECT_EQ(number(kHostCpuUtilization), 0.2);
  EXPECT_EQ(number(kHostCpuSeconds, "iowait"), 5.0) << "stands still until the kernel catches up";
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 11.4);
  write_stat("cpu 20 0 0 1140 540\ncpu0 20 0 0 1140 540\n");
  poll_again();
  EXPECT_EQ(core("0"), 0.0);
  EXPECT_EQ(number(kHostCpuSeconds, "iowait"), 5.4);
}

TEST_F(CpuReaderTest, AnyOtherStepBackStartsTheCoreAnew) {
  write_stat("cpu 200 0 0 200 0 0 0 50\ncpu0 100 0 0 100 0 0 0 50\ncpu1 100 0 0 100 0 0 0 0\n");
  poll_fast();
  write_stat("cpu 230 0 0 270 0 0 0 40\ncpu0 130 0 0 170 0 0 0 40\ncpu1 150 0 0 150 0 0 0 0\n");
  poll_again();
  EXPECT_EQ(reason(kHostCpuCoreUtilization, "0"), "warming_up") << "stolen time went back";
  EXPECT_EQ(core("1"), 0.5);
  EXPECT_EQ(number(kHostCpuUtilization), 0.5) << "of the core that has a share";
  EXPECT_EQ(number(kHostCpuSeconds, "steal"), 0.5);
  write_stat("cpu 230 0 0 270 0 0 0 40\ncpu0 140 0 0 260 0 0 0 40\ncpu1 150 0 0 250 0 0 0 0\n");
  poll_again();
  EXPECT_EQ(core("0"), 0.1);
}

TEST_F(CpuReaderTest, NoSequenceOfNumbersGivesAShareOutsideZeroToOne) {
  const char* lines[] = {"0 0 0 0 0 0 0 0 0 0",     "9 9 9 9 9 9 9 9 9 9",
                         "5 9 9 99 0 9 9 9 9 9",    "9 9 9 0 200 9 9 9 999 0",
                         "10 0 9 300 0 9 9 9 0 0",  "10 0 9 300 0 9 9 9 7 7",
                         "1 1 1 1 1 1 1 1 1 1",     "1125899906842624 1 1 1 1 1 1 1",
                         "900 900 900 900 900 900", "18446744073709551615 1 1 1 1 1 1 1"};
  for (const char* first : lines) {
    for (const char* second : lines) {
      write_stat(std::string("cpu ") + first + "\ncpu0 " + second + "\n");
      poll_again();
      for (const model::Sample& sample : samples()) {
        if (sample.value.is_absent()) continue;
        EXPECT_GE(*sample.value.number(), 0);
        if (sample.metric == kHostCpuSeconds) continue;
        EXPECT_LE(*sample.value.number(), 1);
      }
      EXPECT_EQ(report_->implausible(), 0u);
    }
  }
}

TEST_F(CpuReaderTest, TotalsNeverGoBack) {
  double before = 0;
  for (const char* idle : {"100", "300", "200", "250", "301", "10", "60"}) {
    write_stat(std::string("cpu 0 0 0 ") + idle + " 0\ncpu0 0 0 0 " + idle + " 0\n");
    poll_again();
    EXPECT_GE(number(kHostCpuSeconds, "idle").value(), before);
    before = number(kHostCpuSeconds, "idle").value();
  }
  // 1.00 at first, +2.00, +0.50, +0.51, +0.50; what went back started anew.
  EXPECT_EQ(before, 4.51);
}

TEST_F(CpuReaderTest, ACoreGoesOfflineAndComesBack) {
  write_stat("cpu 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  poll_fast();
  write_stat("cpu 50 0 0 150\ncpu0 0 0 0 100\ncpu1 50 0 0 50\n");
  poll_again();
  EXPECT_EQ(number(kHostCpuUtilization), 0.25);
  // Core 1 is off: the sum's idle time falls, since it now comes from another account.
  write_stat("cpu 150 0 0 110\ncpu0 100 0 0 100\n");
  poll_again();
  EXPECT_EQ(core("0"), 1.0);
  EXPECT_EQ(find(kHostCpuCoreUtilization, "1"), nullptr);
  EXPECT_EQ(number(kHostCpuUtilization), 1.0);
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 1.5);
  // It is back, and brings the idle time of its absence along.
  write_stat("cpu 250 0 0 900100\ncpu0 200 0 0 100\ncpu1 50 0 0 900000\n");
  poll_again();
  EXPECT_EQ(core("0"), 1.0);
  EXPECT_EQ(reason(kHostCpuCoreUtilization, "1"), "warming_up");
  EXPECT_EQ(number(kHostCpuUtilization), 1.0);
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 1.5);
  write_stat("cpu 250 0 0 900300\ncpu0 200 0 0 200\ncpu1 50 0 0 900100\n");
  poll_again();
  EXPECT_EQ(core("1"), 0.0);
  EXPECT_EQ(number(kHostCpuUtilization), 0.0);
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 3.5);
}

TEST_F(CpuReaderTest, WithoutATickTheOldReadingStands) {
  write_stat("cpu 0 0 0 0\ncpu0 0 0 0 0\n");
  poll_fast();
  poll_again();
  EXPECT_EQ(reason(kHostCpuUtilization), "warming_up");
  write_stat("cpu 30 0 0 170\ncpu0 30 0 0 170\n");
  poll_again();
  EXPECT_EQ(core("0"), 0.15);
  EXPECT_EQ(find(kHostCpuUtilization)->window(), seconds(2));
}

TEST_F(CpuReaderTest, AFileThatFailsOnceOnlyWidensTheWindow) {
  write_stat("cpu 0 0 0 0\ncpu0 0 0 0 0\n");
  poll_fast();
  make_broken("/proc/stat");
  poll_again();
  EXPECT_EQ(reason(kHostCpuUtilization), "driver_error");
  remove("/proc/stat");
  write_stat("cpu 100 0 0 100\ncpu0 100 0 0 100\n");
  poll_again();
  EXPECT_EQ(core("0"), 0.5);
  EXPECT_EQ(find(kHostCpuCoreUtilization, "0")->window(), seconds(2));
}

TEST_F(CpuReaderTest, ThreeHundredCoresEachHaveAShare) {
  const auto text = [](uint64_t busy, uint64_t idle) {
    std::string all = "cpu " + std::to_string(300 * busy) + " 0 0 " + std::to_string(300 * idle) +
                      " 0 0 0 0 0 0\n";
    for (int i = 0; i < 300; ++i) {
      all += "cpu" + std::to_string(i) + " " + std::to_string(busy) + " 0 0 " +
             std::to_string(idle) + " 0 0 0 0 0 0\n";
    }
    return all;
  };
  write_stat(text(1000, 1000) + "intr " + std::string(200000, '0') + "\n");
  poll_fast();
  write_stat(text(1030, 1070) + "intr " + std::string(200000, '0') + "\n");
  poll_again();
  EXPECT_EQ(count(kHostCpuCoreUtilization), 300u);
  EXPECT_EQ(core("0"), 0.3);
  EXPECT_EQ(core("299"), 0.3);
  EXPECT_EQ(number(kHostCpuUtilization), 0.3);
  EXPECT_EQ(number(kHostCpuSeconds, "user"), 3090);
}

TEST_F(CpuReaderTest, OldKernelsAndSandboxesTellLess) {
  write_stat("cpu 100 0 0 100\n");  // four modes, no cores
  poll_fast();
  EXPECT_EQ(reason(kHostCpuCoreUtilization), "not_supported");
  EXPECT_EQ(reason(kHostCpuSeconds, "steal"), "not_supported");
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 1.0);
  write_stat("cpu 150 0 0 150\n");
  poll_again();
  EXPECT_EQ(number(kHostCpuUtilization), 0.5);
  EXPECT_EQ(number(kHostCpuSeconds, "idle"), 1.5);
}

TEST_F(CpuReaderTest, LinesOfGarbageAreLeftOut) {
  write_stat(
      "cpu 1 2 3\ncpuX 1 1 1 1\ncpu-1 1 1 1 1\ncpu9999999999 1 1 1 1\ncpu8192 1 1 1 1\n"
      "cpu3 1 1 1 1\ncpu3 2 2 2 2\n");
  poll_fast();
  EXPECT_EQ(count(kHostCpuCoreUtilization), 1u);
  EXPECT_EQ(reason(kHostCpuCoreUtilization, "3"), "warming_up");
  EXPECT_EQ(reason(kHostCpuSeconds), "driver_error") << "the line of all of them is unreadable";
}

}  // namespace
}  // namespace gpusight::collect::host
