// A process that records is killed at random instants, again and again: each time the database
// opens as it is, without repair, and lacks at most what was recorded in the last commit interval.
//
//   GPUSIGHT_CRASHES   how often (12)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <string>

#include "store/history_test_util.h"
#include "store/lossy_vfs.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using std::chrono::seconds;
using testing::IsEmpty;

// What may be lost: at the moment of the crash the oldest of it is one commit interval old.
constexpr int64_t kMaxLostMs = (10 + 1) * 1000;

// What the child tells of how far it is; it outlives the child.
struct Progress {
  std::atomic<int64_t> appended_ms{0};
  std::atomic<int64_t> committed_ms{0};
};

// A page shared between parent and child.
class SharedProgress {
 public:
  SharedProgress()
      : memory_(::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) std::abort();
    new (memory_) Progress;
  }
  ~SharedProgress() { ::munmap(memory_, sizeof(Progress)); }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  Progress* operator->() const { return static_cast<Progress*>(memory_); }

 private:
  void* memory_;
};

// The temperature at a time, so that what is read can be told from nothing but its time.
double celsius_at(int64_t time_ms) { return 30 + double(time_ms / 1000 % 60); }

model::SnapshotPtr snapshot_at(int64_t time_ms, MonoTime mono) {
  auto device = std::make_shared<model::Device>();
  device->uuid = "GPU-a";
  model::Snapshot snapshot{
      .wall = WallTime(std::chrono::milliseconds(time_ms)), .mono = mono, .interval = seconds(1)};
  snapshot.devices.push_back(
      {.device = std::move(device),
       .samples = {{MetricId::kGpuTemperature, "",
                    model::Value::fresh(celsius_at(time_ms), mono, {}, 1)}}});
  return std::make_shared<const model::Snapshot>(std::move(snapshot));
}

// Every second from the first on is there up to `until_ms`, and is what it was.
void expect_every_second(const History& history, int64_t until_ms) {
  const Series read = read_history(history.queryable());
  int64_t next_ms = kStartMs + 1000;
  if (!read.empty()) {
    for (const Point& point : read.begin()->second) {
      ASSERT_EQ(point.time_ms, next_ms);
      ASSERT_EQ(point.value, celsius_at(point.time_ms));
      next_ms += 1000;
    }
  }
  EXPECT_EQ(next_ms, until_ms + 1000);
}

// Records until it is killed: in seconds of an own time that starts after `from_ms`.
[[noreturn]] void record(const std::string& directory, int64_t from_ms, Progress& progress) {
  const auto lock = StateLock::take(directory);
  if (!lock.ok()) ::_exit(2);
  const auto history = History::open({.lock = &*lock});
  MonoTime mono{seconds(1000)};
  for (int64_t time_ms = from_ms + 1000;; time_ms += 1000) {
    mono += seconds(1);
    progress.appended_ms = time_ms;
    history->append(snapshot_at(time_ms, mono));
    while (!history->is_idle()) ::usleep(10);
    // The writer says so when a commit has come back from the disk.
    progress.committed_ms = history->committed_until_ms().value_or(0);
  }
}

bool has_history_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name == "history") return true;
  }
  return false;
}

// A thread that has said it is done still needs a moment to be gone, and a sanitizer does not let a
// process fork that has one.
void wait_until_threads_are_gone() {
  while (has_history_thread()) ::usleep(100);
}

// Or until the child has ended by itself.
void wait_until_appended(const Progress& progress, int64_t time_ms, pid_t child) {
  siginfo_t info{};
  while (progress.appended_ms < time_ms && info.si_pid == 0) {
    ::usleep(100);
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  }
}

int crashes_wanted() {
  const char* wanted = std::getenv("GPUSIGHT_CRASHES");
  return wanted == nullptr ? 12 : std::max(1, std::atoi(wanted));
}

