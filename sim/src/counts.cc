// Call counts: kept per function and GPU, written where GPUSIGHT_SIM_COUNTS says.
#include <cstdio>
#include <cstdlib>

#include "events.h"
#include "library.h"

namespace gpusight::sim {

void Library::count(Fn fn, int gpu) {
  const auto column = static_cast<std::size_t>(gpu + 1);
  counts_[static_cast<std::size_t>(fn)][column < kCounted ? column : 0].fetch_add(
      1, std::memory_order_relaxed);
}

std::uint64_t Library::calls(Fn fn) const {
  std::uint64_t sum = 0;
  for (const auto& one : counts_[static_cast<std::size_t>(fn)]) sum += one.load();
  return sum;
}

std::uint64_t Library::calls_about(unsigned gpu) const {
  if (gpu + 1 >= kCounted) return 0;
  std::uint64_t sum = 0;
  for (const auto& row : counts_) sum += row[gpu + 1].load();
  return sum;
}

std::uint64_t Library::total_calls() const {
  std::uint64_t sum = 0;
  for (std::size_t fn = 0; fn < kFunctions; ++fn) sum += calls(static_cast<Fn>(fn));
  return sum;
}

void Library::reset_counts() {
  for (auto& row : counts_) {
    for (auto& one : row) one = 0;
  }
}

// Lines of function, GPU (- for none) and count; then what is still open.
void Library::dump_counts() {
  const char* path = std::getenv("GPUSIGHT_SIM_COUNTS");
  if (path == nullptr || *path == '\0') return;
  // Beside, then renamed, so that a reader never sees half a file.
  const std::string beside = std::string(path) + ".new";
  FILE* file = std::fopen(beside.c_str(), "we");
  if (file == nullptr) {
    std::fprintf(stderr, "gpusight-sim: %s: cannot be written\n", path);
    return;
  }
  for (std::size_t fn = 0; fn < kFunctions; ++fn) {
    for (std::size_t column = 0; column < kCounted; ++column) {
      const std::uint64_t count = counts_[fn][column].load();
      if (count == 0) continue;
      const std::string gpu = column == 0 ? "-" : std::to_string(column - 1);
      std::fprintf(file, "%s\t%s\t%llu\n", kFunctionFacts[fn].name, gpu.c_str(),
                   static_cast<unsigned long long>(count));
    }
  }
  std::fprintf(file, "open-sessions\t-\t%d\n", sessions_.load());
  std::fprintf(file, "open-event-sets\t-\t%zu\n", open_event_sets(*this));
  std::fprintf(file, "open-gpm-samples\t-\t%zu\n", open_gpm_samples(*this));
  std::fclose(file);
  std::rename(beside.c_str(), path);
}

namespace {

// The last counts of a program that ends without nvmlShutdown.
__attribute__((destructor)) void dump_at_exit() { library().dump_counts(); }

}  // namespace
}  // namespace gpusight::sim
