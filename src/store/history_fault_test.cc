// What goes wrong on disk, with the clock and with devices: sampling goes on, history says why it
// does not record, and what was recorded stands.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "store/history_test_util.h"
#include "store/schema.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using model::Reason;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Points run(RecordedMachine& machine, int ticks, Duration by = seconds(1)) {
  Points points;
  for (int i = 0; i < ticks; ++i) points.push_back({machine.celsius(40 + i % 9, by), 40.0 + i % 9});
  machine.settle();
  return points;
}

void append(Points& to, const Points& more) { to.insert(to.end(), more.begin(), more.end()); }

TEST(HistoryFault, ASecondDaemonOnTheDirectoryIsRefused) {
  const StateFolder folder;
  const auto first = StateLock::take(folder.path());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(StateLock::take(folder.path()).status().code(), Code::kUnavailable);
}

TEST(HistoryFault, AnEndedDaemonLeavesTheLockToTheNext) {
  const StateFolder folder;
  { const auto first = StateLock::take(folder.path()); }
  EXPECT_TRUE(StateLock::take(folder.path()).ok());
}

TEST(HistoryFault, ADirectoryThatIsAFileIsNoStateDirectory) {
  const StateFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const auto lock = StateLock::take(folder.path() + "/file");
  ASSERT_FALSE(lock.ok());
  EXPECT_NE(lock.status().code(), Code::kUnavailable);
}

// The limit on file size makes every write beyond it fail, as a full disk does: root may fill what
// is kept for it, so permissions and quotas prove nothing here.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(HistoryFault, OnAFullDiskTicksAreKeptAndWrittenWhenThereIsRoom) {
  RecordedMachine machine;
  Points expected = run(machine, 20);
  {
    const FileSizeLimit full(4096);
    append(expected, run(machine, 60));
    const HistoryStats stats = machine.history->stats();
    EXPECT_THAT(stats.recording.message(), HasSubstr("not recording"));
    EXPECT_FALSE(stats.recording.ok());
    // What was recorded is read all the same, and the head has the rest.
    EXPECT_EQ(machine.points(), expected);
  }
  append(expected, run(machine, 90));
  EXPECT_TRUE(machine.history->stats().recording.ok())
      << machine.history->stats().recording.message();
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
}

TEST(HistoryFault, ADiskThatStaysFullCostsSamplesButNoMemory) {
  RecordedMachine machine;
  Points expected = run(machine, 20);
  {
    const FileSizeLimit full(4096);
    run(machine, 700);
    EXPECT_GT(machine.history->stats().dropped_samples, 0U);
  }
  const Points after = run(machine, 90);
  machine.restart();
  const Points read = machine.points();
  EXPECT_GE(read.size(), expected.size() + after.size());
  EXPECT_EQ(Points(read.end() - 90, read.end()), after);
}

TEST(HistoryFault, ADirectoryThatCannotBeWrittenIsSaidAndReadAllTheSame) {
  RecordedMachine machine;
  const Points expected = run(machine, 20);
  machine.stop();
  // An immutable stand-in for a read-only file system that root minds too: a folder where SQLite
  // wants its -wal.
  ASSERT_EQ(::mkdir((machine.folder.database() + "-wal").c_str(), 0700), 0);
  machine.start();
  EXPECT_FALSE(machine.history->stats().recording.ok());
  const Points more = run(machine, 5);
  EXPECT_EQ(read_history(*machine.head).size(), 1U);
  ASSERT_EQ(::rmdir((machine.folder.database() + "-wal").c_str()), 0);
  run(machine, 70);
  EXPECT_TRUE(machine.history->stats().recording.ok());
  machine.restart();
  EXPECT_EQ(machine.points().size(), 20U + 5U + 70U);
  EXPECT_EQ(machine.points()[20], more.front());
}

TEST(HistoryFault, AFileOfANewerVersionIsLeftAlone) {
  RecordedMachine machine;
  run(machine, 20);
  machine.stop();
  {
    auto db = open_to_write(machine.folder.database());
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE((*db)->run("PRAGMA user_version=2").ok());
  }
  const auto size = std::filesystem::file_size(machine.folder.database());
  machine.start();
  EXPECT_EQ(machine.history->stats().recording.code(), Code::kUnsupported);
  EXPECT_THAT(machine.history->stats().recording.message(), HasSubstr("newer"));
  const Points seen = run(machine, 100);
  EXPECT_EQ(machine.points(), seen);  // the head answers
  machine.stop();
  EXPECT_EQ(std::filesystem::file_size(machine.folder.database()), size);
  EXPECT_FALSE(std::filesystem::exists(machine.folder.database() + ".damaged"));
}

TEST(HistoryFault, AFileThatIsNoDatabaseIsSetAside) {
  const std::string junk(10000, 'x');
  RecordedMachine machine;
  machine.stop();
  std::ofstream(machine.folder.database(), std::ios::trunc) << junk;
  machine.start();
  EXPECT_TRUE(machine.history->stats().recording.ok());
  const Points expected = run(machine, 20);
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
  EXPECT_EQ(std::filesystem::file_size(machine.folder.database() + ".damaged"), junk.size());
}

