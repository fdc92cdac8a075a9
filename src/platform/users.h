// Names of users, from /etc/passwd below a root.
//
// The file is read when a uid is asked for the first time and again after it changed; answers,
// "has no name" too, are kept, at most kKeptUids of them. Nothing else is asked: the system's own
// look-up (NSS) may wait for a directory server for as long as it likes, which must never happen
// where this is called from, and it answers for the machine it runs on, not for a root path. Users
// who exist in a directory (LDAP, SSSD) only, or for one service run (systemd DynamicUser), have no
// name here and are shown by their uid.
//
// Not thread-safe: one owner, one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "platform/root_fs.h"

namespace gpusight::platform {

class UserNames {
 public:
  static constexpr size_t kKeptUids = 4096;

  explicit UserNames(RootFs root) : root_(std::move(root)) {}

  // Forgets what it knows if the file changed since; a file system call, no reading. Call it once
  // before a batch of name_of().
  void refresh();
  // Cleaned; empty if the uid has no name.
  const std::string& name_of(uint32_t uid);

 private:
  // What tells one version of the file from another: it is replaced (inode) or written (the rest).
  struct Version {
    uint64_t inode = 0;
    int64_t size = -1;
    int64_t changed_s = 0;
    int64_t changed_ns = 0;
    bool operator==(const Version&) const = default;
  };
  Version current_version() const;

  RootFs root_;
  Version version_;
  std::string text_;  // the file, until the batch is over
  bool loaded_ = false;
  std::unordered_map<uint32_t, std::string> names_;
};

// The name that a passwd text gives a uid, cleaned; the first line that has it wins, as in the
// system's own look-up. Lines that do not parse are passed over.
std::optional<std::string> find_user_name(std::string_view passwd, uint32_t uid);

}  // namespace gpusight::platform
