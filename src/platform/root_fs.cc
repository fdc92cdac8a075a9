#include "platform/root_fs.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/fd.h"
#include "base/text.h"
#include "platform/read_whole.h"

namespace gpusight::platform {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV: return Code::kNotFound;
    case EACCES:
    case EPERM: return Code::kPermissionDenied;
    default: return Code::kIo;
  }
}

}  // namespace

Status read_failure(std::string_view path, int error) {
  return {code_of(error), std::string(path) + ": " + std::generic_category().message(error)};
}

Status read_whole(int fd, std::string_view path, std::string& buffer, size_t limit) {
  buffer.clear();
  constexpr size_t kStep = 16384;
  while (buffer.size() < limit) {
    const size_t old = buffer.size();
    const size_t want = std::min(kStep, limit - old);
    buffer.resize(old + want);
    const ssize_t got = ::read(fd, buffer.data() + old, want);
    const int error = errno;
    buffer.resize(old + std::max<ssize_t>(got, 0));
    if (got == 0) break;
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return read_failure(path, error);
  }
  return {};
}

std::string RootFs::real_path(std::string_view path) const {
  if (is_real()) return std::string(path);
  return root_ + std::string(path);
}

Status RootFs::read_into(std::string_view path, std::string& buffer, size_t limit) const {
  buffer.clear();
  if (intercept_) {
    if (auto answer = (*intercept_)(path)) {
      if (!answer->ok()) return answer->status();
      buffer = answer->value().substr(0, limit);
      return {};
    }
  }
  const UniqueFd fd(::open(real_path(path).c_str(), kReadOnly));
  if (!fd.valid()) return read_failure(path, errno);
  return read_whole(fd.get(), path, buffer, limit);
}

Result<std::string> RootFs::read(std::string_view path, size_t limit) const {
  std::string text;
  TRY(read_into(path, text, limit));
  return text;
}

std::optional<std::string> RootFs::read_trimmed(std::string_view path, size_t limit) const {
  const Result<std::string> text = read(path, limit);
  if (!text.ok()) return std::nullopt;
  return std::string(trim(text->substr(0, text->find('\0'))));
}

std::optional<int64_t> RootFs::read_int(std::string_view path) const {
  const auto text = read_trimmed(path);
  return text ? parse_int(*text) : std::nullopt;
}

std::optional<uint64_t> RootFs::read_hex(std::string_view path) const {
  const auto text = read_trimmed(path);
  return text ? parse_uint(*text, 16) : std::nullopt;
}

std::vector<std::string> RootFs::list(std::string_view path) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(real_path(path).c_str()), &::closedir);
  if (dir == nullptr) return names;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names, natural_less);
  return names;
}

bool RootFs::exists(std::string_view path) const {
  struct stat info {};
  return ::stat(real_path(path).c_str(), &info) == 0;
}

std::optional<std::string> RootFs::link_target(std::string_view path) const {
  std::array<char, 4096> target;
  const ssize_t size = ::readlink(real_path(path).c_str(), target.data(), target.size());
  if (size <= 0) return std::nullopt;
  return std::string(target.data(), static_cast<size_t>(size));
}

std::optional<std::string> RootFs::resolve(std::string_view path) const {
  using Text = std::unique_ptr<char, void (*)(void*)>;
  const Text found(::realpath(real_path(path).c_str(), nullptr), &std::free);
  if (found == nullptr) return std::nullopt;
  std::string_view resolved = found.get();
  if (is_real()) return std::string(resolved);
  const Text own_root(::realpath(root_.c_str(), nullptr), &std::free);
  if (own_root == nullptr) return std::nullopt;
  const std::string_view top = own_root.get();
  if (!resolved.starts_with(top)) return std::nullopt;
  resolved.remove_prefix(top.size());
  if (!resolved.starts_with('/')) return std::nullopt;
  return std::string(resolved);
}

std::optional<std::string> RootFs::link_name(std::string_view path) const {
  const auto target = link_target(path);
  if (!target) return std::nullopt;
  return target->substr(target->rfind('/') + 1);
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto run = [&](std::string_view s, size_t at) {
    size_t end = at;
    while (end < s.size() && is_digit(s[end])) ++end;
    return s.substr(at, end - at);
  };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::string_view x = run(a, i);
      std::string_view y = run(b, j);
      i += x.size();
      j += y.size();
      while (x.size() > 1 && x.front() == '0') x.remove_prefix(1);
      while (y.size() > 1 && y.front() == '0') y.remove_prefix(1);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace gpusight::platform