// Overwrites the page that holds the first chunk's row.
void damage_pages(const std::string& path, size_t from_page) {
  const auto size = std::filesystem::file_size(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string noise(4096, '\xa5');
  for (size_t page = from_page; (page + 1) * 4096 <= size; ++page) {
    file.seekp(static_cast<std::streamoff>(page * 4096));
    file << noise;
  }
}

TEST(HistoryFault, ADatabaseWithDamagedPagesIsSetAsideAndANewOneBegun) {
  RecordedMachine machine;
  run(machine, 120);
  machine.stop();
  damage_pages(machine.folder.database(), 1);
  machine.start();
  const Points expected = run(machine, 60);
  EXPECT_TRUE(machine.history->stats().recording.ok())
      << machine.history->stats().recording.message();
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
  EXPECT_TRUE(std::filesystem::exists(machine.folder.database() + ".damaged"));
}

TEST(HistoryFault, ADamagedChunkIsLeftOutAndTheRestAnswers) {
  RecordedMachine machine;
  Points expected = run(machine, 60);
  machine.stop();
  {
    auto db = open_to_write(machine.folder.database());
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE(
        (*db)
            ->run("UPDATE chunk SET head=CAST(SUBSTR(head, 1, LENGTH(head)-6) || x'7f7f7f7f7f7f'"
                  " AS BLOB) WHERE id=2")
            .ok());
  }
  machine.start();
  const Points read = machine.points();
  EXPECT_LT(read.size(), expected.size());
  EXPECT_GE(read.size(), expected.size() - 11);
  EXPECT_GT(machine.history->stats().damaged_reads, 0U);
  const auto check = machine.history->check();
  ASSERT_TRUE(check.ok());
  EXPECT_THAT(check->faults, SizeIs(1));
  // Merging passes it by.
  run(machine, 60, seconds(30));
  EXPECT_TRUE(machine.history->stats().recording.ok());
  EXPECT_EQ(machine.points().size(), read.size() + 60);
}

TEST(HistoryFault, ASoundHistoryPassesItsCheck) {
  RecordedMachine machine;
  run(machine, 60);
  machine.restart();
  const auto check = machine.history->check();
  ASSERT_TRUE(check.ok());
  EXPECT_THAT(check->faults, IsEmpty());
  EXPECT_EQ(check->samples, 60U);
}

TEST(HistoryFault, AFileThatIsRemovedIsBegunAnew) {
  RecordedMachine machine;
  run(machine, 20);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(machine.folder.database() + suffix);
  }
  run(machine, 60);
  EXPECT_TRUE(machine.history->stats().recording.ok());
  machine.restart();
  EXPECT_GE(machine.points().size(), 50U);
}

TEST(HistoryFault, TheNewestWordOfAClockSetBackALittleHolds) {
  RecordedMachine machine;
  Points expected = run(machine, 100);
  machine.ticks.set_wall_back(seconds(31));
  expected.resize(expected.size() - 31);
  append(expected, run(machine, 3));
  // On disk at once, lest what is overruled is read.
  EXPECT_EQ(machine.points(), expected);
  append(expected, run(machine, 40));
  EXPECT_EQ(machine.points(), expected);
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
}

