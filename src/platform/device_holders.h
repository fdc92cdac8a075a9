// Who has device files open: the descriptors of every process, below /proc. Links are read, nothing
// is opened: no device is woken and no process waited for.
//
// One look() goes over at most so many descriptors and goes on from there the next time, so that a
// machine with very many processes is looked at in parts. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/root_fs.h"

namespace gpusight::platform {

class DeviceHolders {
 public:
  static constexpr size_t kMostDescriptors = 20'000;  // of a look: some 30 ms
  static constexpr size_t kMostOfAProcess = 4'096;    // of one process; it may have a million
  static constexpr size_t kMostHolders = 1'024;

  explicit DeviceHolders(RootFs root) : root_(std::move(root)) {}

  void look(size_t most_descriptors = kMostDescriptors);
  // The pids, rising, that were last seen with one of these files ("/dev/nvidia0") open; this
  // process is left out.
  std::vector<int64_t> of(const std::vector<std::string>& files) const;
  // Some processes have not been looked at: others' without permission, or not yet.
  bool is_partial() const { return is_partial_; }

 private:
  struct Look {
    size_t descriptors_left = 0;
    bool is_refused = false;
  };
  // False when there is no descriptor left: it is looked at again.
  bool look_at(int64_t pid, Look& look);

  RootFs root_;
  std::map<int64_t, std::vector<std::string>> open_;  // by pid: files below /dev
  int64_t next_pid_ = 0;
  bool is_partial_ = true;
  bool was_refused_ = false;  // somewhere in this round over all processes
};

}  // namespace gpusight::platform
