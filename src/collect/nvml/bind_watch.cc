#include "collect/nvml/bind_watch.h"

#include <algorithm>

#include "platform/pci.h"

namespace gpusight::collect::nvml {

bool BindWatch::is_bound(const std::string& address) const {
  return platform::pci_driver(root_, address) == "nvidia";
}

void BindWatch::opened(const std::vector<std::string>& addresses) {
  let_go_at_.reset();
  std::erase_if(is_taken_, [this](const auto& entry) {
    return !entry.second || is_bound(entry.first) || !platform::is_on_bus(root_, entry.first);
  });
  // Where the bus cannot be seen there is nothing to watch.
  for (const std::string& address : addresses) {
    if (is_bound(address)) is_taken_[address] = false;
  }
}

Wish BindWatch::look(bool is_open) {
  if (!is_open) return has_let_go() ? look_while_closed() : Wish::kStay;
  bool any_taken = false;
  bool any_back = false;
  for (auto& [address, is_taken] : is_taken_) {
    const bool is_bound_now = is_bound(address);
    any_taken |= !is_taken && !is_bound_now;
    any_back |= is_taken && is_bound_now;
    is_taken = !is_bound_now;
  }
  if (any_taken) {
    let_go_at_ = clock_.mono();
    return Wish::kLetGo;
  }
  return any_back ? Wish::kOpen : Wish::kStay;
}

// With no device left nothing is opened, not even the driver's own file: its module may be next.
Wish BindWatch::look_while_closed() const {
  const auto all = [this](auto holds) { return std::ranges::all_of(is_taken_, holds); };
  const bool all_back = all([this](const auto& entry) { return is_bound(entry.first); });
  const bool none_bound = all([this](const auto& entry) { return !is_bound(entry.first); });
  const bool is_long_ago = clock_.mono() - *let_go_at_ >= kStayAway;
  return all_back || (is_long_ago && !none_bound) ? Wish::kOpen : Wish::kStay;
}

std::vector<std::string> BindWatch::taken() const {
  std::vector<std::string> addresses;
  for (const auto& [address, is_taken] : is_taken_) {
    if (is_taken && platform::is_on_bus(root_, address)) addresses.push_back(address);
  }
  return addresses;
}

}  // namespace gpusight::collect::nvml
