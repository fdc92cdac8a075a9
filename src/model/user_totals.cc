#include "model/user_totals.h"

#include <algorithm>

#include "model/snapshot.h"

namespace gpusight::model {
namespace {

bool comes_first(const UserTotal& a, const UserTotal& b) {
  if (a.memory_bytes != b.memory_bytes) {
    return a.memory_bytes.value_or(-1) > b.memory_bytes.value_or(-1);
  }
  if (a.user != b.user) return a.user < b.user;
  return a.uid < b.uid;
}

}  // namespace

bool is_same_user(const UserTotal& a, const UserTotal& b) {
  if (a.uid || b.uid) return a.uid == b.uid;
  return a.user == b.user;
}

void add_to_totals(std::vector<UserTotal>& totals, const UserTotal& more) {
  const auto same = std::ranges::find_if(
      totals, [&](const UserTotal& total) { return is_same_user(total, more); });
  if (same == totals.end()) {
    totals.push_back(more);
    return;
  }
  same->processes += more.processes;
  if (same->user.empty()) same->user = more.user;
  if (same->memory_bytes && more.memory_bytes) {
    *same->memory_bytes += *more.memory_bytes;
  } else {
    same->memory_bytes.reset();
  }
}

std::vector<UserTotal> totals_by_user(const DeviceSnapshot& device) {
  std::vector<UserTotal> totals = device.hidden_users;
  for (const Process& process : device.processes) {
    add_to_totals(totals, {.user = process.owner.user,
                           .uid = process.owner.uid,
                           .processes = 1,
                           .memory_bytes = process.memory_bytes.number()});
  }
  std::ranges::sort(totals, comes_first);
  return totals;
}

}  // namespace gpusight::model
