// Bytes and busy time of disks, from /proc/diskstats.
//
// Whole disks that hold data themselves, each byte once, so that adding over them makes sense:
// - partitions are left out; they are what /sys/block has no entry for;
// - loop, ram and zram are left out: a file or memory in the shape of a disk;
// - devices on top of others (dm, md: they have slaves) are left out: their traffic is counted at
//   the disks below, as are the single paths of a multipath NVMe disk (hidden) at the disk;
// - devices without a medium (size 0: an empty reader, an unused nbd) are left out.
// The facts behind this are looked up when the list changes and every 30 s.
//
// The kernel prints busy time in 32 bits of milliseconds; its wrap after 49 days of work is a
// decrease of a counter, which whoever takes rates treats as a reset.
#pragma once

#include <string>
#include <vector>

#include "collect/host/kernel_file.h"
#include "collect/source.h"

namespace gpusight::collect::host {

class DiskReader {
 public:
  static constexpr size_t kMostDisks = 256;

  DiskReader(const platform::RootFs& root, log::FaultLog& faults)
      : root_(root), faults_(faults), file_(root, "/proc/diskstats", faults) {}

  void poll(Report& report);

 private:
  // A line of the file as it was when the facts were looked up.
  struct Row {
    uint64_t major = 0;
    uint64_t minor = 0;
    std::string name;
    bool counts = false;
  };

  const Row& row_of(size_t at, uint64_t major, uint64_t minor, std::string_view name);
  bool counts(std::string_view name) const;

  const platform::RootFs& root_;
  log::FaultLog& faults_;
  KernelFile file_;
  std::vector<Row> rows_;  // in the order of the file
  MonoTime looked_up_at_{};
  std::string scratch_;
};

}  // namespace gpusight::collect::host
