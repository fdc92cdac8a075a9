// Recorded history on disk as the daemon makes it, and what queries of it cost. bench/queries.py
// runs it, with other engines at the same samples beside it.
//
//   bench_history_store fill FOLDER FILE SECONDS DAYS EVERY SHIFT
//       records `simulated_day(SECONDS)` DAYS times over into FOLDER/FILE, SHIFT seconds later than
//       it is: the last day as the daemon does, the days before one tick in EVERY; prints JSON
//   bench_history_store ask FOLDER START END STEP REPEATS QUERY...
//       asks queries of it through the query engine, in seconds since 1970, each REPEATS times and
//       once before; prints JSON
//   bench_history_store read FOLDER REPEATS METRIC
//       reads the raw samples of a metric's last day from end to end; prints JSON
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "catalog/metric.h"
#include "history_day.h"
#include "promql/engine.h"
#include "promql/parser.h"
#include "store/history.h"

namespace gpusight::bench {
namespace {

using std::chrono::milliseconds;

// A column and where its series is in a snapshot.
struct Feed {
  const DayColumn* column = nullptr;
  const catalog::MetricRow* metric = nullptr;
  int64_t gain = 0;  // of a counter, in a day
};

struct Subject {
  std::shared_ptr<const model::Device> device;
  const DayGroup* fast = nullptr;
  std::vector<Feed> fast_feeds;
  std::vector<Feed> slow_feeds;
  size_t slow_every = 1;  // ticks
};

std::vector<Feed> feeds_of(const DayGroup& group) {
  std::vector<Feed> feeds;
  for (const DayColumn& column : group.columns) {
    const catalog::MetricRow* metric = catalog::find_metric(column.metric);
    CHECK(metric != nullptr, column.metric);
    const bool is_counter = metric->kind == catalog::Kind::kCounter;
    feeds.push_back(
        {.column = &column,
         .metric = metric,
         .gain = is_counter ? column.quanta.back() - column.quanta.front() + 1 : int64_t{0}});
  }
  return feeds;
}

// history_day.h gives each GPU's fast group and after it its slow one.
std::vector<Subject> subjects_of(const std::vector<DayGroup>& groups) {
  std::vector<Subject> subjects;
  for (size_t i = 0; i + 1 < groups.size(); i += 2) {
    auto device = std::make_shared<model::Device>();
    device->uuid = groups[i].uuid;
    subjects.push_back({.device = std::move(device),
                        .fast = &groups[i],
                        .fast_feeds = feeds_of(groups[i]),
                        .slow_feeds = feeds_of(groups[i + 1]),
                        .slow_every = groups[i].times_ms.size() / groups[i + 1].times_ms.size()});
  }
  return subjects;
}

// `day` counts from 0; counters go on from day to day.
model::SnapshotPtr tick(const std::vector<Subject>& subjects, size_t row, int64_t day,
                        int64_t shift_ms) {
  auto snapshot = std::make_shared<model::Snapshot>();
  const int64_t wall_ms = subjects[0].fast->times_ms[row] + shift_ms;
  snapshot->wall = WallTime(milliseconds(wall_ms));
  snapshot->mono = MonoTime(milliseconds(wall_ms));
  snapshot->interval = std::chrono::seconds(1);
  for (const Subject& subject : subjects) {
    model::DeviceSnapshot device{.device = subject.device};
    const auto put = [&](const Feed& feed, size_t at, MonoTime read_at) {
      const int64_t quantum = feed.column->quanta[at] + day * feed.gain;
      device.samples.push_back(
          {feed.metric->id, feed.column->label,
           model::Value::fresh(catalog::value_of(*feed.metric, quantum), read_at, {}, 1)});
    };
    for (const Feed& feed : subject.fast_feeds) put(feed, row, snapshot->mono);
    const size_t slow_row = row / subject.slow_every;
    const MonoTime slow_at = snapshot->mono - std::chrono::seconds(row % subject.slow_every);
    for (const Feed& feed : subject.slow_feeds) put(feed, slow_row, slow_at);
    std::ranges::sort(device.samples, {},
                      [](const model::Sample& s) { return std::pair(s.metric, s.label); });
    snapshot->devices.push_back(std::move(device));
  }
  return snapshot;
}

void settle(const store::History& history) {
  while (!history.is_idle()) std::this_thread::sleep_for(milliseconds(1));
}

struct FillOptions {
  std::string folder;
  std::string file;
  int64_t seconds = 0;
  int64_t days = 0;
  size_t every = 1;
  int64_t shift_ms = 0;
};

// Records days [first, end) and closes.
store::HistoryStats record(const FillOptions& options, const std::vector<Subject>& subjects,
                           int64_t first, int64_t end, size_t every, Duration commit_interval) {
  auto lock = store::StateLock::take(options.folder);
  CHECK(lock.ok(), lock.status().message());
  const auto history = store::History::open(
      {.lock = &*lock, .file = options.file, .commit_interval = commit_interval});
  size_t ticks = 0;
  for (int64_t day = first; day < end; ++day) {
    const int64_t shift_ms = options.shift_ms + day * options.seconds * 1000;
    for (size_t row = 0; row < subjects[0].fast->times_ms.size(); row += every) {
      history->append(tick(subjects, row, day, shift_ms));
      if (++ticks % 100 == 0) settle(*history);
    }
  }
  settle(*history);
  store::HistoryStats stats = history->stats();
  CHECK(stats.recording.ok(), stats.recording.message());
  CHECK(stats.dropped_ticks == 0 && stats.dropped_samples == 0, "everything is recorded");
  CHECK(history->close(std::chrono::minutes(5)), "the disk is not stuck");
  return stats;
}

int fill(const FillOptions& options) {
  const std::vector<DayGroup> groups = simulated_day(options.seconds);
  const std::vector<Subject> subjects = subjects_of(groups);
  const int64_t before = options.days - 1;
  if (before > 0) {
    record(options, subjects, 0, before, options.every, std::chrono::minutes(10));
  }
  const auto stats = record(options, subjects, before, options.days, 1, std::chrono::seconds(10));
  uint64_t packed = 0;
  for (const auto& of_tier : stats.tiers) packed += of_tier.packed_bytes;
  fmt::print(R"({{"series":{},"packed_bytes":{},"raw_packed_bytes":{},"last_ms":{}}})"
             "\n",
             stats.series, packed, stats.tiers[0].packed_bytes, *stats.committed_until_ms);
  return 0;
}

struct Opened {
  explicit Opened(const std::string& folder) {
    auto taken = store::StateLock::take(folder);
    CHECK(taken.ok(), taken.status().message());
    lock.emplace(std::move(*taken));
    history = store::History::open({.lock = &*lock});
    settle(*history);
  }
  std::optional<store::StateLock> lock;
  std::unique_ptr<store::History> history;
};

double now_ms(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Times {  // medians, in milliseconds
  double wall = 0;
  double cpu = 0;  // of this thread: others may be at work on the machine too
};

template <typename Run>
Times timed(int repeats, const Run& run) {
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int i = 0; i <= repeats; ++i) {
    const double wall_began = now_ms(CLOCK_MONOTONIC);
    const double cpu_began = now_ms(CLOCK_THREAD_CPUTIME_ID);
    run();
    if (i == 0) continue;  // it filled caches
    wall.push_back(now_ms(CLOCK_MONOTONIC) - wall_began);
    cpu.push_back(now_ms(CLOCK_THREAD_CPUTIME_ID) - cpu_began);
  }
  std::ranges::sort(wall);
  std::ranges::sort(cpu);
  return {.wall = wall[wall.size() / 2], .cpu = cpu[cpu.size() / 2]};
}

int ask(const std::string& folder, const promql::QueryRange& range, int repeats,
        std::span<char*> queries) {
  const Opened opened(folder);
  const SystemClock clock;
  const promql::Engine engine({}, clock);
  for (const char* query : queries) {
    const auto expr = promql::parse(query);
    CHECK(expr.ok(), expr.status().message());
    promql::QueryResult answer;
    const Times took = timed(repeats, [&] {
      auto result = range.step_ms == 0
                        ? engine.instant(opened.history->queryable(), **expr, range.end_ms, {})
                        : engine.range(opened.history->queryable(), **expr, range, {});
      CHECK(result.ok(), result.status().message());
      answer = std::move(*result);
    });
    size_t series = 0;
    size_t points = 0;
    double sum = 0;
    if (const auto* matrix = std::get_if<promql::Matrix>(&answer.value)) {
      series = matrix->size();
      for (const auto& of_series : *matrix) {
        points += of_series.points.size();
        for (const promql::Point& point : of_series.points) sum += point.value;
      }
    } else if (const auto* vector = std::get_if<promql::Vector>(&answer.value)) {
      series = points = vector->size();
      for (const auto& element : *vector) sum += element.point.value;
    }
    fmt::print(R"({{"ms":{:.3f},"cpu_ms":{:.3f},"series":{},"points":{},"sum":{},"samples":{},)"
               R"("tier":"{}"}})"
               "\n",
               took.wall, took.cpu, series, points, sum, answer.stats.samples_read,
               fmt::join(answer.stats.tiers, ","));
  }
  return 0;
}

int read(const std::string& folder, int repeats, const std::string& metric) {
  const Opened opened(folder);
  const std::vector<model::Matcher> matchers = {model::equal_matcher("__name__", metric)};
  const auto last_ms = opened.history->stats().committed_until_ms;
  CHECK(last_ms.has_value(), "there is nothing to read");
  constexpr int64_t kDayMs = 86'400'000;
  uint64_t samples = 0;
  const Times took = timed(repeats, [&] {
    samples = 0;
    auto set = opened.history->queryable().select(
        matchers, {.start_ms = *last_ms - kDayMs, .end_ms = *last_ms}, {});
    CHECK(set.ok(), set.status().message());
    while (true) {
      auto cursor = (*set)->next();
      CHECK(cursor.ok(), cursor.status().message());
      if (*cursor == nullptr) break;
      for (auto stretch = (*cursor)->next(); !stretch->times_ms.empty();
           stretch = (*cursor)->next()) {
        samples += stretch->times_ms.size();
      }
    }
  });
  fmt::print(R"({{"ms":{:.3f},"cpu_ms":{:.3f},"samples":{},"samples_per_second":{:.0f}}})"
             "\n",
             took.wall, took.cpu, samples, static_cast<double>(samples) / took.cpu * 1000);
  return 0;
}

int usage() {
  std::fprintf(stderr,
               "usage: bench_history_store fill FOLDER FILE SECONDS DAYS EVERY SHIFT\n"
               "       bench_history_store ask FOLDER START END STEP REPEATS QUERY...\n"
               "       bench_history_store read FOLDER REPEATS METRIC\n");
  return 2;
}

int64_t milliseconds_of(const char* seconds) {
  return static_cast<int64_t>(std::atof(seconds) * 1000);
}

}  // namespace
}  // namespace gpusight::bench

int main(int argc, char** argv) {
  using namespace gpusight;
  using namespace gpusight::bench;
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "fill" && argc == 8) {
    return fill({.folder = argv[2],
                 .file = argv[3],
                 .seconds = std::atoll(argv[4]),
                 .days = std::atoll(argv[5]),
                 .every = static_cast<size_t>(std::atoll(argv[6])),
                 .shift_ms = milliseconds_of(argv[7])});
  }
  if (what == "ask" && argc > 7) {
    return ask(argv[2],
               {.start_ms = milliseconds_of(argv[3]),
                .end_ms = milliseconds_of(argv[4]),
                .step_ms = milliseconds_of(argv[5])},
               std::atoi(argv[6]), std::span(argv + 7, argv + argc));
  }
  if (what == "read" && argc == 5) return read(argv[2], std::atoi(argv[3]), argv[4]);
  return usage();
}
