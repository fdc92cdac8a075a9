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

}  // namespace
}  // namespace gpusight::prometheus
