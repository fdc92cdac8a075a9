#include "collect/amdgpu/client_scan.h"

#include <fmt/format.h>

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
  std::erase_if(looked_at_, [&](const auto& item) { return !alive.contains(item.first); });
  return holders_;
}

void ClientScan::look(int64_t pid, const std::set<std::string>& nodes) {
  looked_at_[pid] = walks_;
  Holder holder;
  for (const std::string& fd : root_.list(fmt::format("/proc/{}/fd", pid))) {
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
