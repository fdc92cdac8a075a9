// What each user holds on a device: the only thing of other users' processes that everyone may see.
// Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpusight::model {

struct DeviceSnapshot;

struct UserTotal {
  std::string user;  // empty: not known who
  std::optional<uint32_t> uid;
  uint64_t processes = 0;
  // Sum over the user's processes; absent as soon as the memory of one of them is not known: a part
  // is no total.
  std::optional<double> memory_bytes;

  bool operator==(const UserTotal&) const = default;
};

// One row a user (by uid, else by name), most memory first, those without a figure last. Counts
// processes that are listed and those that are hidden.
std::vector<UserTotal> totals_by_user(const DeviceSnapshot& device);

// By uid where either has one, else by name.
bool is_same_user(const UserTotal& a, const UserTotal& b);

// Adds `more` to the total of the same user, or as a new one.
void add_to_totals(std::vector<UserTotal>& totals, const UserTotal& more);

}  // namespace gpusight::model
