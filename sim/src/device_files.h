// The device files that a driver's library holds open from nvmlInit to nvmlShutdown, for tests of
// who keeps a GPU from being reset: ordinary files in a folder. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpusight::sim {

class DeviceFiles {
 public:
  DeviceFiles() = default;
  ~DeviceFiles() { close(); }
  DeviceFiles(const DeviceFiles&) = delete;
  DeviceFiles& operator=(const DeviceFiles&) = delete;

  // nvidiactl, and nvidia0 and so on, in a folder that is there. False when one cannot be opened.
  bool open(const std::string& folder, std::size_t gpus);
  void close();

 private:
  std::vector<int> descriptors_;
};

}  // namespace gpusight::sim
