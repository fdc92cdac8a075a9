// One GPU that amdgpu holds: who it is, and where its files lie. Found once, when it is opened;
// plain values, any thread.
#pragma once

#include <string>
#include <vector>

#include "collect/amdgpu/file_reader.h"
#include "model/device.h"
#include "platform/drm.h"

namespace gpusight::collect::amdgpu {

struct AmdDevice {
  platform::DrmDevice drm;
  model::Device device;
  std::string hwmon;               // folder of its sensors; empty: none
  std::vector<std::string> files;  // names in its folder, sorted
  // The processor's memory is the GPU's: told by the rail of the processor that only such a chip
  // has, or by the kind of its table; never by how much memory it has.
  bool is_apu = false;
  double host_memory_bytes = 0;  // 0: not known

  bool has(std::string_view file) const;
  std::string path(std::string_view file) const { return drm.folder + "/" + std::string(file); }
};

// What is known without touching the device.
model::Device device_on_bus(const platform::RootFs& root, const platform::DrmDevice& drm);

// Reads who an awake device is. Nothing fails: what a file does not tell is not there.
AmdDevice read_amd_device(const platform::RootFs& root, const platform::DrmDevice& drm);

}  // namespace gpusight::collect::amdgpu
