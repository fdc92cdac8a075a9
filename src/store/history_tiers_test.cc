// Merging and rolling up: what was recorded stays what it was, whatever is done to its chunks, and
// rolled-up rows are those of a plain loop over the samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "store/history_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kEnergy = R"({__name__="gpu_energy_joules_total",uuid="GPU-a"})";
constexpr std::string_view kLimit = R"({__name__="gpu_power_limit_watts",uuid="GPU-a"})";

struct Rolled {
  std::string tier;
  int64_t resolution_ms = 0;
  std::map<std::string, std::vector<std::pair<int64_t, model::Rollup>>> rows;
};

Rolled read_rolled(const model::Queryable& from, const model::SelectHints& hints) {
  Rolled rolled;
  auto set = from.select({}, hints, {});
  EXPECT_TRUE(set.ok()) << set.status().message();
  if (!set.ok()) return rolled;
  rolled.tier = (*set)->tier();
  rolled.resolution_ms = (*set)->resolution_ms();
  while (true) {
    auto cursor = (*set)->next();
    EXPECT_TRUE(cursor.ok());
    if (!cursor.ok() || *cursor == nullptr) return rolled;
    auto& rows = rolled.rows[text_of((*cursor)->labels())];
    while (true) {
      const auto stretch = (*cursor)->next();
      EXPECT_TRUE(stretch.ok());
      if (!stretch.ok() || stretch->times_ms.empty()) break;
      if (rolled.resolution_ms == 0) continue;
      EXPECT_EQ(stretch->times_ms.size(), stretch->rollups.size());
      for (size_t i = 0; i < stretch->times_ms.size(); ++i) {
        rows.emplace_back(stretch->times_ms[i], stretch->rollups[i]);
      }
    }
  }
}

// A row of a plain loop over all samples of a series.
std::map<int64_t, model::Rollup> roll_plainly(const Points& points, int64_t resolution_ms,
                                              bool is_counter) {
  std::map<int64_t, model::Rollup> rows;
  std::optional<double> before;
  for (const Point& point : points) {
    if (model::is_stale_marker(point.value)) continue;
    const int64_t end_ms = (point.time_ms + resolution_ms - 1) / resolution_ms * resolution_ms;
    const auto [at, is_new] = rows.try_emplace(end_ms);
    model::Rollup& row = at->second;
    if (is_new) row = {.min = point.value, .max = point.value, .first = point.value};
    row.min = std::min(row.min, point.value);
    row.max = std::max(row.max, point.value);
    row.last = point.value;
    row.sum += point.value;
    ++row.count;
    if (is_counter && before) {
      row.increase += point.value >= *before ? point.value - *before : point.value;
    }
    before = point.value;
  }
  return rows;
}

// A machine that runs for hours in ticks of 15 s: temperature, energy (reset now and then) and a
// power limit that is read slowly.
class LongRun {
 public:
  explicit LongRun(History::Options options) : machine(std::move(options)) {}

  void run(Duration span) {
    for (const MonoTime end = machine.ticks.mono() + span; machine.ticks.mono() < end;) tick();
    look();
    machine.settle();
  }

  void tick() {
    machine.ticks.next(seconds(15));
    ++count_;
    if (count_ % 211 != 0) {
      model::Samples& samples = machine.ticks.device("GPU-a");
      const double celsius = 50 + std::round(10 * std::sin(double(count_) / 37));
      energy_ = count_ % 700 == 0 ? 3 : energy_ + 4500 + double(count_ % 13);
      if (count_ % 10 == 0) limit_at_ = machine.ticks.mono();
      const double watts = count_ % 1000 < 500 ? 700 : 650;
      put(samples, MetricId::kGpuTemperature, celsius, machine.ticks.mono());
      put(samples, MetricId::kGpuEnergy, energy_, machine.ticks.mono());
      put(samples, MetricId::kGpuPowerLimit, watts, limit_at_);
      std::ranges::sort(samples, {}, &model::Sample::metric);
    }
    machine.publish();
    // The head keeps ten minutes: forty ticks.
    if (count_ % 32 == 0) look();
  }

  // As the head saw it.
  Series expected;
  RecordedMachine machine;

