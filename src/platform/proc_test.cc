#include "platform/proc.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class ProcTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "proc." + std::to_string(::getpid());
    std::filesystem::create_directories(root_ + "/proc");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void link(const std::string& path, const std::string& target) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::filesystem::create_symlink(target, whole);
  }
  static std::string stat_text(std::string_view comm, std::string_view flags = "4194304") {
    return "4711 (" + std::string(comm) + ") S 1 4711 4711 0 -1 " + std::string(flags) +
           " 100 0 0 0 1 2 0 0 20 0 9 0 765432 1000 200 18446744073709551615 0 0 0\n";
  }

  std::string root_;
};

TEST_F(ProcTest, StatGivesNameStateAndStartTime) {
  const auto stat = parse_proc_stat(stat_text("python3"));
  ASSERT_TRUE(stat.ok()) << stat.status().message();
  EXPECT_EQ(stat->comm, "python3");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_ticks, 765432u);
  EXPECT_EQ(stat->cpu_ticks, 3u);
  EXPECT_EQ(stat->threads, 9u);
  EXPECT_EQ(stat->resident_bytes, 200u * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_FALSE(stat->is_kernel_thread());
}

// FAULT-130
TEST_F(ProcTest, ANameMayHoldParenthesesSpacesAndAForgedTail) {
  const auto stat = parse_proc_stat(stat_text(") Z 1 (a) R 0 "));
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->comm, ") Z 1 (a) R 0");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_ticks, 765432u);
}

// FAULT-130
TEST_F(ProcTest, ANameIsCleanedAndCut) {
  EXPECT_EQ(parse_proc_stat(stat_text("\x1b[31mred\n\x07"))->comm, "[31mred");
  EXPECT_EQ(parse_proc_stat(stat_text("a\xff\xfe"))->comm, "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(parse_proc_stat(stat_text(std::string(10000, 'x')))->comm.size(), 64u);
}

TEST_F(ProcTest, StatThatIsCutOrGarbageIsAnErrorValue) {
  const std::string whole = stat_text("x");
  EXPECT_EQ(parse_proc_stat("").status().code(), Code::kCorrupt);
  EXPECT_EQ(parse_proc_stat(")(").status().code(), Code::kCorrupt);
  EXPECT_EQ(parse_proc_stat(stat_text("x", "none")).status().code(), Code::kCorrupt);
  for (size_t size = 0; size < whole.find("765432"); ++size) {
    EXPECT_FALSE(parse_proc_stat(whole.substr(0, size)).ok()) << size;
  }
}

TEST_F(ProcTest, StatusGivesUidsAndThePidsInEachNamespace) {
  const auto status = parse_proc_status(
      "Name:\tUid:\\n\nUmask:\t0022\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\nNSpid:\t4711\t12\t1\n");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->real_uid, 1000u);
  EXPECT_EQ(status->effective_uid, 0u);
  EXPECT_EQ(status->namespace_pids, (std::vector<int64_t>{4711, 12, 1}));
  EXPECT_TRUE(parse_proc_status("Uid:\t1\t1\t1\t1\n")->namespace_pids.empty());
}

TEST_F(ProcTest, StatusThatIsCutOrGarbageIsAnErrorValue) {
  for (const char* text :
       {"", "Name:\tx\n", "Uid:", "Uid:\t1\t1\t1\n", "Uid:\tx\t1\t1\t1\n", "Uid:\t-1\t1\t1\t1\n",
        "Uid:\t4294967296\t1\t1\t1\n", "Uid:\t1\t1\t1\t1\nNSpid:\tx\n"}) {
    EXPECT_EQ(parse_proc_status(text).status().code(), Code::kCorrupt) << text;
  }
}

TEST_F(ProcTest, BootTimeIsReadOrAbsent) {
  const RootFs fs(root_);
  EXPECT_EQ(read_boot_time_unix_s(fs), std::nullopt);
  write("/proc/stat", "cpu  1 2 3 4\nintr 5\nctxt 6\nbtime 1700000000\nprocesses 7\n");
  EXPECT_EQ(read_boot_time_unix_s(fs), 1700000000);
  write("/proc/stat", "btime x\n");
  EXPECT_EQ(read_boot_time_unix_s(fs), std::nullopt);
}

TEST_F(ProcTest, ThisProcessCanBeReadOnThisMachine) {
  const RootFs fs("/");
  const auto stat = read_proc_stat(fs, "self");
  const auto status = read_proc_status(fs, "self");
  ASSERT_TRUE(stat.ok()) << stat.status().message();
  ASSERT_TRUE(status.ok()) << status.status().message();
  EXPECT_EQ(status->real_uid, ::getuid());
  EXPECT_GT(stat->start_ticks, 0u);
  EXPECT_FALSE(stat->is_kernel_thread());
  EXPECT_EQ(::sysconf(_SC_CLK_TCK), kClockTicksPerSecond);
}

TEST_F(ProcTest, TheMachinesMemoryIsInMeminfo) {
  const RootFs fs(root_);
  EXPECT_FALSE(read_memory_total(fs).ok());
  write("/proc/meminfo", "MemTotal:       16 kB\nMemFree:  5 kB\n");
  EXPECT_EQ(read_memory_total(fs).value(), 16384u);
  for (const char* bad : {"MemTotal: -1 kB\n", "MemTotal: 18446744073709551615 kB\n",
                          "MemTotal: 16 MB\n", "MemTotal:\n", ""}) {
    write("/proc/meminfo", bad);
    EXPECT_FALSE(read_memory_total(fs).ok()) << bad;
  }
}

TEST_F(ProcTest, TheFirstNamespaceIsTheMachines) {
  const RootFs fs(root_);
  EXPECT_TRUE(is_machine_pid_namespace(fs)) << "no sign of another";
  link("/proc/self/ns/pid", "pid:[4026531836]");
  write("/proc/self/status", "Uid:\t0\t0\t0\t0\nNSpid:\t77\n");
  EXPECT_TRUE(is_machine_pid_namespace(fs));
}

// FAULT-062
TEST_F(ProcTest, AContainersOwnProcIsNotTheMachines) {
  const RootFs fs(root_);
  link("/proc/self/ns/pid", "pid:[4026532281]");
  write("/proc/self/status", "Uid:\t0\t0\t0\t0\nNSpid:\t77\n");
  EXPECT_FALSE(is_machine_pid_namespace(fs));
  write("/proc/2/stat", stat_text("kthreadd"));  // anyone may call itself that
  EXPECT_FALSE(is_machine_pid_namespace(fs));
}

// FAULT-062
TEST_F(ProcTest, SeveralNamespacePidsAreASignOfTheirOwn) {
  const RootFs fs(root_);
  write("/proc/self/status", "Uid:\t0\t0\t0\t0\nNSpid:\t4711\t1\n");
  EXPECT_FALSE(is_machine_pid_namespace(fs));
}

// FAULT-062
TEST_F(ProcTest, TheHostsProcGivenToAContainerIsTheMachines) {
  const RootFs fs(root_);
  link("/proc/self/ns/pid", "pid:[4026532281]");
  write("/proc/self/status", "Uid:\t0\t0\t0\t0\nNSpid:\t4711\t1\n");
  write("/proc/2/stat", stat_text("kthreadd", "2129984"));
  EXPECT_TRUE(is_machine_pid_namespace(fs));
}

}  // namespace
}  // namespace gpusight::platform
