// Who asks, and what they may see. Made by the listener that took the request, passed to whatever
// answers it. Plain value.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "model/process.h"

namespace gpusight::model {

enum class Role : uint8_t {
  kView,   // numbers, no command lines; other users' processes only as totals per user
  kOwn,    // as view, and their own processes whole
  kAdmin,  // everything
};

struct Anonymous {};
struct LocalUser {
  uint32_t uid = 0;  // told by the kernel (SO_PEERCRED)
  int64_t pid = 0;   // of who opened the connection, by our PID namespace; 0: not known there
};
struct TokenHolder {
  std::string name;  // the token's name in the configuration, never the token
};

struct Caller {
  std::variant<Anonymous, LocalUser, TokenHolder> identity;
  Role role = Role::kView;

  // Whether the caller may see the name and command of this process.
  bool may_see(const Owner& owner) const {
    if (role == Role::kAdmin) return true;
    const auto* user = std::get_if<LocalUser>(&identity);
    return role == Role::kOwn && user != nullptr && owner.uid == user->uid;
  }
};

}  // namespace gpusight::model
