// Whether devices are to be let go of, and until when: told by who answers `gpusight release`,
// heeded by the control thread of each source. Thread-safe.
#pragma once

#include <optional>

#include "base/annotations.h"
#include "base/clock.h"

namespace gpusight::sample {

struct Release {
  MonoTime until{};
  WallTime until_wall{};  // the same moment, for users
};

class ReleaseSwitch {
 public:
  void set(std::optional<Release> release) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    release_ = release;
  }
  // nullopt once its time is over.
  std::optional<Release> wanted(MonoTime now) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return release_ && now < release_->until ? release_ : std::nullopt;
  }

 private:
  mutable Mutex mutex_;
  std::optional<Release> release_ GUARDED_BY(mutex_);
};

}  // namespace gpusight::sample