 private:
  void look() {
    for (auto& [labels, points] : read_history(*machine.head, {}, seen_ms_)) {
      expected[labels].insert(expected[labels].end(), points.begin(), points.end());
    }
    seen_ms_ = machine.ticks.wall_ms();
  }

  static void put(model::Samples& samples, MetricId id, double number, MonoTime read_at) {
    samples.push_back({id, "", model::Value::fresh(number, read_at, {}, 1)});
  }

  int64_t seen_ms_ = 0;
  uint64_t count_ = 0;
  double energy_ = 1e6;
  MonoTime limit_at_{};
};

History::Options quick() { return {.commit_interval = minutes(2)}; }

TEST(HistoryTiers, MergingChangesNothingThatIsRead) {
  LongRun run(quick());
  run.run(hours(5));
  EXPECT_EQ(read_history(run.machine.history->queryable()), run.expected);
  const HistoryStats stats = run.machine.history->stats();
  // Of ten-minute chunks only those of the window that is not over are left.
  EXPECT_LT(stats.tiers[0].chunks, 2 * (4 * 6 + 5 + 2));
  run.machine.restart();
  EXPECT_EQ(read_history(run.machine.history->queryable()), run.expected);
}

TEST(HistoryTiers, RolledUpRowsAreThoseOfAPlainLoop) {
  History::Options options = quick();
  options.retention.keep[0] = hours(5);
  LongRun run(options);
  run.run(hours(14));
  ASSERT_GT(run.machine.history->stats().tiers[0].first_ms, kStartMs + int64_t{3'600'000});

  for (const auto& [step_ms, tier] :
       {std::pair<int64_t, std::string>{120'000, "1m"}, {7'200'000, "1m"}}) {
    const Rolled rolled =
        read_rolled(run.machine.history->queryable(),
                    {.start_ms = kStartMs, .end_ms = INT64_MAX, .range_ms = step_ms});
    EXPECT_EQ(rolled.tier, tier);
    for (const auto& [labels, rows] : rolled.rows) {
      const auto plain =
          roll_plainly(run.expected[labels], rolled.resolution_ms, labels == kEnergy);
      auto at = plain.begin();
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto& [time_ms, row] = rows[i];
        if (model::is_stale_marker(row.last)) continue;
        ASSERT_NE(at, plain.end()) << labels;
        // The last row stands for a minute that is not over.
        if (i + 1 < rows.size()) {
          EXPECT_EQ(time_ms, at->first) << labels;
        } else {
          EXPECT_EQ(time_ms, run.expected[labels].back().time_ms) << labels;
        }
        EXPECT_EQ(row.count, at->second.count) << labels << time_ms;
        EXPECT_EQ(row.min, at->second.min);
        EXPECT_EQ(row.max, at->second.max);
        EXPECT_EQ(row.first, at->second.first);
        EXPECT_EQ(row.last, at->second.last);
        EXPECT_DOUBLE_EQ(row.sum, at->second.sum);
        EXPECT_DOUBLE_EQ(row.increase, at->second.increase) << labels << (time_ms - kStartMs);
        ++at;
      }
      EXPECT_EQ(at, plain.end()) << labels;
    }
    EXPECT_EQ(rolled.rows.size(), 3U);
    EXPECT_TRUE(rolled.rows.contains(std::string(kLimit)));
  }
}

// A function of whole windows, of samples and of rows.
struct OverTime {
  std::string_view name;
  double (*of_samples)(const std::vector<double>& samples);
  double (*of_rows)(std::span<const model::Rollup> rows);
};

double sum_of(const std::vector<double>& samples) {
  long double sum = 0;
  for (const double sample : samples) sum += sample;
  return static_cast<double>(sum);
}
double sum_of_rows(std::span<const model::Rollup> rows) {
  long double sum = 0;
  for (const model::Rollup& row : rows) sum += row.sum;
  return static_cast<double>(sum);
}
double count_of_rows(std::span<const model::Rollup> rows) {
  uint64_t count = 0;
  for (const model::Rollup& row : rows) count += row.count;
  return static_cast<double>(count);
}

constexpr OverTime kOverTime[] = {
    {"min_over_time", [](const std::vector<double>& of) { return std::ranges::min(of); },
     [](std::span<const model::Rollup> rows) {
       return std::ranges::min_element(rows, {}, &model::Rollup::min)->min;
     }},
    {"max_over_time", [](const std::vector<double>& of) { return std::ranges::max(of); },
     [](std::span<const model::Rollup> rows) {
       return std::ranges::max_element(rows, {}, &model::Rollup::max)->max;
     }},
    {"count_over_time",
     [](const std::vector<double>& of) { return static_cast<double>(of.size()); }, count_of_rows},
    {"last_over_time", [](const std::vector<double>& of) { return of.back(); },
     [](std::span<const model::Rollup> rows) { return rows.back().last; }},
    {"sum_over_time", sum_of, sum_of_rows},
    {"avg_over_time",
     [](const std::vector<double>& of) { return sum_of(of) / static_cast<double>(of.size()); },
     [](std::span<const model::Rollup> rows) { return sum_of_rows(rows) / count_of_rows(rows); }},
};

std::vector<double> samples_in(const Points& points, int64_t start_ms, int64_t end_ms) {
  std::vector<double> samples;
  for (const Point& point : points) {
    if (point.time_ms <= start_ms || point.time_ms > end_ms) continue;
    if (!model::is_stale_marker(point.value)) samples.push_back(point.value);
  }
  return samples;
}

std::vector<model::Rollup> rows_in(const std::vector<std::pair<int64_t, model::Rollup>>& of,
                                   int64_t start_ms, int64_t end_ms) {
  std::vector<model::Rollup> rows;
  for (const auto& [time_ms, row] : of) {
    if (time_ms <= start_ms || time_ms > end_ms) continue;
    if (!model::is_stale_marker(row.last)) rows.push_back(row);
  }
  return rows;
}

// All windows of a query, of every series, from rows and from the samples.
void expect_same_answers(const LongRun& run, const OverTime& function,
                         const model::SelectHints& hints, const std::string& tier) {
  Rolled rolled = read_rolled(run.machine.history->queryable(), hints);
  ASSERT_EQ(rolled.tier, tier) << function.name;
  for (const auto& [labels, points] : run.expected) {
    for (int64_t end_ms = hints.start_ms + hints.range_ms; end_ms <= hints.end_ms;
         end_ms += std::max<int64_t>(hints.step_ms, 1)) {
      const auto samples = samples_in(points, end_ms - hints.range_ms, end_ms);
      const auto rows = rows_in(rolled.rows[labels], end_ms - hints.range_ms, end_ms);
      ASSERT_EQ(samples.empty(), rows.empty()) << labels << end_ms;
      if (samples.empty()) continue;
      const double want = function.of_samples(samples);
      const double got = function.of_rows(rows);
      const bool is_rounded = function.name == "sum_over_time" || function.name == "avg_over_time";
      EXPECT_NEAR(got, want, is_rounded ? std::abs(want) * 0x1p-52 : 0) << function.name << labels;
    }
  }
}

TEST(HistoryTiers, WholeWindowsOfRowsAnswerAsTheirSamplesDo) {
  LongRun run(quick());
  run.run(hours(11));
  const int64_t now_ms = run.machine.ticks.wall_ms();
  std::mt19937_64 random(5);
  const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  for (int round = 0; round < 60; ++round) {
    // Days, as hours, are left to the tier of hours.
    const bool is_hours = round % 3 == 0;
    const int64_t width_ms = is_hours ? kHourMs : kMinuteMs;
    const int64_t range_ms = is_hours ? up_to(4) * kHourMs : up_to(50) * kMinuteMs;
    const int64_t step_ms = up_to(is_hours ? 3 : 40) * width_ms;
    const int64_t span_ms = now_ms - kStartMs;
    const int64_t first_ms = window_end(
        kStartMs + static_cast<int64_t>(random() % static_cast<uint64_t>(span_ms)), width_ms);
    const int64_t steps = (now_ms + width_ms - first_ms) / step_ms;
    const model::SelectHints hints{.start_ms = first_ms - range_ms,
                                   .end_ms = first_ms + steps * step_ms,
                                   .step_ms = steps == 0 ? 0 : step_ms,
                                   .range_ms = range_ms,
                                   .function = kOverTime[round % std::size(kOverTime)].name};
    const bool fits_hours =
        first_ms % kHourMs == 0 && range_ms % kHourMs == 0 && hints.step_ms % kHourMs == 0;
    expect_same_answers(run, kOverTime[round % std::size(kOverTime)], hints,
                        fits_hours ? "1h" : "1m");
  }
}

TEST(HistoryTiers, OneWindowIsReadFromHoursInsideAndMinutesAtItsEdges) {
  LongRun run(quick());
  run.run(hours(11));
  const int64_t now_ms = run.machine.ticks.wall_ms();
  for (const OverTime& function : kOverTime) {
    for (const int64_t off_ms : {kMinuteMs, 7 * kMinuteMs, 59 * kMinuteMs}) {
      const int64_t end_ms = window_end(now_ms, kHourMs) - kHourMs - off_ms;
      model::SelectHints hints{.end_ms = end_ms, .function = function.name};
      for (const int64_t range_ms : {kHourMs + kMinuteMs, 3 * kHourMs, 9 * kHourMs}) {
        hints.range_ms = range_ms;
        hints.start_ms = end_ms - range_ms;
        expect_same_answers(run, function, hints, "1m");
      }
      // Of the longest window few rows are left of its minutes.
      const auto rolled = read_rolled(run.machine.history->queryable(), hints);
      EXPECT_LT(rolled.rows.at(std::string(kTemperature)).size(), 5 * 60 + 9) << function.name;
    }
  }
}

// The newest number not before `start_ms`, as an instant selector takes it; nullopt where there is
// none, or where the series has ended.
std::optional<double> last_in(const Points& points, int64_t start_ms, int64_t end_ms) {
  std::optional<double> last;
  for (const Point& point : points) {
    if (point.time_ms <= start_ms || point.time_ms > end_ms) continue;
    last = model::is_stale_marker(point.value) ? std::nullopt : std::optional(point.value);
  }
  return last;
}

TEST(HistoryTiers, InstantsOnWholeMinutesAreThoseOfSamples) {
  LongRun run(quick());
  run.run(hours(9));
  const int64_t lookback_ms = 5 * kMinuteMs;
  const int64_t end_ms = window_end(run.machine.ticks.wall_ms(), kMinuteMs) - kMinuteMs;
  const model::SelectHints hints{.start_ms = end_ms - 8 * kHourMs - lookback_ms,
                                 .end_ms = end_ms,
                                 .step_ms = 2 * kMinuteMs,
                                 .lookback_ms = lookback_ms};
  const Rolled rolled = read_rolled(run.machine.history->queryable(), hints);
  ASSERT_EQ(rolled.tier, "1m");
  size_t compared = 0;
  for (const auto& [labels, rows] : rolled.rows) {
    Points lasts;
    for (const auto& [time_ms, row] : rows) lasts.push_back({time_ms, row.last});
    for (int64_t at_ms = end_ms - 8 * kHourMs; at_ms <= end_ms; at_ms += hints.step_ms) {
      const auto want = last_in(run.expected[labels], at_ms - lookback_ms, at_ms);
      const auto got = last_in(lasts, at_ms - lookback_ms, at_ms);
      if (want == got) {
        ++compared;
        continue;
      }
      // It ended inside of the minute, whose row still has its last number.
      EXPECT_EQ(want, std::nullopt) << labels << at_ms;
      EXPECT_EQ(last_in(run.expected[labels], at_ms - kMinuteMs, at_ms), std::nullopt);
    }
  }
  EXPECT_GT(compared, 700U);
}

TEST(HistoryTiers, ListingLabelsEndsWhenItIsStopped) {
  LongRun run(quick());
  run.run(minutes(30));
  const model::Queryable& from = run.machine.history->queryable();
  std::stop_source stop;
  EXPECT_TRUE(from.label_names({}, kStartMs, INT64_MAX, stop.get_token()).ok());
  stop.request_stop();
  EXPECT_EQ(from.label_names({}, kStartMs, INT64_MAX, stop.get_token()).status().code(),
            Code::kCancelled);
  EXPECT_EQ(from.label_values("uuid", {}, kStartMs, INT64_MAX, stop.get_token()).status().code(),
            Code::kCancelled);
}

TEST(HistoryTiers, TheFinestTierThatReachesBackAnswers) {
  History::Options options = quick();
  options.retention.keep[0] = hours(5);
  options.retention.keep[1] = hours(9);
  LongRun run(options);
  run.run(hours(26));
  const model::Queryable& from = run.machine.history->queryable();
  const int64_t now_ms = run.machine.ticks.wall_ms();
  const auto tier_of = [&](model::SelectHints hints) {
    hints.end_ms = now_ms;
    return read_rolled(from, hints).tier;
  };
  const auto ago = [&](int64_t hours_ago) { return now_ms - hours_ago * kHourMs; };
  EXPECT_EQ(tier_of({.start_ms = ago(1), .step_ms = kDayMs}), "raw");
  EXPECT_EQ(tier_of({.start_ms = ago(8), .step_ms = 2 * kMinuteMs}), "1m");
  EXPECT_EQ(tier_of({.start_ms = ago(8), .step_ms = kMinuteMs, .range_ms = 5 * kMinuteMs}), "1m");
  EXPECT_EQ(tier_of({.start_ms = ago(25), .step_ms = 2 * kHourMs}), "1h");
  // Too coarse for what is asked, but there is nothing finer.
  EXPECT_EQ(tier_of({.start_ms = ago(8), .step_ms = 1000}), "1m");
  EXPECT_EQ(tier_of({.start_ms = ago(25)}), "1h");
  // Before everything: as far back as there is something.
  EXPECT_EQ(tier_of({.start_ms = 0, .step_ms = 2 * kHourMs}), "1h");
}

TEST(HistoryTiers, ACoarseTierIsNeverGoneBeforeAFinerOne) {
  History::Options options = quick();
  options.retention.keep[0] = hours(23);
  options.retention.keep[1] = hours(5);
  LongRun run(options);
  run.run(hours(26));
  const int64_t end_ms = window_end(run.machine.ticks.wall_ms(), kHourMs) - kHourMs;
  const Rolled read =
      read_rolled(run.machine.history->queryable(), {.start_ms = end_ms - 20 * kHourMs,
                                                     .end_ms = end_ms,
                                                     .step_ms = kMinuteMs,
                                                     .range_ms = kMinuteMs,
                                                     .function = "max_over_time"});
  EXPECT_EQ(read.tier, "1m");
  const auto longest = std::ranges::max_element(
      read.rows, {}, [](const auto& series) { return series.second.size(); });
  ASSERT_NE(longest, read.rows.end());
  EXPECT_GE(longest->second.size(), 20u * 60);
}

TEST(HistoryTiers, AYoungHistoryAnswersLongRangesFromRaw) {
  LongRun run(quick());
  run.run(minutes(30));
  const Rolled read = read_rolled(
      run.machine.history->queryable(),
      {.start_ms = kStartMs - 30 * kDayMs, .end_ms = INT64_MAX, .step_ms = 6 * kHourMs});
  EXPECT_EQ(read.tier, "raw");
}

// FAULT-108
TEST(HistoryTiers, TheDatabaseKeepsWithinItsSize) {
  History::Options options = quick();
  options.retention.max_bytes = 150'000;
  RecordedMachine machine(options);
  std::mt19937_64 random(1);
  for (int tick = 0; tick < 2400; ++tick) {
    machine.ticks.next(seconds(15));
    for (int gpu = 0; gpu < 20; ++gpu) {
      machine.ticks.device("GPU-" + std::to_string(gpu))
          .push_back({MetricId::kGpuPower, "",
                      machine.ticks.fresh(300 + double(random() % 300'000) / 1000)});
    }
    machine.publish();
  }
  machine.settle();
  const HistoryStats stats = machine.history->stats();
  EXPECT_TRUE(stats.recording.ok()) << stats.recording.message();
  EXPECT_GT(stats.tiers[0].first_ms, kStartMs + kHourMs);  // the oldest went
  EXPECT_EQ(stats.tiers[0].last_ms, *stats.committed_until_ms);
  uint64_t packed_bytes = 0;
  for (const auto& tier : stats.tiers) packed_bytes += tier.packed_bytes;
  // What is not merged yet comes on top.
  EXPECT_LT(packed_bytes, options.retention.max_bytes * 3 / 2);
}

}  // namespace
}  // namespace gpusight::store
