// What each user holds, added up from process rows: the only form in which callers who may not see
// other users' processes are told of them. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/process.h"
#include "model/value.h"

namespace gpusight::attribute {

struct UserTotal {
  enum class Kind : uint8_t {
    kUser,
    kUnknown,  // rows without a uid: exited, of another PID namespace, not looked up yet
    kOthers,   // the users beyond the bound, together
  };
  Kind kind = Kind::kUser;
  std::string user;             // empty if the uid has no name, and for the other kinds
  std::optional<uint32_t> uid;  // kUser only
  uint32_t processes = 0;       // each (pid, start) once, however many devices it uses
  // Device memory over all rows whose memory is known: absent if none is, with the reason of the
  // first; stale if any of them is; as old as the oldest.
  model::Value memory_bytes;
  uint32_t rows_without_memory = 0;  // more than 0 beside a number: it is a part of the whole
};

inline constexpr size_t kMaxUsersInTotals = 64;

// Most memory first, users whose memory is not known after them; kOthers and kUnknown last.
std::vector<UserTotal> totals_by_user(std::span<const model::Process> processes,
                                      size_t max_users = kMaxUsersInTotals);

}  // namespace gpusight::attribute
