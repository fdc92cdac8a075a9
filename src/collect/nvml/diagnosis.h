// Why no NVIDIA GPU is seen, told apart from what the machine shows without its driver. Reads
// kernel files and looks at device files; opens none but /dev/nvidiactl, which belongs to no GPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collect/nvml/call_meter.h"
#include "collect/nvml/nvml_library.h"
#include "platform/pci.h"

namespace gpusight::collect::nvml {

// What the diagnosis needs of the machine beyond files; replaced in tests.
struct DeviceFiles {
  // The errno of opening a path for reading and writing, 0 when it opens.
  std::function<int(const std::string& path)> open_error;
  // Whether this process may open it, without opening it.
  std::function<bool(const std::string& path)> may_open;
};
DeviceFiles real_device_files();

class Diagnosis {
 public:
  Diagnosis(platform::RootFs root, std::vector<platform::PciDevice> bus, DeviceFiles files)
      : root_(std::move(root)), bus_(std::move(bus)), files_(std::move(files)) {}

  // There is no library to use; `found` says what came of looking for one.
  Problem without_library(const Problem& found) const;
  // nvmlInit answered with `code`.
  Problem init_failed(Return code, const NvmlLibrary& library, CallMeter& call) const;
  // It works and knows no device.
  Problem no_devices(Return code, unsigned refused) const;

 private:
  std::optional<Problem> driver_problem() const;
  Problem version_mismatch(const NvmlLibrary& library, CallMeter& call) const;
  Problem no_permission() const;

  platform::RootFs root_;
  std::vector<platform::PciDevice> bus_;
  DeviceFiles files_;
};

// "550.90.07" in what /proc/driver/nvidia/version says; empty if it is not there.
std::string kernel_driver_version(const platform::RootFs& root);
// "550.107.02" of "libnvidia-ml.so.550.107.02"; empty for a name without a version.
std::string version_in_file_name(std::string_view path);

}  // namespace gpusight::collect::nvml
