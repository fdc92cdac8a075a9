#include "store/backfill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/history_file.h"
#include "store/history_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

struct Recorded {
  model::Labels labels;
  std::vector<RecordedSample> samples;
};

std::vector<Recorded> all_samples(const std::string& database) {
  std::vector<Recorded> all;
  const auto file = HistoryFile::open(database);
  EXPECT_TRUE(file.ok()) << file.status().message();
  if (!file.ok()) return all;
  const Status read = (*file)->for_each_sample(
      {}, INT64_MIN, INT64_MAX,
      [&](const model::Labels& labels, std::span<const RecordedSample> samples) {
        if (all.empty() || all.back().labels != labels) all.push_back({labels, {}});
        all.back().samples.insert(all.back().samples.end(), samples.begin(), samples.end());
        return true;
      });
  EXPECT_TRUE(read.ok()) << read.message();
  return all;
}

std::string text_of(const std::vector<Recorded>& all) {
  std::string text;
  for (const Recorded& series : all) {
    text += store::text_of(series.labels) + "\n";
    for (const RecordedSample& s : series.samples) {
      text += std::to_string(s.time_ms) + " " + (s.number ? std::to_string(*s.number) : "-") + "\n";
    }
  }
  return text;
}

struct Outcome {
  uint64_t written = 0;
  uint64_t left_out = 0;
};

// Offers everything to the history in the folder.
Outcome backfill(const StateFolder& folder, const std::vector<Recorded>& all,
                 size_t batch = size_t{1} << 20) {
  const auto lock = StateLock::take(folder.path());
  EXPECT_TRUE(lock.ok());
  const auto history = Backfill::open({.lock = &*lock, .batch = batch});
  EXPECT_TRUE(history.ok()) << history.status().message();
  for (const Recorded& series : all) {
    std::string uuid;
    for (const auto& [name, value] : series.labels) {
      if (name == "uuid") uuid = value;
    }
    const auto* metric = catalog::find_metric(series.labels.front().second);
    EXPECT_TRUE((*history)->begin(*metric, uuid, "").ok());
    for (const RecordedSample& sample : series.samples) {
      const Status added = (*history)->add(sample.time_ms, sample.number);
      EXPECT_TRUE(added.ok()) << added.message();
    }
  }
  const Status finished = (*history)->finish();
  EXPECT_TRUE(finished.ok()) << finished.message();
  return {(*history)->written(), (*history)->left_out()};
}

// Temperature, energy with a reset now and then, and a limit that is read slowly, every 30 s.
class LongRun {
 public:
  // Hours, counted from the first one, that pass unrecorded.
  explicit LongRun(std::vector<int64_t> missing = {}) : missing_(std::move(missing)) {}

  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) tick();
    machine.settle();
  }

  // Seldom, since every commit waits for the disk.
  RecordedMachine machine{{.commit_interval = std::chrono::hours(1)}};

 private:
  void tick() {
    machine.ticks.next(seconds(30));
    ++count_;
    energy_ = count_ % 700 == 0 ? 3 : energy_ + 4500 + double(count_ % 13);
    if (count_ % 4 == 0) limit_at_ = machine.ticks.mono();
    const int64_t hour = (window_end(machine.ticks.wall_ms(), kHourMs) - kStartMs) / kHourMs;
    if (std::ranges::find(missing_, hour) != missing_.end()) return;
    model::Samples& samples = machine.ticks.device("GPU-a");
    const auto put = [&](MetricId metric, double number, MonoTime read_at) {
      samples.push_back({metric, "", model::Value::fresh(number, read_at, {}, 1)});
    };
    const MonoTime now = machine.ticks.mono();
    if (count_ % 211 != 0) put(MetricId::kGpuTemperature, 50 + count_ % 23, now);
    put(MetricId::kGpuEnergy, energy_, now);
    put(MetricId::kGpuPowerLimit, count_ % 1000 < 500 ? 700 : 650, limit_at_);
    std::ranges::sort(samples, {}, &model::Sample::metric);
    machine.publish();
  }

  const std::vector<int64_t> missing_;
  int64_t count_ = 0;
  double energy_ = 0;
  MonoTime limit_at_{};
};

