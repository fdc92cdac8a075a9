// When to open and when to let go, from kernel files that wake nothing: a sleeping GPU stays
// asleep, an idle one that could sleep is released, a driver that appears is noticed. Used by the
// control thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/source.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {

// Retries that come less and less often.
class Backoff {
 public:
  Backoff(Duration first, Duration longest) : first_(first), longest_(longest), wait_(first) {}
  // The next time to try after one at `now`.
  void schedule(MonoTime now);
  void restart() { wait_ = first_; }
  bool is_due(MonoTime now) const { return now >= due_; }
  bool is_at_longest() const { return wait_ >= longest_; }
  Duration wait() const { return wait_; }

 private:
  Duration first_;
  Duration longest_;
  Duration wait_;
  MonoTime due_{};
};

class SleepWatch {
 public:
  SleepWatch(platform::RootFs root, const Clock& clock) : root_(std::move(root)), clock_(clock) {}

  // What open() found: the addresses that it opened, and those that it left asleep.
  void opened(std::vector<std::string> active, std::vector<std::string> asleep);

  // Looks at every device once.
  Wish look(const Activity& activity);
  // True after kClose, until the next open().
  bool has_released() const { return released_at_.has_value(); }

 private:
  // A second beyond what the kernel waits for: let whatever is about to use the device do so.
  static constexpr Duration kMargin = std::chrono::seconds(1);
  // For a driver that keeps its own idea of idleness and does not tell.
  static constexpr Duration kUsualDelay = std::chrono::seconds(5);
  // A released device that does not fall asleep is in someone else's hands: look at it again.
  static constexpr Duration kStayAway = std::chrono::seconds(60);

  void refresh();
  Wish look_while_closed();
  bool may_release(Duration idle_for) const;

  struct Watched {
    platform::RuntimeStatus status = platform::RuntimeStatus::kUnmanaged;
    bool opened = false;
    bool slept = false;  // was seen asleep since we let go, or was when we last opened
  };

  platform::RootFs root_;
  const Clock& clock_;
  std::map<std::string, Watched> devices_;
  std::optional<MonoTime> released_at_;
};

}  // namespace gpusight::collect::nvml
