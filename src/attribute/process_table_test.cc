#include "attribute/process_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <thread>

namespace gpusight::attribute {
namespace {

using model::Owner;
using model::OwnerState;
using model::Process;

constexpr int64_t kBoot = 1700000000;

class ProcessTableTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "process_table." + std::to_string(::getpid());
    write("/proc/stat", "cpu  1 2 3 4\nbtime " + std::to_string(kBoot) + "\n");
    write("/proc/self/status", "Name:\tx\nUid:\t0\t0\t0\t0\nNSpid:\t1\n");
    write("/etc/passwd", "root:x:0:0:::\nada:x:1000:1000:::\nbob:x:1001:1001:::\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ + path); }
  void add_stat(int64_t pid, std::string_view comm, uint64_t start_ticks) {
    write("/proc/" + std::to_string(pid) + "/stat",
          std::to_string(pid) + " (" + std::string(comm) +
              ") R 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 " + std::to_string(start_ticks) +
              " 0 0 0\n");
  }
  void add_status(int64_t pid, uint32_t uid) {
    const std::string number = std::to_string(uid);
    write("/proc/" + std::to_string(pid) + "/status",
          "Name:\tx\nUid:\t" + number + "\t" + number + "\t" + number + "\t" + number +
              "\nNSpid:\t" + std::to_string(pid) + "\n");
  }
  void add_process(int64_t pid, std::string_view comm, uint64_t start_ticks, uint32_t uid) {
    add_stat(pid, comm, start_ticks);
    add_status(pid, uid);
  }
  ProcessTable table() const { return ProcessTable{platform::RootFs(root_), &clock_}; }
  static Process resolve(ProcessTable& table, int64_t pid, std::string driver_name = "") {
    Process process{.pid = pid, .driver_name = std::move(driver_name)};
    table.resolve(std::span(&process, 1));
    return process;
  }

  FakeClock clock_;
  std::string root_;
};

// FAULT-064
TEST_F(ProcessTableTest, ARowGetsNameUserAndStartTime) {
  add_process(4711, "python3", 123456, 1000);
  ProcessTable processes = table();
  const Process row = resolve(processes, 4711, "/usr/bin/python3.11");
  EXPECT_EQ(row.start_ticks, 123456u);
  EXPECT_EQ(row.owner, (Owner{.state = OwnerState::kKnown,
                              .command = "python3",
                              .uid = 1000,
                              .user = "ada",
                              .start_unix_ms = kBoot * 1000 + 1234560}));
}

TEST_F(ProcessTableTest, AUserWithoutANameKeepsTheUid) {
  add_process(5, "x", 1, 70000);
  ProcessTable processes = table();
  const Process row = resolve(processes, 5);
  EXPECT_EQ(row.owner.uid, 70000u);
  EXPECT_EQ(row.owner.user, "");
}

TEST_F(ProcessTableTest, WithoutABootTimeTheStartIsAbsent) {
  remove("/proc/stat");
  add_process(5, "x", 1, 0);
  ProcessTable processes = table();
  EXPECT_EQ(resolve(processes, 5).owner.start_unix_ms, std::nullopt);
  EXPECT_EQ(resolve(processes, 5).owner.state, OwnerState::kKnown);
}

TEST_F(ProcessTableTest, AnImpossibleStartTimeIsAbsent) {
  add_process(5, "x", 18446744073709551615U, 0);
  ProcessTable processes = table();
  EXPECT_EQ(resolve(processes, 5).owner.start_unix_ms, std::nullopt);
}

TEST_F(ProcessTableTest, ARecycledPidIsANewProcess) {
  add_process(4711, "train", 100, 1000);
  ProcessTable processes = table();
  EXPECT_EQ(resolve(processes, 4711).owner.user, "ada");
  add_process(4711, "other", 900, 1001);
  const Process row = resolve(processes, 4711);
  EXPECT_EQ(row.start_ticks, 900u);
  EXPECT_EQ(row.owner.command, "other");
  EXPECT_EQ(row.owner.user, "bob");
  EXPECT_EQ(row.owner.start_unix_ms, kBoot * 1000 + 9000);
}

TEST_F(ProcessTableTest, AProcessToldWithItsStartIsReadAgainNowAndThenOnly) {
  add_process(4711, "bash", 100, 1000);
  ProcessTable processes = table();
  Process row{.pid = 4711, .start_ticks = 100};
  processes.resolve(std::span(&row, 1));
  add_process(4711, "python3", 100, 1000);
  for (uint64_t call = 1; call < ProcessTable::kCallsBetweenLooks; ++call) {
    processes.resolve(std::span(&row, 1));
    EXPECT_EQ(row.owner.command, "bash");
    EXPECT_EQ(row.start_ticks, 100u);
  }
  processes.resolve(std::span(&row, 1));
  EXPECT_EQ(row.owner.command, "python3");
}

TEST_F(ProcessTableTest, AToldStartOfAnotherProcessIsReadAtOnce) {
  add_process(4711, "train", 100, 1000);
  ProcessTable processes = table();
  Process row{.pid = 4711, .start_ticks = 100};
  processes.resolve(std::span(&row, 1));
  add_process(4711, "other", 900, 1001);
  row.start_ticks = 900;
  processes.resolve(std::span(&row, 1));
  EXPECT_EQ(row.owner.command, "other");
  EXPECT_EQ(row.owner.user, "bob");
}

TEST_F(ProcessTableTest, ANewProgramInTheSameProcessIsRenamedAndNothingElse) {
  add_process(4711, "bash", 100, 1000);
  ProcessTable processes = table();
  resolve(processes, 4711);
  add_stat(4711, "python3", 100);
  remove("/proc/4711/status");  // what does not change is not read again
  const Process row = resolve(processes, 4711);
  EXPECT_EQ(row.owner.command, "python3");
  EXPECT_EQ(row.owner.user, "ada");
  EXPECT_EQ(row.owner.state, OwnerState::kKnown);
}

// FAULT-064
TEST_F(ProcessTableTest, AProcessThatOnlyTheDriverKnowsHasTheDriversName) {
  ProcessTable processes = table();
  Process row = resolve(processes, 4711, "/opt/app/trainer");
  EXPECT_EQ(row.owner.state, OwnerState::kExited);
  EXPECT_EQ(row.owner.command, "trainer");
  EXPECT_EQ(row.owner.uid, std::nullopt);
  EXPECT_EQ(row.start_ticks, 0u);
  row = resolve(processes, 4711);
  EXPECT_EQ(row.owner.command, "") << "nobody names it";
  row = resolve(processes, 4711, "/opt/conda/bin/py\x1b[0mthon3 train.py --token=secret");
  EXPECT_EQ(row.owner.command, "py[0mthon3") << "arguments are not a name";
}

TEST_F(ProcessTableTest, AProcessGoneBetweenTheTwoReadingsHasExited) {
  add_stat(4711, "short", 100);  // status is gone when we come to it
  ProcessTable processes = table();
  const Process row = resolve(processes, 4711, "/bin/driver_says");
  EXPECT_EQ(row.owner.state, OwnerState::kExited);
  EXPECT_EQ(row.owner.command, "short");
  EXPECT_EQ(row.owner.uid, std::nullopt);
}

TEST_F(ProcessTableTest, AKnownProcessThatGoesKeepsWhatWasKnown) {
  add_process(4711, "train", 100, 1000);
  ProcessTable processes = table();
  resolve(processes, 4711);
  remove("/proc/4711");
  const Process row = resolve(processes, 4711, "driver");
  EXPECT_EQ(row.owner.state, OwnerState::kExited);
  EXPECT_EQ(row.owner.command, "train");
  EXPECT_EQ(row.owner.user, "ada");
  EXPECT_EQ(row.start_ticks, 100u);
}

TEST_F(ProcessTableTest, NonsenseInProcClaimsNothing) {
  for (const char* text : {"", "garbage", "4711 (x) R 1", "4711 (x) R 1 1 1 0 -1 x 0 0 0"}) {
    write("/proc/4711/stat", text);
    ProcessTable processes = table();
    const Process row = resolve(processes, 4711, "named");
    EXPECT_EQ(row.owner.state, OwnerState::kPending) << text;
    EXPECT_EQ(row.owner.command, "named");
    EXPECT_EQ(row.owner.uid, std::nullopt);
  }
  add_stat(4711, "x", 5);
  write("/proc/4711/status", "Uid:\tall\tof\tthem\t!\n");
  ProcessTable processes = table();
  EXPECT_EQ(resolve(processes, 4711).owner.state, OwnerState::kPending);
  add_status(4711, 1000);
  EXPECT_EQ(resolve(processes, 4711).owner.state, OwnerState::kKnown) << "it is asked again";
}

TEST_F(ProcessTableTest, OddPidsAndADirectoryInPlaceOfAFileAreSurvived) {
  std::filesystem::create_directories(root_ + "/proc/7/stat");
  ProcessTable processes = table();
  for (const int64_t pid : {int64_t{0}, int64_t{-1}, int64_t{7}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(resolve(processes, pid).owner.state, OwnerState::kExited) << pid;
  }
}

// FAULT-130
TEST_F(ProcessTableTest, AHostileNameIsCleanedAndCannotShiftTheFields) {
  add_process(1, "a) R 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 (b", 100, 1000);
  add_process(2, "\x1b]0;owned\x07\x1b[2J", 100, 1000);
  add_process(3, "\xc3\x28\xff", 100, 1000);
  add_process(4, std::string(10000, 'n'), 100, 1000);
  add_process(6, "two\nlines", 100, 1000);
  ProcessTable processes = table();
  EXPECT_EQ(resolve(processes, 1).owner.command, "a) R 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 (b");
  EXPECT_EQ(resolve(processes, 1).start_ticks, 100u);
  EXPECT_EQ(resolve(processes, 2).owner.command, "]0;owned[2J");
  EXPECT_EQ(resolve(processes, 3).owner.command, "\xEF\xBF\xBD(\xEF\xBF\xBD");
  EXPECT_EQ(resolve(processes, 4).owner.command.size(), 64u);
  EXPECT_EQ(resolve(processes, 6).owner.command, "twolines");
  for (const int64_t pid : {1, 2, 3, 4, 6}) EXPECT_EQ(resolve(processes, pid).owner.user, "ada");
}

// FAULT-062, FAULT-135
TEST_F(ProcessTableTest, InAContainerNoRowIsNamedAfterALocalProcess) {
  std::filesystem::create_directories(root_ + "/proc/self/ns");
  std::filesystem::create_symlink("pid:[4026532281]", root_ + "/proc/self/ns/pid");
  add_process(1, "sh", 50, 0);
  add_process(4711, "local_editor", 100, 1000);  // the pid collides with the driver's
  ProcessTable processes = table();
  EXPECT_TRUE(processes.is_foreign());
  for (const int64_t pid : {1, 4711, 99999}) {
    const Process row = resolve(processes, pid, "/usr/bin/local_editor");
    EXPECT_EQ(row.pid, pid);
    EXPECT_EQ(row.start_ticks, 0u);
    EXPECT_EQ(row.owner, Owner{.state = OwnerState::kForeign});
  }
  EXPECT_EQ(processes.size(), 0u);
}

// FAULT-062
TEST_F(ProcessTableTest, WithTheHostsProcAContainerKnowsTheRows) {
  write("/proc/self/status", "Uid:\t0\t0\t0\t0\nNSpid:\t800\t1\n");
  write("/proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 2 0 0\n");
  add_process(4711, "train", 100, 1000);
  ProcessTable processes = table();
  EXPECT_FALSE(processes.is_foreign());
  EXPECT_EQ(resolve(processes, 4711).owner.command, "train");
}

TEST_F(ProcessTableTest, ManyNewProcessesAreSpreadOverSeveralCalls) {
  std::vector<Process> rows(ProcessTable::kNewPerCall * 2 + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].pid = static_cast<int64_t>(1000 + i);
    add_process(rows[i].pid, "p", 1, 1000);
  }
  const auto known = [&] {
    return std::ranges::count_if(
        rows, [](const Process& p) { return p.owner.state == OwnerState::kKnown; });
  };
  ProcessTable processes = table();
  processes.resolve(rows);
  EXPECT_EQ(known(), 64);
  EXPECT_EQ(rows.back().owner.state, OwnerState::kPending);
  processes.resolve(rows);
  EXPECT_EQ(known(), 128);
  processes.resolve(rows);
  EXPECT_EQ(known(), 129);
}

// FAULT-111
TEST_F(ProcessTableTest, TheCgroupSaysContainerPodJobAndUnit) {
  const std::string id(64, 'a');
  add_process(1, "x", 1, 1000);
  write("/proc/1/cgroup", "0::/kubepods/pod01234567-89ab-cdef-0123-456789abcdef/" + id + "\n");
  add_process(2, "x", 1, 1000);
  write("/proc/2/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
  add_process(3, "x", 1, 1000);  // without the file
  ProcessTable processes = table();
  const Owner pod = resolve(processes, 1).owner;
  EXPECT_EQ(pod.container, "aaaaaaaaaaaa");
  EXPECT_EQ(pod.container_id, id);
  EXPECT_EQ(pod.pod, "01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(pod.unit, "");
  const Process job = resolve(processes, 2);
  EXPECT_EQ(job.owner.job, "7.0");
  EXPECT_EQ(job.owner.unit, "slurmstepd.scope");
  EXPECT_EQ(job.host.cgroup, "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
  EXPECT_EQ(resolve(processes, 3).owner.state, OwnerState::kKnown);
  EXPECT_EQ(resolve(processes, 3).host.cgroup, "");
}

TEST_F(ProcessTableTest, AProcessThatIsMovedIsFoundInItsNewPlace) {
  add_process(1, "x", 1, 1000);
  write("/proc/1/cgroup", "0::/system.slice/a.service\n");
  ProcessTable processes = table();
  EXPECT_EQ(resolve(processes, 1).owner.unit, "a.service");
  write("/proc/1/cgroup", "0::/system.slice/b.service\n");
  EXPECT_EQ(resolve(processes, 1).owner.unit, "a.service") << "not read at every look";
  for (uint64_t i = 0; i < ProcessTable::kLooksBetweenPlaces; ++i) resolve(processes, 1);
  EXPECT_EQ(resolve(processes, 1).owner.unit, "b.service");
  write("/proc/1/cgroup", "0::/system.slice/c.service\n");
  add_stat(1, "other", 1);
  EXPECT_EQ(resolve(processes, 1).owner.unit, "c.service") << "another program, another look";
}

TEST_F(ProcessTableTest, WhatAProcessTakesOfTheHost) {
  add_process(1, "x", 1, 1000);
  const auto stat = [&](uint64_t user, uint64_t system, char state = 'R') {
    write("/proc/1/stat", std::string("1 (x) ") + state + " 1 1 1 0 -1 4194304 0 0 0 0 " +
                              std::to_string(user) + " " + std::to_string(system) +
                              " 0 0 20 0 12 0 1 0 256\n");
  };
  stat(1000, 50);
  ProcessTable processes = table();
  model::HostUse host = resolve(processes, 1).host;
  EXPECT_EQ(host.cpu_ratio, std::nullopt) << "one reading is no rate";
  EXPECT_EQ(host.threads, 12u);
  EXPECT_EQ(host.memory_bytes, 256.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  clock_.advance(std::chrono::milliseconds(500));
  stat(1040, 60);
  EXPECT_EQ(resolve(processes, 1).host.cpu_ratio, std::nullopt) << "too short a time";
  clock_.advance(std::chrono::milliseconds(1500));
  stat(1300, 250);
  EXPECT_EQ(resolve(processes, 1).host.cpu_ratio, 2.5);
  clock_.advance(std::chrono::seconds(2));
  stat(1299, 250);
  EXPECT_EQ(resolve(processes, 1).host.cpu_ratio, 2.5) << "a sum read short is passed over";
  stat(1299, 250, 'Z');
  EXPECT_TRUE(resolve(processes, 1).host.is_zombie);
  remove("/proc/1");
  EXPECT_EQ(resolve(processes, 1).host, model::HostUse{}) << "what is gone takes nothing";
}

TEST_F(ProcessTableTest, AProcessOnSeveralDevicesIsOneProcess) {
  add_process(4711, "train", 100, 1000);
  std::vector<Process> first{{.pid = 4711}};
  std::vector<Process> second{{.pid = 4711}, {.pid = 4711, .gpu_instance = 3}};
  const std::vector<std::span<Process>> lists{first, second};
  ProcessTable processes = table();
  processes.resolve_lists(lists);
  EXPECT_EQ(first[0].owner.user, "ada");
  EXPECT_EQ(second[1].owner, first[0].owner);
  EXPECT_EQ(processes.size(), 1u);
}

TEST_F(ProcessTableTest, TheTableIsBoundedAndForgetsWhatIsUnusedForLongest) {
  ProcessTable processes = table();
  add_process(1, "kept", 1, 1000);
  for (int64_t pid = 2; processes.size() < ProcessTable::kMaxEntries; ++pid) {
    if (pid % 50 == 0) resolve(processes, 1);
    resolve(processes, pid);
  }
  for (int64_t pid = 100000; pid < 100010; ++pid) resolve(processes, pid);
  EXPECT_EQ(processes.size(), ProcessTable::kMaxEntries);
  EXPECT_EQ(processes.refused(), 0u);
  remove("/proc/1");
  EXPECT_EQ(resolve(processes, 1).owner.command, "kept") << "used often, so not forgotten";
}

TEST_F(ProcessTableTest, MoreProcessesInUseThanFitStayPending) {
  ProcessTable processes = table();
  std::vector<Process> rows(ProcessTable::kMaxEntries + 3);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].pid = static_cast<int64_t>(1 + i);
  for (size_t i = 0; i <= ProcessTable::kMaxEntries / ProcessTable::kNewPerCall; ++i) {
    processes.resolve(rows);
  }
  EXPECT_EQ(processes.size(), ProcessTable::kMaxEntries);
  EXPECT_EQ(processes.refused(), 3u);
  EXPECT_EQ(rows.back().owner.state, OwnerState::kPending);
  EXPECT_EQ(rows.front().owner.state, OwnerState::kExited);
}

TEST_F(ProcessTableTest, WhatTheKernelRefusesIsNotCalledExited) {
  add_process(4711, "secret", 100, 1000);
  std::filesystem::permissions(root_ + "/proc/4711", std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  ProcessTable processes = table();
  const Process row = resolve(processes, 4711);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  std::filesystem::permissions(root_ + "/proc/4711", std::filesystem::perms::owner_all);
  EXPECT_EQ(row.owner.state, OwnerState::kPending);
  EXPECT_EQ(row.owner.uid, std::nullopt);
}

TEST_F(ProcessTableTest, RealProcessesThatComeAndGoAreNeverMisnamed) {
  ProcessTable processes{platform::RootFs("/"), &clock_};
  if (processes.is_foreign()) GTEST_SKIP() << "inside a PID namespace of its own";
  for (int round = 0; round < 50; ++round) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    for (int i = 0; i < 3; ++i) {
      const Process row = resolve(processes, child);
      EXPECT_TRUE(row.owner.state == OwnerState::kKnown || row.owner.state == OwnerState::kExited);
      EXPECT_TRUE(row.owner.uid == std::nullopt || row.owner.uid == ::getuid());
      EXPECT_EQ(row.owner.command, "attribute_test");
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(resolve(processes, child).owner.state, OwnerState::kExited);
  }
  const Process self = resolve(processes, ::getpid());
  EXPECT_EQ(self.owner.state, OwnerState::kKnown);
  const int64_t now_ms = unix_milliseconds(SystemClock().wall());
  ASSERT_TRUE(self.owner.start_unix_ms.has_value());
  EXPECT_LT(*self.owner.start_unix_ms, now_ms + 2000);
  EXPECT_GT(*self.owner.start_unix_ms, now_ms - 600'000);
}

// Asks once a look, as ticks do, until the row is as it should be.
template <typename Wanted>
Process wait_until(ProcessTable& table, int64_t pid, Wanted wanted) {
  Process process;
  for (int i = 0; i < 2000; ++i) {
    process = Process{.pid = pid};
    table.resolve(std::span(&process, 1));
    if (wanted(process)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return process;
}

TEST_F(ProcessTableTest, ArgumentsComeLaterAndWithoutSecrets) {
  add_process(42, "python", 100, 1000);
  write("/proc/42/cmdline", std::string("python\0train.py\0--token\0abc\0", 28));
  auto t = table();
  const Process p =
      wait_until(t, 42, [](const Process& process) { return !process.host.arguments.empty(); });
  EXPECT_EQ(p.host.arguments, "python train.py --token ***");
  remove("/proc/42");
  EXPECT_EQ(resolve(t, 42).host.arguments, "python train.py --token ***");
  // The pid of another process: what was found belongs to the old one.
  add_process(42, "cat", 200, 1001);
  write("/proc/42/cmdline", "cat");
  EXPECT_EQ(resolve(t, 42).host.arguments, "");
}

TEST_F(ProcessTableTest, ACommandLineThatNeverComesHoldsNothingUp) {
  add_process(42, "python", 100, 1000);
  // As the file of a process whose memory is locked.
  const auto release = std::make_shared<std::promise<void>>();
  platform::RootFs root(root_);
  root.intercept_for_testing([gate = release->get_future().share()](
                                 std::string_view path) -> std::optional<Result<std::string>> {
    if (path.ends_with("/cmdline")) gate.wait();
    return std::nullopt;
  });
  {
    ProcessTable t(root, &clock_);
    EXPECT_EQ(resolve(t, 42).owner.command, "python");
    EXPECT_EQ(resolve(t, 42).host.arguments, "");
  }
  release->set_value();
}

// FAULT-111
TEST_F(ProcessTableTest, ContainersGetTheirNamesWhenTheRuntimeTells) {
  const std::string id(64, 'a');
  const std::string uid = "3f2a1b0c-9d8e-4f6a-8b4c-3d2e1f0a9b8c";
  add_process(42, "python", 100, 1000);
  write("/proc/42/cgroup", "0::/kubepods/pod" + uid + "/cri-containerd-" + id + "\n");
  write("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id + "/config.json",
        R"({"annotations":{"io.kubernetes.cri.container-name":"train",
            "io.kubernetes.cri.image-name":"pytorch:2.4",
            "io.kubernetes.cri.sandbox-name":"train-0",
            "io.kubernetes.cri.sandbox-namespace":"ml"}})");
  auto t = table();
  const Process first = resolve(t, 42);
  EXPECT_EQ(first.owner.container_id, id);
  const Process p =
      wait_until(t, 42, [](const Process& process) { return process.owner.container == "train"; });
  EXPECT_EQ(p.owner.container, "train");
  EXPECT_EQ(p.owner.image, "pytorch:2.4");
  EXPECT_EQ(p.owner.pod, "train-0");
  EXPECT_EQ(p.owner.pod_namespace, "ml");
  // Looked at again and again, the names stay.
  for (uint64_t i = 0; i < 2 * ProcessTable::kLooksBetweenPlaces; ++i) {
    EXPECT_EQ(resolve(t, 42).owner.pod, "train-0");
  }
  // Moved elsewhere, it has none of them.
  write("/proc/42/cgroup", "0::/system.slice/x.service\n");
  const Process moved =
      wait_until(t, 42, [](const Process& process) { return process.owner.unit == "x.service"; });
  EXPECT_EQ(moved.owner.container, "");
  EXPECT_EQ(moved.owner.image, "");
  EXPECT_EQ(moved.owner.pod, "");
  EXPECT_EQ(moved.owner.pod_namespace, "");
}

}  // namespace
}  // namespace gpusight::attribute
