// What the live stream costs: 8 GPUs, a host of 64 cores, the last ten minutes recorded.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <thread>

#include "export/prometheus/render_fixture.h"
#include "model/snapshot_json.h"
#include "serve/live.h"
#include "serve/server.h"
#include "serve/test_client.h"

namespace gpusight::serve {
namespace {

// The machine a second later, every reading changed.
model::SnapshotPtr next_tick(const model::Snapshot& now) {
  auto next = std::make_shared<model::Snapshot>(now);
  ++next->sequence;
  next->wall += std::chrono::seconds(1);
  next->mono += std::chrono::seconds(1);
  const auto change = [&](model::Samples& samples) {
    for (model::Sample& sample : samples) {
      const double number = *sample.value.number();
      const double step = number < 1 ? 0.001 : 0.25;
      sample.value =
          model::Value::fresh(number + (next->sequence % 2 == 0 ? step : -step), next->mono, {}, 1);
    }
  };
  for (model::DeviceSnapshot& device : next->devices) change(device.samples);
  change(next->host);
  change(next->self);
  return next;
}

void delta(benchmark::State& state) {
  const model::Snapshot now = prometheus::full_machine(8, 64);
  const auto next = next_tick(now);
  size_t bytes = 0;
  for (auto _ : state) bytes = model::snapshot_delta_tail(now, *next, {}).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(delta)->Unit(benchmark::kMicrosecond);

void snapshot_document(benchmark::State& state) {
  const model::Snapshot now = prometheus::full_machine(8, 64);
  size_t bytes = 0;
  for (auto _ : state) bytes = model::snapshot_json(now, {}, "0.1.0").size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(snapshot_document)->Unit(benchmark::kMicrosecond);

// What a client is sent first; for a second one in the same tick all but the joining is shared.
void first_message(benchmark::State& state) {
  const SystemClock clock;
  sample::SnapshotHub hub;
  store::Head head;
  auto now = std::make_shared<const model::Snapshot>(prometheus::full_machine(8, 64));
  for (int i = 0; i < 600; ++i) {
    head.append(*now);
    now = next_tick(*now);
  }
  LiveStream stream({.hub = &hub, .head = &head, .clock = &clock, .version = "0.1.0"});
  size_t bytes = 0;
  for (auto _ : state) {
    now = next_tick(*now);
    hub.publish(now);
    stream.on_snapshot();
    const auto client = stream.join({}, [] {});
    bytes = stream.next(*client)->rest->size();
    stream.leave(client);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(first_message)->Unit(benchmark::kMillisecond);

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// Processor time of the server's thread for one tick to that many clients.
void tick_to_clients(benchmark::State& state) {
  const SystemClock clock;
  sample::SnapshotHub hub;
  auto now = std::make_shared<const model::Snapshot>(prometheus::full_machine(8, 64));
  hub.publish(now);
  auto server =
      Server::create({.listen = {"127.0.0.1:0"}, .hub = &hub, .clock = &clock, .version = "0.1.0"});
  double cpu = 0;
  std::thread thread([&] {
    const double before = cpu_seconds();
    (*server)->run();
    cpu = cpu_seconds() - before;
  });
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int64_t i = 0; i < state.range(0); ++i) {
    clients.push_back(std::make_unique<TestClient>((*server)->addresses()[0]));
    clients.back()->upgrade();
    clients.back()->read_frame();
  }
  for (auto _ : state) {
    hub.publish(now = next_tick(*now));
    for (auto& client : clients) client->read_frame();
  }
  (*server)->stop();
  thread.join();
  state.counters["server_us"] = cpu * 1e6 / static_cast<double>(state.iterations());
}
BENCHMARK(tick_to_clients)->Arg(0)->Arg(1)->Arg(10)->Arg(100)->Iterations(300);

}  // namespace
}  // namespace gpusight::serve