TEST(HistoryFault, AClockSetBackOverMergedAndRolledUpChunksCutsThem) {
  History::Options options;
  options.commit_interval = minutes(2);
  RecordedMachine machine(options);
  Points expected = run(machine, 1500, seconds(15));  // past a window of four hours
  machine.ticks.set_wall_back(minutes(115));
  const int64_t from_ms = machine.ticks.wall_ms();
  std::erase_if(expected, [&](const Point& p) { return p.time_ms >= from_ms + 15'000; });
  append(expected, run(machine, 800, seconds(15)));
  EXPECT_EQ(machine.points(), expected);
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
  const auto check = machine.history->check();
  ASSERT_TRUE(check.ok());
  EXPECT_THAT(check->faults, IsEmpty());
}

TEST(HistoryFault, AClockSetBackByDaysHasToStandBeforeItOverrulesThem) {
  RecordedMachine machine;
  Points expected = run(machine, 100);
  machine.ticks.set_wall_back(hours(24 * 30));
  run(machine, 100);
  EXPECT_THAT(machine.history->stats().recording.message(), HasSubstr("clock"));
  // It was wrong for a moment only: nothing is lost.
  machine.ticks.set_wall_forward(hours(24 * 30));
  append(expected, run(machine, 30));
  EXPECT_TRUE(machine.history->stats().recording.ok());
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
  // It is right: after ten minutes its word holds.
  machine.ticks.set_wall_back(hours(24 * 30));
  run(machine, 660);
  EXPECT_TRUE(machine.history->stats().recording.ok());
  machine.restart();
  const Points read = machine.points();
  EXPECT_LT(read.back().time_ms, expected.front().time_ms);
  EXPECT_GE(read.size(), 55U);
}

TEST(HistoryFault, UnderAClockThatWasNeverSetNothingIsRecorded) {
  RecordedMachine machine;
  machine.ticks.set_wall_back(WallTime(std::chrono::milliseconds(kStartMs)).time_since_epoch());
  run(machine, 700);
  EXPECT_FALSE(machine.history->stats().recording.ok());
  EXPECT_EQ(machine.history->stats().committed_until_ms, std::nullopt);
}

TEST(HistoryFault, AClockSetForwardDoesNotClearHistory) {
  RecordedMachine machine;
  Points expected = run(machine, 100);
  machine.ticks.set_wall_forward(hours(24 * 365));
  run(machine, 120);
  machine.ticks.set_wall_back(hours(24 * 365));
  run(machine, 10);
  machine.restart();
  const Points read = machine.points();
  ASSERT_GE(read.size(), expected.size());
  EXPECT_EQ(Points(read.begin(), read.begin() + 100), expected);
}

TEST(HistoryFault, AForwardClockThatStandsLetsGoOfWhatIsOld) {
  RecordedMachine machine;
  run(machine, 100);
  machine.ticks.set_wall_forward(hours(24 * 30));
  const Points kept = run(machine, 150, seconds(30));
  machine.restart();
  EXPECT_EQ(machine.history->stats().tiers[0].first_ms, kept.front().time_ms);
  EXPECT_EQ(
      read_history(machine.history->queryable(), {}, kept.front().time_ms - 1).begin()->second,
      kept);
}

// FAULT-038, FAULT-039
TEST(HistoryFault, ADeviceThatIsGoneAndBackIsOneSeriesWithItsReasons) {
  RecordedMachine machine;
  Points expected = run(machine, 15);
  const auto absent = [&](std::optional<Reason> reason) {
    machine.ticks.next();
    if (reason) {
      machine.ticks.device("GPU-a").push_back(
          {MetricId::kGpuTemperature, "", model::Value::absent(*reason)});
    }
    machine.publish();
    return machine.ticks.wall_ms();
  };
  std::vector<int64_t> lost_ms = {absent(Reason::kLost), absent(Reason::kLost)};
  const int64_t gone_ms = absent(std::nullopt);
  for (int i = 0; i < 20; ++i) absent(std::nullopt);
  const Points back = run(machine, 15);
  machine.restart();

  for (const int64_t time_ms : lost_ms) expected.push_back({time_ms, model::stale_marker()});
  expected.push_back({gone_ms, model::stale_marker()});
  append(expected, back);
  EXPECT_EQ(machine.points(), expected);

  std::vector<RecordedSample> samples;
  const Status read = machine.history->for_each_sample(
      {}, 0, INT64_MAX, [&](const model::Labels&, std::span<const RecordedSample> some) {
        samples.insert(samples.end(), some.begin(), some.end());
        return true;
      });
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(samples.size(), expected.size());
  EXPECT_EQ(samples[14].number, 45.0);
  EXPECT_EQ(samples[15].number, std::nullopt);
  EXPECT_EQ(samples[15].reason, Reason::kLost);
  EXPECT_EQ(samples[17].reason, Reason::kUnknown);
}

TEST(HistoryFault, AWriterThatIsHeldUpNeverHoldsUpSampling) {
  History::Options options;
  options.queue = 8;
  RecordedMachine machine(options);
  // Faster than any writer: what does not fit is counted, and appending waits for nothing.
  for (int i = 0; i < 5000; ++i) {
    auto snapshot = std::make_shared<const model::Snapshot>(machine.ticks.next());
    machine.history->append(snapshot);
  }
  machine.settle();
  EXPECT_GT(machine.history->stats().dropped_ticks, 0U);
}

TEST(HistoryFault, EventsOutliveARestart) {
  RecordedMachine machine;
  model::Event event{.id = 7,
                     .wall = WallTime(std::chrono::milliseconds(kStartMs)),
                     .kind = catalog::EventKind::kXid,
                     .severity = catalog::Severity::kError,
                     .uuid = "GPU-a",
                     .code = 79,
                     .fields = {{"pid", "4711"}, {"text", "a \"quoted\"\nline"}},
                     .arguments = {"79", "fell off the bus"}};
  machine.history->append_event(event);
  machine.restart();
  EXPECT_EQ(machine.history->last_event_id(), 7U);
  const auto found = machine.history->events({.kind = catalog::EventKind::kXid});
  ASSERT_TRUE(found.ok());
  ASSERT_THAT(*found, SizeIs(1));
  EXPECT_EQ(found->front().fields, event.fields);
  EXPECT_EQ(found->front().arguments, event.arguments);
  EXPECT_EQ(found->front().severity, event.severity);
  EXPECT_EQ(found->front().wall, event.wall);
  EXPECT_THAT(*machine.history->events({.uuid = "GPU-b"}), IsEmpty());
}

}  // namespace
}  // namespace gpusight::store