std::string rolled_text(const model::Queryable& from, int64_t range_ms) {
  std::string text;
  auto set = from.select({}, {.start_ms = 0, .end_ms = INT64_MAX, .range_ms = range_ms}, {});
  EXPECT_TRUE(set.ok());
  if (!set.ok()) return text;
  text += std::string((*set)->tier()) + "\n";
  while (true) {
    auto cursor = (*set)->next();
    if (!cursor.ok() || *cursor == nullptr) return text;
    text += store::text_of((*cursor)->labels()) + "\n";
    while (true) {
      const auto stretch = (*cursor)->next();
      EXPECT_TRUE(stretch.ok());
      if (!stretch.ok() || stretch->times_ms.empty()) break;
      for (size_t i = 0; i < stretch->rollups.size(); ++i) {
        const model::Rollup& row = stretch->rollups[i];
        for (const double number : {double(stretch->times_ms[i]), row.min, row.max, row.sum,
                                    row.first, row.last, double(row.count), row.increase}) {
          text += std::to_string(number) + " ";
        }
        text += "\n";
      }
    }
  }
}

constexpr int64_t kTwoMinutesMs = 2 * kMinuteMs;
constexpr int64_t kTwoHoursMs = 2 * kHourMs;

// Rolled-up rows of both widths, once all that is over has been rolled up.
std::string rolled_after_restart(RecordedMachine& machine) {
  machine.start();
  const auto& from = machine.history->queryable();
  std::string text = rolled_text(from, kTwoMinutesMs) + rolled_text(from, kTwoHoursMs);
  machine.stop();
  return text;
}

TEST(Backfill, AnEmptyHistoryIsFilledWithExactlyWhatIsOffered) {
  LongRun whole;
  whole.run(1500);
  whole.machine.stop();
  const auto samples = all_samples(whole.machine.folder.database());
  ASSERT_EQ(samples.size(), 3U);
  const std::string rolled = rolled_after_restart(whole.machine);
  for (const size_t batch : {size_t{300}, size_t{1} << 20}) {
    RecordedMachine other;
    other.stop();
    const Outcome outcome = backfill(other.folder, samples, batch);
    EXPECT_EQ(outcome.left_out, 0U);
    EXPECT_GT(outcome.written, 3000U);
    EXPECT_EQ(text_of(all_samples(other.folder.database())), text_of(samples)) << batch;
    const auto check = (*HistoryFile::open(other.folder.database()))->check();
    ASSERT_TRUE(check.ok());
    EXPECT_THAT(check->faults, testing::IsEmpty());
    // A daemon rolls it up as it would have its own.
    EXPECT_EQ(rolled_after_restart(other), rolled);
  }
}

