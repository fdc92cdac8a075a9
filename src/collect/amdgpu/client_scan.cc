#include "collect/amdgpu/client_scan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "platform/proc.h"

namespace gpusight::collect::amdgpu {
namespace {

constexpr std::string_view kNodes = "/dev/dri/";
constexpr std::string_view kKfd = "/dev/kfd";

}  // namespace

const std::map<int64_t, ClientScan::Holder>& ClientScan::walk(const std::set<std::string>& nodes) {
  ++walks_;
  descriptors_ = 0;
  was_cut_ = false;
  std::set<int64_t> alive;
  size_t is_new = 0;
  const std::map<int64_t, Holder> before = std::exchange(holders_, {});
  for (const std::string& name : root_.list("/proc")) {
    const auto pid = parse_int(name);
    if (!pid || *pid <= 0) continue;
    alive.insert(*pid);
    const auto seen = looked_at_.find(*pid);
    // Processes take turns, so that no walk is longer than others.
    const bool due = seen == looked_at_.end() || before.contains(*pid) ||
                     (walks_ + static_cast<uint64_t>(*pid)) % kSeldom == 0;
    if (!due || (seen == looked_at_.end() && ++is_new > kMostNewProcesses)) continue;
    look(*pid, nodes);
  }
  was_cut_ |= is_new > kMostNewProcesses || descriptors_ == kMostDescriptors;
  std::erase_if(looked_at_, [&](const auto& item) { return !alive.contains(item.first); });
  std::erase_if(refused_, [&](int64_t pid) { return !alive.contains(pid); });
  return holders_;
}

void ClientScan::look(int64_t pid, const std::set<std::string>& nodes) {
  looked_at_[pid] = walks_;
  Holder holder;
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  const std::vector<std::string> descriptors = root_.list(folder);
  // A folder that may not be listed looks like an empty one.
  const bool is_refused = descriptors.empty() &&
                          ::access(root_.real_path(folder).c_str(), R_OK | X_OK) != 0 &&
                          errno == EACCES;
  if (is_refused) {
    refused_.insert(pid);
  } else {
    refused_.erase(pid);
  }
  for (const std::string& fd : descriptors) {
    const auto target = root_.link_target(fmt::format("/proc/{}/fd/{}", pid, fd));
    if (!target) continue;
    if (*target == kKfd) holder.has_kfd = true;
    if (!target->starts_with(kNodes) || descriptors_ == kMostDescriptors) continue;
    const std::string node = target->substr(kNodes.size());
    if (!nodes.contains(node)) continue;
    holder.descriptors.push_back(
        {.node = node, .fdinfo = fmt::format("/proc/{}/fdinfo/{}", pid, fd)});
    ++descriptors_;
  }
  if (holder.descriptors.empty()) return;
  const auto stat = platform::read_proc_stat(root_, std::to_string(pid));
  if (stat.ok()) holder.start_ticks = stat->start_ticks;
  holders_.emplace(pid, std::move(holder));
}

}  // namespace gpusight::collect::amdgpu