TEST(HistoryCrash, KilledAtAnyInstantItLosesNoMoreThanTheLastCommitInterval) {
  const StateFolder folder;
  std::mt19937_64 random(20261130);
  int64_t until_ms = kStartMs;
  for (int crash = 0; crash < crashes_wanted(); ++crash) {
    const SharedProgress progress;
    wait_until_threads_are_gone();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) record(folder.path(), until_ms, *progress.operator->());
    // By what it has done, so that a slow machine dies as far on as a quick one.
    const auto ticks = static_cast<int64_t>(random() % 60);
    wait_until_appended(*progress.operator->(), until_ms + ticks * 1000, child);
    ::usleep(static_cast<useconds_t>(random() % 3000));
    ::kill(child, SIGKILL);
    int how = 0;
    ::waitpid(child, &how, 0);
    ASSERT_TRUE(WIFSIGNALED(how)) << "the child ended by itself with " << WEXITSTATUS(how);

    const auto lock = StateLock::take(folder.path());
    ASSERT_TRUE(lock.ok());
    const auto history = History::open({.lock = &*lock});
    const HistoryStats stats = history->stats();
    ASSERT_TRUE(stats.recording.ok()) << stats.recording.message();
    const auto check = history->check();
    ASSERT_TRUE(check.ok()) << check.status().message();
    ASSERT_THAT(check->faults, IsEmpty()) << "after crash " << crash;
    if (progress->appended_ms != 0) {
      const int64_t kept_ms = stats.committed_until_ms.value_or(kStartMs);
      EXPECT_GE(kept_ms, progress->committed_ms);
      EXPECT_GE(kept_ms, std::max(until_ms, progress->appended_ms - kMaxLostMs));
      until_ms = kept_ms;
    }
    expect_every_second(*history, until_ms);
    EXPECT_TRUE(history->close(seconds(30)));
    EXPECT_FALSE(std::filesystem::exists(folder.database() + ".damaged"));
  }
  EXPECT_GT(until_ms, kStartMs);
}

// What a power cut leaves is worse than what a killed process does: of what was written and not
// synced, some sectors are there and others are not.
TEST(HistoryCrash, APowerCutAtAnyWriteLosesNothingThatWasCommitted) {
  const StateFolder folder;
  std::mt19937_64 random(7);
  int64_t until_ms = kStartMs;
  MonoTime mono{seconds(1000)};
  for (int crash = 0; crash < crashes_wanted(); ++crash) {
    const auto lock = StateLock::take(folder.path());
    ASSERT_TRUE(lock.ok());
    int64_t committed_ms = until_ms;
    int64_t appended_ms = until_ms;
    {
      LossyDisk disk(random() % 1500, random());
      const auto history = History::open({.lock = &*lock});
      while (!disk.is_dead()) {
        appended_ms += 1000;
        mono += seconds(1);
        history->append(snapshot_at(appended_ms, mono));
        while (!history->is_idle()) ::usleep(10);
        if (!disk.is_dead()) {
          committed_ms = std::max(committed_ms, history->committed_until_ms().value_or(0));
        }
      }
    }
    const auto history = History::open({.lock = &*lock});
    const HistoryStats stats = history->stats();
    ASSERT_TRUE(stats.recording.ok()) << stats.recording.message();
    const auto check = history->check();
    ASSERT_TRUE(check.ok()) << check.status().message();
    ASSERT_THAT(check->faults, IsEmpty()) << "after crash " << crash;
    until_ms = stats.committed_until_ms.value_or(kStartMs);
    EXPECT_GE(until_ms, committed_ms) << "after crash " << crash;
    EXPECT_GE(until_ms, appended_ms - kMaxLostMs) << "after crash " << crash;
    expect_every_second(*history, until_ms);
    EXPECT_TRUE(history->close(seconds(30)));
    EXPECT_FALSE(std::filesystem::exists(folder.database() + ".damaged"));
  }
  EXPECT_GT(until_ms, kStartMs);
}

}  // namespace
}  // namespace gpusight::store
