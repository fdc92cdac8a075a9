// Load, uptime, memory and pressure: one small file each, read whole every tick.
#pragma once

#include <array>

#include "collect/host/kernel_file.h"
#include "collect/source.h"

namespace gpusight::collect::host {

// /proc/loadavg
class LoadReader {
 public:
  LoadReader(const platform::RootFs& root, log::FaultLog& faults)
      : file_(root, "/proc/loadavg", faults) {}
  void poll(Report& report);

 private:
  KernelFile file_;
};

// /proc/uptime
class UptimeReader {
 public:
  UptimeReader(const platform::RootFs& root, log::FaultLog& faults)
      : file_(root, "/proc/uptime", faults) {}
  void poll(Report& report);

 private:
  KernelFile file_;
};

// /proc/meminfo. Memory used is the total less what is available. Kernels before 3.14 do not say
// what is available: there it is what is free plus buffers and page cache, which is somewhat too
// much, since shared memory stands in the page cache too.
class MemoryReader {
 public:
  MemoryReader(const platform::RootFs& root, log::FaultLog& faults)
      : file_(root, "/proc/meminfo", faults) {}
  void poll(Report& report);

 private:
  KernelFile file_;
};

// /proc/pressure/{cpu,memory,io}: pressure stall information, Linux 4.20 and later. Kernels built
// without it lack the files; those that start with it switched off refuse to read them.
class PressureReader {
 public:
  PressureReader(const platform::RootFs& root, log::FaultLog& faults);
  void poll(Report& report);

 private:
  std::array<KernelFile, 3> files_;
};

}  // namespace gpusight::collect::host
