// What queries cost on series held in memory: the parser, a day of one-second samples in windows of
// a minute, and rates of a thousand counters. bench/promql.py asks Prometheus the same of the same
// series beside it; change both together.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "promql/engine.h"
#include "promql/memory_series.h"
#include "promql/parser.h"

namespace gpusight::promql {
namespace {

constexpr int64_t kStartMs = 1'700'000'000'000;

std::vector<int64_t> times(int64_t start_ms, int64_t step_ms, size_t count) {
  std::vector<int64_t> times(count);
  for (size_t i = 0; i < count; ++i) times[i] = start_ms + static_cast<int64_t>(i) * step_ms;
  return times;
}

void add(MemorySeries& data, const model::Labels& labels, const std::vector<int64_t>& times_ms,
         const std::vector<double>& values) {
  const Status status = data.add(labels, times_ms, values);
  CHECK(status.ok(), status.message());
}

// Eight gauges at a sample a second for a day and the minute before it.
MemorySeries day_of_seconds() {
  const auto times_ms = times(kStartMs - 60'000, 1000, 24 * 3600 + 60);
  MemorySeries data;
  for (int gpu = 0; gpu < 8; ++gpu) {
    std::vector<double> values(times_ms.size());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] =
          400 + 100 * std::sin(static_cast<double>(i) / 50 + gpu) + static_cast<double>(i % 7);
    }
    add(data, {{"__name__", "m"}, {"uuid", "GPU-" + std::to_string(gpu)}}, times_ms, values);
  }
  return data;
}

// A thousand counters in ten groups, one sample every 15 s for an hour and the five minutes before
// it. Counter i rises by 1 + i % 7 a sample.
constexpr int kCounters = 1000;
MemorySeries hour_of_counters() {
  const auto times_ms = times(kStartMs - 300'000, 15'000, 261);
  MemorySeries data;
  for (int i = 0; i < kCounters; ++i) {
    std::vector<double> values(times_ms.size());
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = 1e6 + i + static_cast<double>(k) * (1 + i % 7);
    }
    add(data, {{"__name__", "m"}, {"a", std::to_string(i % 10)}, {"i", std::to_string(i)}},
        times_ms, values);
  }
  return data;
}

Matrix ask(const Engine& engine, const MemorySeries& data, const std::string& query,
           const QueryRange& range) {
  const auto expr = parse(query);
  CHECK(expr.ok(), expr.status().message());
  auto result = engine.range(data, **expr, range, {});
  CHECK(result.ok(), result.status().message());
  return std::get<Matrix>(std::move(result->value));
}

void parse_query(benchmark::State& state) {
  const std::string query =
      R"(sum by (uuid, host) (rate(gpu_energy_joules_total{host=~"gpu-.+",gpu!="7"}[5m])) )"
      R"(/ on (host) group_left () sum by (host) (rate(host_energy_joules_total[5m])) > 0.25)";
  for (auto _ : state) benchmark::DoNotOptimize(parse(query));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * query.size()));
}
BENCHMARK(parse_query)->Unit(benchmark::kMicrosecond);

void avg_over_time_of_a_day(benchmark::State& state) {
  const MemorySeries data = day_of_seconds();
  const SystemClock clock;
  const Engine engine({}, clock);
  const QueryRange range{.start_ms = kStartMs, .end_ms = kStartMs + 86'340'000, .step_ms = 60'000};
  Matrix answer;
  for (auto _ : state) answer = ask(engine, data, "avg_over_time(m[1m])", range);
  CHECK(answer.size() == 8 && answer[0].points.size() == 1440, "a minute's mean of eight series");
}
BENCHMARK(avg_over_time_of_a_day)->Unit(benchmark::kMillisecond);

void sum_of_a_thousand_rates(benchmark::State& state) {
  const MemorySeries data = hour_of_counters();
  const SystemClock clock;
  const Engine engine({}, clock);
  const QueryRange range{.start_ms = kStartMs, .end_ms = kStartMs + 3'600'000, .step_ms = 15'000};
  Matrix answer;
  for (auto _ : state) answer = ask(engine, data, "sum by (a) (rate(m[5m]))", range);
  CHECK(answer.size() == 10 && answer[0].points.size() == 241, "ten groups at 241 steps");
  double expected = 0;  // of group 0
  for (int i = 0; i < kCounters; i += 10) expected += (1 + i % 7) / 15.0;
  for (const Point& point : answer[0].points) {
    CHECK(std::abs(point.value - expected) < 1e-9 * expected, "the sum of a hundred known rates");
  }
}
BENCHMARK(sum_of_a_thousand_rates)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpusight::promql
