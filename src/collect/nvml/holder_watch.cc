#include "collect/nvml/holder_watch.h"

#include "platform/proc.h"

namespace gpusight::collect::nvml {
namespace {

// The driver's own file, and those of the kernel's graphics.
std::vector<std::string> files_of(const platform::RootFs& root, const model::Device& gpu) {
  std::vector<std::string> files;
  if (gpu.minor) files.push_back("/dev/nvidia" + std::to_string(*gpu.minor));
  for (const std::string& node : root.list("/sys/bus/pci/devices/" + gpu.pci + "/drm")) {
    files.push_back("/dev/dri/" + node);
  }
  return files;
}

}  // namespace

model::Holder HolderWatch::holder(int64_t pid) {
  model::Holder holder{.pid = pid};
  const std::string text = std::to_string(pid);
  const auto stat = platform::read_proc_stat(root_, text);
  holder.owner.state = stat.ok() ? model::OwnerState::kKnown : model::OwnerState::kExited;
  if (stat.ok()) holder.owner.command = stat->comm;
  if (const auto status = platform::read_proc_status(root_, text); status.ok()) {
    holder.owner.uid = status->real_uid;
    holder.owner.user = users_.name_of(status->real_uid);
  }
  return holder;
}

model::Holders HolderWatch::of(const model::Device& gpu, MonoTime now) {
  const std::vector<std::string> files = files_of(root_, gpu);
  MutexLock lock(mutex_);
  if (!looked_at_ || now - *looked_at_ >= kPeriod) {
    looked_at_ = now;
    open_.look();
    users_.refresh();
  }
  model::Holders holders{.is_partial = open_.is_partial()};
  for (const int64_t pid : open_.of(files)) {
    if (holders.processes.size() == kMostOfAGpu) {
      holders.is_partial = true;
      break;
    }
    holders.processes.push_back(holder(pid));
  }
  return holders;
}

}  // namespace gpusight::collect::nvml
