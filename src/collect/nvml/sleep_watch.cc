#include "collect/nvml/sleep_watch.h"

#include <algorithm>

namespace gpusight::collect::nvml {

void Backoff::schedule(MonoTime now) {
  due_ = now + wait_;
  wait_ = std::min(wait_ * 2, longest_);
}

void SleepWatch::opened(std::vector<std::string> active, std::vector<std::string> asleep) {
  devices_.clear();
  released_at_.reset();
  for (std::string& address : active) devices_[std::move(address)].opened = true;
  for (std::string& address : asleep) {
    Watched& device = devices_[std::move(address)];
    device.slept = true;
    device.status = platform::RuntimeStatus::kSuspended;
  }
}

void SleepWatch::refresh() {
  for (auto& [address, device] : devices_) {
    device.status = platform::runtime_status(root_, address);
    // While we hold a device the kernel cannot put it to sleep.
    if (!device.opened && platform::is_asleep(device.status)) device.slept = true;
  }
}

Wish SleepWatch::look(const Activity& activity) {
  if (devices_.empty()) return Wish::kStay;
  refresh();
  if (!activity.is_open) return look_while_closed();
  const bool someone_woke = std::ranges::any_of(devices_, [](const auto& entry) {
    const Watched& device = entry.second;
    return !device.opened && device.slept && !platform::is_asleep(device.status);
  });
  if (someone_woke) return Wish::kOpen;
  if (!may_release(activity.idle_for)) return Wish::kStay;
  released_at_ = clock_.mono();
  for (auto& [address, device] : devices_) device.opened = false;
  return Wish::kClose;
}

Wish SleepWatch::look_while_closed() {
  const bool long_ago = released_at_ && clock_.mono() - *released_at_ >= kStayAway;
  const bool open = std::ranges::any_of(devices_, [&](const auto& entry) {
    const Watched& device = entry.second;
    return (device.slept || long_ago) && !platform::is_asleep(device.status);
  });
  return open ? Wish::kOpen : Wish::kStay;
}

bool SleepWatch::may_release(Duration idle_for) const {
  if (idle_for <= kMargin) return false;
  bool any = false;
  Duration longest{};
  for (const auto& [address, device] : devices_) {
    if (!device.opened) continue;
    const platform::PciPower power = platform::pci_power(root_, address);
    if (!power.may_sleep || power.status == platform::RuntimeStatus::kUnmanaged) return false;
    const int64_t delay_ms = power.autosuspend_delay_ms.value_or(
        std::chrono::duration_cast<std::chrono::milliseconds>(kUsualDelay).count());
    if (delay_ms < 0) return false;
    longest = std::max<Duration>(
        longest, std::chrono::milliseconds(std::min(delay_ms, int64_t{24} * 3600 * 1000)));
    any = true;
  }
  return any && idle_for > longest + kMargin;
}

}  // namespace gpusight::collect::nvml