TEST(Backfill, HoursOfWhichAnythingIsRecordedStayAsTheyAre) {
  LongRun with_gap({3, 4});
  with_gap.run(1200);
  with_gap.machine.stop();
  const auto before = all_samples(with_gap.machine.folder.database());
  // Other numbers for every half minute there was.
  std::vector<Recorded> offered = {{before[1].labels, {}}};
  ASSERT_EQ(offered[0].labels.front().second, "gpu_power_limit_watts");
  for (int64_t i = 1; i <= 1200; ++i) {
    offered[0].samples.push_back({.time_ms = kStartMs + i * 30'000 + 7, .number = 123.0});
  }
  const Outcome outcome = backfill(with_gap.machine.folder, offered);
  EXPECT_EQ(outcome.written, 240U);
  EXPECT_EQ(outcome.left_out, 960U);
  auto after = all_samples(with_gap.machine.folder.database());
  ASSERT_EQ(after.size(), 3U);
  std::erase_if(after[1].samples, [](const auto& sample) { return sample.number == 123.0; });
  EXPECT_EQ(text_of(after), text_of(before));
  // Once more, and all of it is there already.
  EXPECT_EQ(backfill(with_gap.machine.folder, offered).written, 0U);
}

// What a daemon has rolled up long ago is not rolled up again by it: the import does.
TEST(Backfill, AGapThatIsFilledIsRolledUpAsIfItHadBeenRecorded) {
  LongRun whole;
  whole.run(2400);
  whole.machine.stop();
  const auto samples = all_samples(whole.machine.folder.database());
  const std::string expected = rolled_after_restart(whole.machine);
  struct Gap {
    std::vector<int64_t> hours;
    size_t batch;
  };
  for (const Gap& gap :
       {Gap{{6, 7, 8, 9, 13}, 500}, Gap{{6, 7, 8, 9, 13}, 1 << 20}, Gap{{0, 1, 2, 3, 4, 5, 6}, 500},
        Gap{{2, 4, 6}, 1 << 20}, Gap{{17, 18, 19}, 500}}) {
    LongRun with_gap(gap.hours);
    with_gap.run(2400);
    with_gap.machine.restart();  // what is over is rolled up
    with_gap.machine.stop();
    EXPECT_GT(backfill(with_gap.machine.folder, samples, gap.batch).written, 100U);
    EXPECT_EQ(rolled_after_restart(with_gap.machine), expected)
        << gap.hours.front() << " " << gap.batch;
  }
}

TEST(Backfill, RefusesWhatIsOutOfOrderOrInTwoPlaces) {
  const StateFolder folder;
  const auto lock = StateLock::take(folder.path());
  const auto history = Backfill::open({.lock = &*lock, .max_series = 2});
  ASSERT_TRUE(history.ok());
  const auto& celsius = catalog::metric(MetricId::kGpuTemperature);
  ASSERT_TRUE((*history)->begin(celsius, "GPU-a", "").ok());
  EXPECT_TRUE((*history)->add(kStartMs, 50).ok());
  EXPECT_THAT((*history)->add(kStartMs, 51).message(), HasSubstr("order of time"));
  EXPECT_THAT((*history)->add(kStartMs + 1, 1e300).message(), HasSubstr("beyond"));
  ASSERT_TRUE((*history)->begin(celsius, "GPU-b", "").ok());
  EXPECT_THAT((*history)->begin(celsius, "GPU-a", "").message(), HasSubstr("stand together"));
  EXPECT_EQ((*history)->begin(celsius, "GPU-c", "").code(), Code::kExhausted);
}

TEST(HistoryFile, ReadsBesideTheDaemonThatWrites) {
  RecordedMachine machine;
  for (int i = 0; i < 40; ++i) machine.celsius(40 + i % 5);
  machine.settle();
  const auto file = HistoryFile::open(machine.folder.database());
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto before = (*file)->stats();
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->series, 1U);
  EXPECT_EQ(before->committed_until_ms, machine.history->committed_until_ms());
  EXPECT_EQ(writer_of(machine.folder.path()), Writer::kSomebody);
  for (int i = 0; i < 40; ++i) machine.celsius(50 + i % 5);
  machine.settle();
  EXPECT_GT((*file)->stats()->committed_until_ms, before->committed_until_ms);
  EXPECT_TRUE((*file)->check()->faults.empty());
  machine.stop();
  EXPECT_EQ(writer_of(machine.folder.path()), Writer::kNobody);
  EXPECT_EQ(history_files(machine.folder.path()), std::vector<std::string>{"history.db"});
}

// Root may write everywhere: a child that is nobody reads.
TEST(HistoryFile, ADirectoryThatCannotBeWrittenIsRead) {
  RecordedMachine machine;
  for (int i = 0; i < 40; ++i) machine.celsius(40 + i % 5);
  machine.stop();
  ASSERT_EQ(::chmod(machine.folder.path().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(machine.folder.database().c_str(), 0444), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const auto file = HistoryFile::open(machine.folder.database());
    if (!file.ok()) ::_exit(3);
    const Series read = read_history((*file)->queryable());
    ::_exit(read.size() == 1 && read.begin()->second.size() == 40 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(HistoryFile, SaysWhatIsNotThereAndWhatIsNoHistory) {
  const StateFolder folder;
  EXPECT_EQ(HistoryFile::open(folder.database()).status().code(), Code::kNotFound);
  std::ofstream(folder.database()) << "not a database at all, whatever its name says";
  EXPECT_EQ(HistoryFile::open(folder.database()).status().code(), Code::kCorrupt);
}

}  // namespace
}  // namespace gpusight::store
