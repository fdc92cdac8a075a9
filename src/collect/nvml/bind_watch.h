// Whether a device is being taken from its driver: unbound, given to a virtual machine, removed.
// The kernel then waits until nobody has it open any more. Used by the control thread only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collect/source.h"
#include "platform/root_fs.h"

namespace gpusight::collect::nvml {

class BindWatch {
 public:
  BindWatch(platform::RootFs root, const Clock& clock) : root_(std::move(root)), clock_(clock) {}

  // The devices that were opened, by address.
  void opened(const std::vector<std::string>& addresses);
  // Looks at every device once. kLetGo: one of the open devices has no driver any more; kOpen: what
  // was taken is back, or is gone for good and others are left.
  Wish look(bool is_open);
  // True after kLetGo, until the next opened().
  bool has_let_go() const { return let_go_at_.has_value(); }
  // Taken from the driver while we watched, and not back: nobody is to miss them. Not those that
  // left the bus.
  std::vector<std::string> taken() const;

 private:
  // What waits for a device to be let go of goes on at once; this is for who else has it open.
  static constexpr Duration kStayAway = std::chrono::seconds(10);

  Wish look_while_closed() const;
  bool is_bound(const std::string& address) const;

  platform::RootFs root_;
  const Clock& clock_;
  std::map<std::string, bool> is_taken_;  // by address
  std::optional<MonoTime> let_go_at_;
};

}  // namespace gpusight::collect::nvml
