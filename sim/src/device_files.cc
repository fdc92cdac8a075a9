#include "device_files.h"

#include <fcntl.h>
#include <unistd.h>

namespace gpusight::sim {

bool DeviceFiles::open(const std::string& folder, std::size_t gpus) {
  std::vector<std::string> names{"nvidiactl"};
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) names.push_back("nvidia" + std::to_string(gpu));
  for (const std::string& name : names) {
    std::string path = folder;
    path.append("/").append(name);
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
      close();
      return false;
    }
    descriptors_.push_back(fd);
  }
  return true;
}

void DeviceFiles::close() {
  for (const int fd : descriptors_) ::close(fd);
  descriptors_.clear();
}

}  // namespace gpusight::sim
