// What the head costs on a machine with eight H100 in training: a tick's append, a view's groups(),
// a query's select(), and bytes a sample, packed and of the heap as a whole.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>

#include "store/head.h"
#include "store/head_shape.h"

namespace gpusight::store {
namespace {

constexpr int kFullTicks = 720;  // what a head holds at its largest, at a tick a second

void fill(Head& head, TrainingMachine& machine) {
  for (int tick = 0; tick < kFullTicks; ++tick) head.append(machine.next());
}

void append_tick(benchmark::State& state) {
  TrainingMachine machine({.gpus = 8});
  std::vector<model::Snapshot> ticks;
  for (int i = 0; i < 4096; ++i) ticks.push_back(machine.next());
  auto head = std::make_unique<Head>();
  size_t next = 0;
  size_t samples = 0;
  for (auto _ : state) {
    if (next == ticks.size()) {
      state.PauseTiming();
      head = std::make_unique<Head>();
      next = 0;
      state.ResumeTiming();
    }
    head->append(ticks[next]);
    for (const model::DeviceSnapshot& device : ticks[next].devices) {
      samples += device.samples.size();
    }
    ++next;
  }
  state.counters["samples/s"] =
      benchmark::Counter(static_cast<double>(samples), benchmark::Counter::kIsRate);
}
BENCHMARK(append_tick);

void groups_of_ten_minutes(benchmark::State& state) {
  TrainingMachine machine({.gpus = 8});
  Head head;
  fill(head, machine);
  for (auto _ : state) benchmark::DoNotOptimize(head.groups());
}
BENCHMARK(groups_of_ten_minutes)->Unit(benchmark::kMillisecond);

void groups_of_last_tick(benchmark::State& state) {
  TrainingMachine machine({.gpus = 8});
  Head head;
  fill(head, machine);
  const int64_t since_ms = head.groups().front().times_ms.back() - 1000;
  for (auto _ : state) benchmark::DoNotOptimize(head.groups(since_ms));
}
BENCHMARK(groups_of_last_tick)->Unit(benchmark::kMicrosecond);

void select_one_metric(benchmark::State& state) {
  TrainingMachine machine({.gpus = 8});
  Head head;
  fill(head, machine);
  const model::Matcher matchers[] = {model::equal_matcher("__name__", "gpu_power_watts")};
  for (auto _ : state) {
    const auto set = head.select(matchers, {.end_ms = INT64_MAX}, {});
    while (const auto cursor = std::move((*set)->next()).value()) {
      benchmark::DoNotOptimize((*cursor).next());
    }
  }
}
BENCHMARK(select_one_metric)->Unit(benchmark::kMicrosecond);

void size_of_a_full_head(benchmark::State& state) {
  HeadFootprint footprint;
  size_t heap_bytes = 0;
  for (auto _ : state) {
    TrainingMachine machine({.gpus = 8});
    const size_t before = ::mallinfo2().uordblks;
    Head head;
    fill(head, machine);
    heap_bytes = ::mallinfo2().uordblks - before;
    footprint = head.footprint();
  }
  const auto samples = static_cast<double>(footprint.samples);
  state.counters["series"] = static_cast<double>(footprint.series);
  state.counters["samples"] = samples;
  state.counters["packed_B/sample"] = static_cast<double>(footprint.packed_bytes) / samples;
  state.counters["heap_B/sample"] = static_cast<double>(heap_bytes) / samples;
}
BENCHMARK(size_of_a_full_head)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpusight::store
