#include "platform/users.h"

#include <sys/stat.h>

#include "base/text.h"

namespace gpusight::platform {
namespace {
constexpr std::string_view kPath = "/etc/passwd";
constexpr size_t kFileBytes = 16 << 20;
constexpr size_t kNameBytes = 64;  // useradd allows 32
}  // namespace

UserNames::Version UserNames::current_version() const {
  struct stat info {};
  if (::stat(root_.real_path(kPath).c_str(), &info) != 0) return {};
  return {.inode = info.st_ino,
          .size = info.st_size,
          .changed_s = info.st_mtim.tv_sec,
          .changed_ns = info.st_mtim.tv_nsec};
}

void UserNames::refresh() {
  text_.clear();
  text_.shrink_to_fit();
  loaded_ = false;
  const Version version = current_version();
  if (version == version_) return;
  version_ = version;
  names_.clear();
}

const std::string& UserNames::name_of(uint32_t uid) {
  const auto known = names_.find(uid);
  if (known != names_.end()) return known->second;
  if (!loaded_) {
    // Unreadable is the same as empty: the uid is shown instead.
    if (!root_.read_into(kPath, text_, kFileBytes).ok()) text_.clear();
    loaded_ = true;
  }
  if (names_.size() >= kKeptUids) names_.clear();
  return names_.emplace(uid, find_user_name(text_, uid).value_or("")).first->second;
}

std::optional<std::string> find_user_name(std::string_view passwd, uint32_t uid) {
  while (!passwd.empty()) {
    const size_t end = passwd.find('\n');
    const std::string_view line = passwd.substr(0, end);
    passwd.remove_prefix(end == std::string_view::npos ? passwd.size() : end + 1);
    // name:password:uid:…
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || first == 0) continue;
    const std::string_view rest = line.substr(second + 1);
    const auto number = parse_uint(rest.substr(0, rest.find(':')));
    if (number != uid) continue;
    std::string name = clean_text(line.substr(0, first), kNameBytes);
    if (!name.empty()) return name;
  }
  return std::nullopt;
}

}  // namespace gpusight::platform
