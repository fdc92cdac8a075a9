// What a scrape costs: 8 GPUs, a host of 64 cores. The budget is 3 ms.
#include <benchmark/benchmark.h>

#include "export/prometheus/render.h"
#include "export/prometheus/render_fixture.h"

namespace gpusight::prometheus {
namespace {

void render_full_machine(benchmark::State& state) {
  const model::Snapshot machine = full_machine(8, 64);
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string text =
        render(machine, {.format = static_cast<Format>(state.range(0)), .version = "0.1.0"});
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(render_full_machine)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// The same machine under the names of other exporters: dcgm, dcgm46, nvidia_smi, and all at once.
void render_other_names(benchmark::State& state) {
  const model::Snapshot machine = full_machine(8, 64);
  NameSets names = static_cast<NameSet>(state.range(0));
  for (size_t i = 0; state.range(1) != 0 && i < kNameSetCount; ++i) {
    names = names.with(static_cast<NameSet>(i));
  }
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = render(machine, {.version = "0.1.0", .names = names});
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(render_other_names)
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({3, 0})
    ->Args({0, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gpusight::prometheus
