#include "platform/device_holders.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace gpusight::platform {
namespace {

// Files of GPUs: of NVIDIA's driver, and of the kernel's direct rendering.
bool is_of_a_gpu(std::string_view file) {
  return file.starts_with("/dev/nvidia") || file.starts_with("/dev/dri/");
}

}  // namespace

bool DeviceHolders::look_at(int64_t pid, Look& look) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const std::vector<std::string> names = root_.list(folder);
  // A folder that may not be listed looks like an empty one.
  const bool is_refused = names.empty() &&
                          ::access(root_.real_path(folder).c_str(), R_OK | X_OK) != 0 &&
                          errno == EACCES;
  look.is_refused |= is_refused;
  if (names.size() > look.descriptors_left && look.descriptors_left < kMostOfAProcess) return false;
  if (names.size() > kMostOfAProcess) look.is_refused = true;
  std::vector<std::string> files;
  const size_t most = std::min(names.size(), kMostOfAProcess);
  look.descriptors_left -= std::min(look.descriptors_left, most);
  for (size_t i = 0; i < most; ++i) {
    const auto file = root_.link_target(folder + "/" + names[i]);
    if (file && is_of_a_gpu(*file) && std::ranges::find(files, *file) == files.end()) {
      files.push_back(*file);
    }
  }
  if (files.empty()) {
    open_.erase(pid);
  } else if (open_.size() < kMostHolders) {
    open_[pid] = std::move(files);
  }
  return true;
}

void DeviceHolders::look(size_t most_descriptors) {
  std::vector<int64_t> pids;
  for (const std::string& name : root_.list("/proc")) {
    if (const auto pid = parse_uint(name)) pids.push_back(static_cast<int64_t>(*pid));
  }
  std::ranges::sort(pids);
  std::erase_if(open_,
                [&](const auto& entry) { return !std::ranges::binary_search(pids, entry.first); });
  const int64_t own = parse_int(root_.link_name("/proc/self").value_or("")).value_or(-1);
  // Where others' processes are hidden the first of all is.
  Look look{.descriptors_left = most_descriptors,
            .is_refused = !std::ranges::binary_search(pids, 1)};
  for (auto at = std::ranges::lower_bound(pids, next_pid_); at != pids.end(); ++at) {
    if (*at == own) continue;
    if (look_at(*at, look)) continue;
    next_pid_ = *at;
    was_refused_ |= look.is_refused;
    return;
  }
  is_partial_ = std::exchange(was_refused_, false) || look.is_refused;
  next_pid_ = 0;
}

std::vector<int64_t> DeviceHolders::of(const std::vector<std::string>& files) const {
  std::vector<int64_t> pids;
  for (const auto& [pid, open] : open_) {
    const bool holds = std::ranges::any_of(open, [&](const std::string& file) {
      return std::ranges::find(files, file) != files.end();
    });
    if (holds) pids.push_back(pid);
  }
  return pids;
}

}  // namespace gpusight::platform
