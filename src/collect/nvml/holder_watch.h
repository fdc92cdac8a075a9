// Who keeps a GPU awake without the driver listing it: processes that have its device files open.
// Looked at once a minute for all GPUs together, and only where a GPU could sleep at all.
//
// Locked: the slow lanes of all GPUs share it.
#pragma once

#include <optional>
#include <string>

#include "base/annotations.h"
#include "base/clock.h"
#include "model/device.h"
#include "model/process.h"
#include "platform/device_holders.h"
#include "platform/root_fs.h"
#include "platform/users.h"

namespace gpusight::collect::nvml {

class HolderWatch {
 public:
  explicit HolderWatch(const platform::RootFs& root) : root_(root), open_(root), users_(root) {}

  model::Holders of(const model::Device& gpu, MonoTime now) EXCLUDES(mutex_);

 private:
  static constexpr Duration kPeriod = std::chrono::minutes(1);
  static constexpr size_t kMostOfAGpu = 64;

  model::Holder holder(int64_t pid) REQUIRES(mutex_);

  const platform::RootFs root_;
  Mutex mutex_;
  platform::DeviceHolders open_ GUARDED_BY(mutex_);
  platform::UserNames users_ GUARDED_BY(mutex_);
  std::optional<MonoTime> looked_at_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::collect::nvml
