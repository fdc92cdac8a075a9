// Which job of a batch system a GPU was given to, where the cluster's prolog writes it down, for
// processes whose cgroup does not say it. Two formats:
//
//   jobstats        /run/gpustat/NAME: "JOBID UID"; NAME is the GPU's index or a device's uuid
//   dcgm-exporter   FOLDER/INDEX: the id of a job a line (its --hpc-job-mapping-dir)
//
// A job is a process's only where the file tells whose it is and that is its user, or where the GPU
// was given to one job alone and the process is no system user's: of several jobs nobody can tell.
//
// The files are read on a thread of LookUps, every kFreshFor, so that a job may be named as much
// too late. Absent folders cost one call in that time. Bounded: kMaxFiles of kMaxFileBytes.
//
// add_to(): one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/look_ups.h"
#include "base/clock.h"
#include "model/snapshot.h"
#include "platform/root_fs.h"

namespace gpusight::attribute {

// What one file says; without jobs: the GPU is free.
struct DeviceJobs {
  std::vector<std::string> ids;
  std::optional<uint32_t> uid;

  bool operator==(const DeviceJobs&) const = default;
};

// Pure. Lines that are none are left out.
DeviceJobs parse_jobstats(std::string_view text);
DeviceJobs parse_job_list(std::string_view text);

class JobMaps {
 public:
  static constexpr Duration kFreshFor = std::chrono::seconds(5);
  static constexpr size_t kMaxFiles = 1024;
  static constexpr size_t kMaxFileBytes = 4096;

  // `folder` is dcgm-exporter's; empty: there is none. The clock outlives it.
  JobMaps(platform::RootFs root, std::string folder, const Clock* clock);

  void add_to(model::Snapshot& snapshot);

 private:
  using Jobs = std::map<std::string, DeviceJobs>;  // by the file's name

  LookUps<int, Jobs> jobs_;  // one answer: all files
};

}  // namespace gpusight::attribute
