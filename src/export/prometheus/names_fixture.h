// A machine made by hand for the tests of names: a whole GPU, and one that is cut into MIG devices,
// two of which share a GPU instance.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

#include "export/prometheus/render.h"
#include "model/snapshot.h"

namespace gpusight::prometheus {

inline model::Value fresh_value(double number) {
  return model::Value::fresh(number, MonoTime(std::chrono::seconds(5000)), {}, 1);
}

inline model::Process process_of(int64_t pid, uint32_t uid, std::string command, double bytes) {
  model::Process process;
  process.pid = pid;
  process.memory_bytes = fresh_value(bytes);
  process.owner = {.state = model::OwnerState::kKnown, .command = std::move(command), .uid = uid};
  return process;
}

inline model::DeviceSnapshot whole_gpu() {
  using catalog::MetricId;
  model::DeviceSnapshot gpu;
  gpu.device = std::make_shared<const model::Device>(model::Device{
      .uuid = "GPU-8F6E1D2C-3b4a-5968-7786-95a4b3c21000",
      .vendor = "nvidia",
      .name = "NVIDIA H100 80GB HBM3",
      .driver = "580.105.08",
      .pci = "0000:3b:00.0",
      .serial = "1654923009999",
      .vbios = "96.00.61.00.01",
      .index = 0,
      .minor = 2,
      .facts = {
          {"compute_capability", "9.0"}, {"cuda", "13.0"}, {"pci_sub_device_id", "0x16C110DE"}}});
  const auto add = [&](MetricId metric, double number, std::string label = "") {
    gpu.samples.push_back({metric, std::move(label), fresh_value(number)});
  };
  add(MetricId::kGpuUp, 1);
  add(MetricId::kGpuUtilization, 0.57);
  add(MetricId::kGpuMemoryUtilization, 0.29);
  add(MetricId::kGpuGraphicsActivity, 0.615);
  add(MetricId::kGpuTensorActivity, 0.333);
  add(MetricId::kGpuMemoryUsed, 34359738368);
  add(MetricId::kGpuMemoryFree, 51539607552);
  add(MetricId::kGpuMemoryReserved, 536870912);
  add(MetricId::kGpuMemoryTotal, 86436216832);
  add(MetricId::kGpuTemperature, 61);
  add(MetricId::kGpuPowerAverage, 512.345);
  add(MetricId::kGpuPowerInstant, 530.002);
  add(MetricId::kGpuPowerLimit, 700);
  add(MetricId::kGpuEnergy, 8000000.5);
  add(MetricId::kGpuClock, 1.98e9, "graphics");
  add(MetricId::kGpuClock, 2.619e9, "memory");
  add(MetricId::kGpuClock, 1.98e9, "sm");
  gpu.samples.push_back(
      {MetricId::kGpuClock, "video", model::Value::absent(model::Reason::kDriverError)});
  gpu.samples.push_back(
      {MetricId::kGpuFanSpeed, "", model::Value::absent(model::Reason::kNotSupported)});
  add(MetricId::kGpuPerformanceState, 0);
  add(MetricId::kGpuThrottle, 0, "applications_clocks");
  add(MetricId::kGpuThrottle, 0, "display_clock");
  add(MetricId::kGpuThrottle, 0, "hw_power_brake");
  add(MetricId::kGpuThrottle, 0, "hw_slowdown");
  add(MetricId::kGpuThrottle, 1, "hw_thermal");
  add(MetricId::kGpuThrottle, 0, "idle");
  add(MetricId::kGpuThrottle, 1, "sw_power_cap");
  add(MetricId::kGpuThrottle, 0, "sw_thermal");
  add(MetricId::kGpuThrottle, 0, "sync_boost");
  add(MetricId::kGpuXidErrors, 3);
  add(MetricId::kGpuXidCodeErrors, 1, "31");
  add(MetricId::kGpuXidCodeErrors, 2, "79");
  add(MetricId::kGpuXidLast, 79);
  add(MetricId::kGpuXidLastTime, 1767225590.25, "31");
  add(MetricId::kGpuXidLastTime, 1767225595.5, "79");
  gpu.processes = {process_of(4711, 1000, "train", 34000000000)};
  gpu.processes_known = true;
  return gpu;
}

inline model::DeviceSnapshot cut_gpu() {
  using catalog::MetricId;
  model::DeviceSnapshot gpu;
  gpu.device = std::make_shared<const model::Device>(
      model::Device{.uuid = "GPU-8f6e1d2c-3b4a-5968-7786-95a4b3c21001",
                    .vendor = "nvidia",
                    .name = "NVIDIA H100 80GB HBM3",
                    .driver = "580.105.08",
                    .pci = "0000:5e:00.0",
                    .index = 1,
                    .minor = 3});
  gpu.samples = {{MetricId::kGpuTemperature, "", fresh_value(44)},
                 {MetricId::kGpuPowerAverage, "", fresh_value(131.5)},
                 {MetricId::kGpuEnergy, "", fresh_value(77)}};
  gpu.processes_known = false;
  gpu.processes_reason = model::Reason::kNotSupported;
  return gpu;
}

inline model::DeviceSnapshot mig_device(uint32_t gi, uint32_t ci, const std::string& profile,
                                        double used, double tensor) {
  using catalog::MetricId;
  model::DeviceSnapshot mig;
  mig.device = std::make_shared<const model::Device>(
      model::Device{.uuid = "MIG-" + std::to_string(gi) + "-" + std::to_string(ci),
                    .kind = model::DeviceKind::kMig,
                    .vendor = "nvidia",
                    .name = "MIG " + profile,
                    .parent = "GPU-8f6e1d2c-3b4a-5968-7786-95a4b3c21001",
                    .gpu_instance = gi,
                    .compute_instance = ci,
                    .profile = profile});
  mig.samples = {{MetricId::kGpuSmActivity, "", fresh_value(0.25)},
                 {MetricId::kGpuTensorActivity, "", fresh_value(tensor)},
                 {MetricId::kGpuMemoryUsed, "", fresh_value(used)},
                 {MetricId::kGpuMemoryTotal, "", fresh_value(20937965568)}};
  mig.processes_known = true;
  return mig;
}

inline model::Snapshot names_machine() {
  model::Snapshot s;
  s.sequence = 123;
  s.wall = WallTime(std::chrono::milliseconds(1767225600123));
  s.mono = MonoTime(std::chrono::seconds(5000));
  s.interval = std::chrono::seconds(1);
  s.host_name = "box";
  s.devices = {whole_gpu(), cut_gpu(), mig_device(1, 0, "1c.2g.20gb", 1073741824, 0.1),
               mig_device(1, 1, "1c.2g.20gb", 1073741824, 0.1),
               mig_device(7, 0, "1g.10gb", 536870912, 0.2)};
  s.devices[2].processes = {process_of(4801, 1001, "serve", 800000000)};
  for (model::DeviceSnapshot& device : s.devices) {
    std::ranges::sort(device.samples, {}, [](const model::Sample& sample) {
      return std::tie(sample.metric, sample.label);
    });
  }
  s.self = {{catalog::MetricId::kSelfTicksLate, "", fresh_value(4)},
            {catalog::MetricId::kSelfLaneSeconds, "host/fast", fresh_value(0.9)},
            {catalog::MetricId::kSelfLaneSeconds, "nvml/GPU-a/fast", fresh_value(0.002)},
            {catalog::MetricId::kSelfLaneSeconds, "nvml/GPU-b/fast", fresh_value(0.004)}};
  s.sources = {{.name = "nvml", .phase = model::SourcePhase::kRunning}};
  return s;
}

inline std::string text_by(NameSets names, const model::Snapshot& snapshot,
                           const model::Caller& caller = {}) {
  return render(snapshot, {.version = "0.1.0", .names = names, .caller = caller});
}

}  // namespace gpusight::prometheus
