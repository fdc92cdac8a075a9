// Processor time, from /proc/stat.
//
// Shares are of the time that passed between two readings, by the kernel's own ticks (10 ms):
// everything that is neither idle nor iowait is busy. Guest time is part of user time there and is
// not counted twice. The window of a share is the time between its two readings.
//
// What the kernel does to these counters, and what becomes of it here:
// - idle and iowait pass ticks to each other, so that one goes back while the other goes on: only
//   their sum is used in a share. A mode's total stands still until the kernel has caught up.
// - any other decrease, or one of the sum, is a core that was reset (taken offline, a restored
//   machine): its share is absent (warming_up) for that poll and starts anew.
// - the line of all processors jumps, back and then forth, when a core goes offline and returns. It
//   is used for the first reading only; from there the totals grow by what each core did, and the
//   overall share is that of the cores that have one. A core that is offline has no reading.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "collect/host/kernel_file.h"
#include "collect/source.h"

namespace gpusight::collect::host {

class CpuReader {
 public:
  CpuReader(const platform::RootFs& root, log::FaultLog& faults)
      : file_(root, "/proc/stat", faults) {}

  void poll(Report& report);

 private:
  static constexpr size_t kModes = 8;
  using Ticks = std::array<uint64_t, kModes>;

  // One line of the file.
  struct Line {
    bool is_core = false;
    uint32_t core = 0;
    Ticks ticks{};
    size_t modes = 0;  // how many of them this kernel tells
  };
  // A core, or the line of all of them where a kernel tells nothing else.
  struct Core {
    uint64_t seen_in = 0;  // number of the reading it was last in
    MonoTime since{};
    Ticks ticks{};  // as of `since`
  };
  // What the cores did since their last readings, together.
  struct Total {
    double busy = 0;
    double all = 0;
    Duration window{};
    std::array<double, kModes> change{};
  };
  struct Share {
    double ratio = 0;
    Duration window{};
  };

  static std::optional<Line> parse_line(std::string_view line);
  std::optional<Share> advance(Core& core, const Ticks& ticks, MonoTime now, Total& total) const;
  void poll_core(const Line& line, MonoTime now, Total& total, Report& report);
  void report_modes(const Line* whole, const Total& total, Report& report);

  KernelFile file_;
  uint64_t reading_ = 0;
  std::vector<Core> cores_;  // by number
  Core whole_;
  std::optional<std::array<double, kModes>> carried_;  // ticks since boot, carried forward
  std::array<double, kModes> highest_{};               // of carried_, as told so far
  size_t modes_ = 0;                                   // that this kernel tells
};

}  // namespace gpusight::collect::host
