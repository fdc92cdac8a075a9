// Which processes hold a GPU's nodes open, from /proc alone: descriptors that lead to /dev/dri/… of
// devices that are given. /proc is walked once for all of them; a process that holds none of them
// is looked at again after a while only. Belongs to one lane.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/root_fs.h"

namespace gpusight::collect::amdgpu {

class ClientScan {
 public:
  // One open descriptor of a node.
  struct Descriptor {
    std::string node;    // "renderD128"
    std::string fdinfo;  // path of what the driver says of it
  };
  struct Holder {
    uint64_t start_ticks = 0;  // 0: not known
    bool has_kfd = false;      // it computes by ROCm
    std::vector<Descriptor> descriptors;
  };

  // Of more processes than that the rest waits for the next walk.
  static constexpr size_t kMostNewProcesses = 4096;
  static constexpr size_t kMostDescriptors = 4096;
  // Walks between two looks at a process that held nothing.
  static constexpr uint64_t kSeldom = 10;

  explicit ClientScan(platform::RootFs root) : root_(std::move(root)) {}

  // Holders now, by pid, of these nodes.
  const std::map<int64_t, Holder>& walk(const std::set<std::string>& nodes);
  // There are processes whose descriptors we may not see, or more than we look at.
  bool was_refused() const { return !refused_.empty() || was_cut_; }

 private:
  void look(int64_t pid, const std::set<std::string>& nodes);

  platform::RootFs root_;
  uint64_t walks_ = 0;
  std::map<int64_t, uint64_t> looked_at_;  // by pid: the walk of the last look
  std::map<int64_t, Holder> holders_;
  std::set<int64_t> refused_;  // by pid, as of the last look at each
  bool was_cut_ = false;       // the last walk
  size_t descriptors_ = 0;
};

}  // namespace gpusight::collect::amdgpu
