// What owners cost: 64 processes on GPUs, in containers, on a host of 5000. The budget is 0.3 % of
// a core at ticks of a second, 3 ms.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "attribute/process_table.h"

namespace gpusight::attribute {
namespace {

constexpr int kHostProcesses = 5000;
constexpr int kGpuProcesses = 64;

class Tree {
 public:
  Tree()
      : root_(std::filesystem::temp_directory_path() /
              ("gpusight_attribute_bench." + std::to_string(::getpid()))) {
    write("/proc/stat", "cpu 1 2 3 4\nbtime 1700000000\n");
    write("/proc/self/status", "Uid:\t0\t0\t0\t0\nNSpid:\t1\n");
    write("/etc/passwd", "ada:x:1000:1000:::\n");
    for (int pid = 1; pid <= kHostProcesses; ++pid) add_process(pid);
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::string& root() const { return root_; }

 private:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void add_process(int pid) {
    const std::string number = std::to_string(pid);
    const std::string folder = "/proc/" + number;
    write(folder + "/stat", number + " (python) R 1 1 1 0 -1 4194304 0 0 0 0 50 5 0 0 20 0 9 0 " +
                                number + " 1000000 2000 0\n");
    write(folder + "/status", "Uid:\t1000\t1000\t1000\t1000\nNSpid:\t" + number + "\n");
    write(folder + "/cmdline", "python train.py --token abc");
    const std::string id = std::string(64 - number.size(), 'a') + number;
    write(folder + "/cgroup", "0::/system.slice/docker-" + id + ".scope\n");
  }

  std::string root_;
};

// A clock of the machine, but a second later at each tick.
class TickingClock final : public Clock {
 public:
  MonoTime mono() const override { return mono_; }
  WallTime wall() const override { return {}; }
  bool sleep_until(MonoTime, std::stop_token) const override { return true; }
  void tick() { mono_ += std::chrono::seconds(1); }

 private:
  MonoTime mono_{std::chrono::hours(1)};
};

// `told`: 1 when the source has read the start times itself.
void owners_of_a_tick(benchmark::State& state) {
  static const Tree tree;
  TickingClock clock;
  ProcessTable table(platform::RootFs(tree.root()), &clock);
  std::vector<model::Process> processes(kGpuProcesses);
  const auto tick = [&] {
    for (int i = 0; i < kGpuProcesses; ++i) {
      const int pid = 1 + i * (kHostProcesses / kGpuProcesses);
      processes[i] = {.pid = pid};
      if (state.range(0) != 0) processes[i].start_ticks = pid;
    }
    clock.tick();
    table.resolve(processes);
  };
  tick();
  for (auto _ : state) tick();
  if (processes.back().owner.state != model::OwnerState::kKnown) state.SkipWithError("no owner");
}
// The processor's time of all threads: that of the look-ups counts.
BENCHMARK(owners_of_a_tick)
    ->ArgName("told")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(2000)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gpusight::attribute
