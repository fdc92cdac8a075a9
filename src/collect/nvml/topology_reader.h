// How a GPU hangs together with the GPUs after it and with network cards: the driver's word for
// pairs of GPUs, the kernel's files for the rest, none of which wakes a device. It does not change
// while the devices are open, so it is read once, a few calls a poll.
//
// Belongs to the slow lane of its GPU.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collect/nvml/lane_parts.h"
#include "model/topology.h"

namespace gpusight::collect::nvml {

class TopologyReader {
 public:
  static constexpr uint64_t kMostCalls = 20;  // a poll

  // Of the GPU at `place`; they outlive the reader.
  TopologyReader(const LaneContext& context, std::span<const std::unique_ptr<SharedGpu>> gpus,
                 size_t place);

  // Goes on where the last poll ended and reports what is known by now; pairs that were not asked
  // about yet are unknown. Nothing once all is known.
  void read(Report& report, uint64_t most_calls);

 private:
  bool read_links(Report& report, uint64_t most_calls);
  void read_pair(Report& report, const Gpu& other, model::Path& path);
  void add_kernels_word();

  const NvmlApi& api_;
  platform::RootFs root_;
  const Gpu& gpu_;
  std::vector<const Gpu*> others_;
  std::optional<unsigned> links_;               // how many it has
  unsigned to_switches_ = 0;                    // of them
  std::map<std::string, unsigned> to_devices_;  // by address
  unsigned next_link_ = 0;
  size_t next_other_ = 0;
  model::Topology known_;  // the paths to others_ come first
  bool is_done_ = false;
};

}  // namespace gpusight::collect::nvml
