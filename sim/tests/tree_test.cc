#include "tree.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>

namespace gpusight::sim {
namespace {

namespace fs = std::filesystem;

class TreeTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/gpusight-tree-XXXXXX";
    root_ = mkdtemp(pattern);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string text(const std::string& path) const {
    std::ifstream file(root_ / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path root_;
};

TEST_F(TreeTest, HasTheGpusWhereTheDriverSaysTheyAre) {
  const Scenario scenario = *load_scenario("h100-training").value;
  ASSERT_EQ(write_tree(scenario, root_, 0), "");
  const std::string gpu = "sys/bus/pci/devices/0000:1b:00.0/";
  EXPECT_EQ(text(gpu + "vendor"), "0x10de\n");
  EXPECT_EQ(text(gpu + "device"), "0x2330\n");
  EXPECT_EQ(text(gpu + "class"), "0x030200\n");
  EXPECT_EQ(text(gpu + "power/runtime_status"), "active\n");
  EXPECT_EQ(text(gpu + "power/control"), "on\n");
  EXPECT_TRUE(fs::exists(root_ / gpu / "driver"));
  EXPECT_NE(text("proc/driver/nvidia/version").find("  580.105.08  "), std::string::npos);
}

TEST_F(TreeTest, ProcessesComeAndGo) {
  const Scenario scenario = *load_scenario("h100-training").value;
  ASSERT_EQ(write_tree(scenario, root_, 21), "");
  EXPECT_EQ(text("proc/2914201/comm"), "python3\n");
  EXPECT_EQ(text("proc/2914201/cmdline").substr(0, 33),
            std::string("/opt/conda/bin/python3\0train.py\0", 32) + "-");
  EXPECT_EQ(text("proc/2914203/cgroup"),
            "0::/system.slice/slurmstepd.scope/job_48213/step_0/user/task_0\n");
  EXPECT_EQ(text("proc/2931000/comm"), "dcgm-probe\n");
  ASSERT_EQ(write_tree(scenario, root_, 40), "");
  EXPECT_FALSE(fs::exists(root_ / "proc/2931000"));
  EXPECT_TRUE(fs::exists(root_ / "proc/2914201/stat"));
}

// FAULT-013
TEST_F(TreeTest, TheKernelsLogGrowsInPlaceWithWhatTheDriverSays) {
  const Scenario scenario = *load_scenario("fault-xids").value;
  ASSERT_EQ(write_tree(scenario, root_, 20), "");
  std::ifstream open_all_the_time(root_ / "dev/kmsg");
  const std::string first{std::istreambuf_iterator<char>(open_all_the_time), {}};
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 3);
  EXPECT_NE(first.find("4,1001,86415000000,-;NVRM: Xid (PCI:0000:1b:00): 31, pid='<unknown>', "),
            std::string::npos);
  ASSERT_EQ(write_tree(scenario, root_, 70), "");
  open_all_the_time.clear();
  const std::string more{std::istreambuf_iterator<char>(open_all_the_time), {}};
  EXPECT_EQ(std::count(more.begin(), more.end(), '\n'), 2);
  EXPECT_NE(more.find("Xid (PCI:0000:43:00): 13, pid=2914202"), std::string::npos);
  EXPECT_NE(more.find("Xid (PCI:0000:43:00): 119, "), std::string::npos);
}

// FAULT-038
TEST_F(TreeTest, AGpuThatFallsOffTheBusIsInTheLogWithoutANumberToo) {
  const Scenario scenario = *load_scenario("fault-gpu-lost").value;
  ASSERT_EQ(write_tree(scenario, root_, 40), "");
  const std::string log = text("dev/kmsg");
  EXPECT_NE(log.find(";NVRM: The NVIDIA GPU 0000:52:00.0\n"), std::string::npos);
  EXPECT_NE(log.find(";NVRM: fallen off the bus"), std::string::npos);
  EXPECT_NE(log.find("): 79, "), std::string::npos);
}

// FAULT-079
TEST_F(TreeTest, ASleepingGpuIsSeenAsleepInTheTree) {
  const Scenario scenario = *load_scenario("laptop-asleep").value;
  ASSERT_EQ(write_tree(scenario, root_, 0), "");
  const std::string gpu = "sys/bus/pci/devices/0000:1b:00.0/";
  EXPECT_EQ(text(gpu + "power/runtime_status"), "suspended\n");
  EXPECT_EQ(text(gpu + "power/control"), "auto\n");
  EXPECT_EQ(text(gpu + "power_state"), "D3cold\n");
}

TEST_F(TreeTest, HostCountersMoveOn) {
  const Scenario scenario = *load_scenario("rtx4090-desktop").value;
  ASSERT_EQ(write_tree(scenario, root_, 0), "");
  const std::string before = text("proc/stat");
  EXPECT_EQ(before.substr(0, 4), "cpu ");
  EXPECT_EQ(text("proc/uptime").substr(0, 8), "30000.00");
  ASSERT_EQ(write_tree(scenario, root_, 10), "");
  EXPECT_NE(text("proc/stat"), before);
  EXPECT_EQ(text("proc/uptime").substr(0, 8), "30010.00");
  for (const char* path : {"proc/meminfo", "proc/loadavg", "proc/diskstats", "proc/vmstat",
                           "proc/pressure/cpu", "proc/pressure/io", "proc/pressure/memory",
                           "proc/net/dev", "sys/class/hwmon/hwmon0/temp1_input"}) {
    EXPECT_FALSE(text(path).empty()) << path;
  }
}

TEST_F(TreeTest, ASleepingGpuIsSuspended) {
  const Scenario scenario =
      *parse_scenario("[[gpu]]\nboard = \"rtx-4090\"\nruntime_status = \"suspended\"\n", "x").value;
  ASSERT_EQ(write_tree(scenario, root_, 0), "");
  EXPECT_EQ(text("sys/bus/pci/devices/0000:1b:00.0/power/runtime_status"), "suspended\n");
  EXPECT_EQ(text("sys/bus/pci/devices/0000:1b:00.0/power_state"), "D3cold\n");
}

TEST_F(TreeTest, RefusesADirectoryWithOtherFilesAndTheRoot) {
  const Scenario scenario = *load_scenario("rtx4090-desktop").value;
  std::ofstream(root_ / "mine") << "x";
  EXPECT_NE(write_tree(scenario, root_, 0).find("not a simulated machine's"), std::string::npos);
  EXPECT_NE(write_tree(scenario, "/", 0).find("no place"), std::string::npos);
}

}  // namespace
}  // namespace gpusight::sim
