// Snapshots made by hand, for tests of what is drawn from them. No machine looks exactly like
// these.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "model/snapshot.h"

namespace gpusight::cli::test {

using catalog::MetricId;
using model::Reason;
using model::Value;

inline constexpr MonoTime kNow{std::chrono::seconds(5000)};
inline constexpr WallTime kWall{std::chrono::seconds(1767225600)};  // 2026-01-01 00:00:00 UTC
inline constexpr double kGiB = 1073741824.0;

inline Value fresh(double number) { return Value::fresh(number, kNow, {}, 1); }
inline Value old(double number, Reason reason, double age_seconds) {
  return Value::fresh(number, kNow - from_seconds(age_seconds), {}, 1).stale(reason);
}

// Sets or replaces one series, keeping the order that find_sample() needs.
inline void set(model::Samples& samples, MetricId metric, Value value, std::string label = "") {
  const auto key = [](const model::Sample& s) { return std::pair(s.metric, s.label); };
  std::erase_if(samples,
                [&](const model::Sample& s) { return key(s) == std::pair(metric, label); });
  samples.push_back({metric, std::move(label), value});
  std::ranges::sort(samples, {}, key);
}

inline model::Process process(int64_t pid, std::string user, uint32_t uid, std::string command,
                              Value memory) {
  model::Process p;
  p.pid = pid;
  p.start_ticks = 100;
  const auto bytes = memory.number();
  p.memory_bytes = bytes ? fresh(std::floor(*bytes)) : memory;
  p.owner = {.state = model::OwnerState::kKnown,
             .command = std::move(command),
             .uid = uid,
             .user = std::move(user)};
  return p;
}

struct Load {
  double utilization = 0;
  double used_gib = 0;
  double total_gib = 80;
  double watts = 0;
  double limit_watts = 700;
  double celsius = 30;
  double clock_mhz = 210;
};

inline model::DeviceSnapshot gpu(uint32_t index, std::string name, const Load& load) {
  model::DeviceSnapshot d;
  const std::string number = std::to_string(index);
  d.device = std::make_shared<const model::Device>(
      model::Device{.uuid = "GPU-00000000-0000-0000-0000-00000000000" + number,
                    .vendor = "nvidia",
                    .name = std::move(name),
                    .driver = "580.105.08",
                    .pci = "0000:" + number + "9:00.0",
                    .index = index,
                    .minor = index});
  d.state_since = kWall - std::chrono::hours(30);
  set(d.samples, MetricId::kGpuUp, fresh(1));
  set(d.samples, MetricId::kGpuUtilization, fresh(load.utilization));
  set(d.samples, MetricId::kGpuMemoryUsed, fresh(load.used_gib * kGiB));
  set(d.samples, MetricId::kGpuMemoryTotal, fresh(load.total_gib * kGiB));
  set(d.samples, MetricId::kGpuPower, fresh(load.watts));
  set(d.samples, MetricId::kGpuPowerLimit, fresh(load.limit_watts));
  set(d.samples, MetricId::kGpuTemperature, fresh(load.celsius));
  set(d.samples, MetricId::kGpuClock, fresh(load.clock_mhz * 1e6), "graphics");
  set(d.samples, MetricId::kGpuClock, fresh(load.clock_mhz * 1e6), "sm");
  set(d.samples, MetricId::kGpuThrottle, fresh(0), "sw_power_cap");
  set(d.samples, MetricId::kGpuThrottle, fresh(load.utilization == 0 ? 1 : 0), "idle");
  d.processes_known = true;
  return d;
}

// An instance of the GPU at `parent`; everything of the board as a whole is not its own.
inline model::DeviceSnapshot instance(const model::DeviceSnapshot& parent, uint32_t gpu_instance,
                                      const std::string& profile, double used_gib,
                                      double total_gib) {
  model::DeviceSnapshot d;
  d.device = std::make_shared<const model::Device>(model::Device{
      .uuid = "MIG-00000000-0000-0000-0000-00000000000" + std::to_string(gpu_instance),
      .kind = model::DeviceKind::kMig,
      .vendor = "nvidia",
      .name = "MIG " + profile,
      .driver = parent.device->driver,
      .pci = parent.device->pci,
      .parent = parent.device->uuid,
      .gpu_instance = gpu_instance,
      .compute_instance = 0,
      .profile = profile});
  set(d.samples, MetricId::kGpuUp, fresh(1));
  set(d.samples, MetricId::kGpuUtilization, Value::absent(Reason::kNotSupported));
  set(d.samples, MetricId::kGpuMemoryUsed, fresh(used_gib * kGiB));
  set(d.samples, MetricId::kGpuMemoryTotal, fresh(total_gib * kGiB));
  set(d.samples, MetricId::kGpuPower, Value::absent(Reason::kNotSupported));
  set(d.samples, MetricId::kGpuTemperature, Value::absent(Reason::kNotSupported));
  d.processes_known = true;
  return d;
}

inline model::Snapshot machine(std::string host, std::vector<model::DeviceSnapshot> devices) {
  model::Snapshot s;
  s.sequence = 7;
  s.wall = kWall;
  s.mono = kNow;
  s.interval = std::chrono::seconds(1);
  s.host_name = std::move(host);
  s.devices = std::move(devices);
  set(s.host, MetricId::kHostCpuUtilization, fresh(0.142));
  set(s.host, MetricId::kHostLoad1, fresh(12.34));
  set(s.host, MetricId::kHostMemoryTotal, fresh(1008 * kGiB));
  set(s.host, MetricId::kHostMemoryUsed, fresh(412.4 * kGiB));
  set(s.host, MetricId::kHostSwapUsed, fresh(0));
  set(s.host, MetricId::kHostUptime, fresh(42 * 86400 + 3 * 3600 + 100));
  s.sources = {{.name = "nvml",
                .phase = model::SourcePhase::kRunning,
                .message = catalog::MessageId::kSourceRunning,
                .arguments = {std::to_string(s.devices.size()), "580.105.08"}},
               {.name = "host",
                .phase = model::SourcePhase::kRunning,
                .message = catalog::MessageId::kSourceRunning,
                .arguments = {"0", ""}}};
  return s;
}

inline model::Snapshot eight_h100() {
  std::vector<model::DeviceSnapshot> devices;
  for (uint32_t i = 0; i < 8; ++i) {
    devices.push_back(gpu(i, "NVIDIA H100 80GB HBM3",
                          {.utilization = 0.97 - 0.01 * i,
                           .used_gib = 61.2 + i,
                           .total_gib = 79.6,
                           .watts = 612.4 + 7 * i,
                           .celsius = 61.0 + i,
                           .clock_mhz = 1980}));
    devices.back().processes = {
        process(4711 + i, "alice", 1000, "python3", fresh(std::floor((60.1 + i) * kGiB)))};
  }
  set(devices[6].samples, MetricId::kGpuThrottle, fresh(1), "sw_power_cap");
  devices[7].processes = {process(90210, "bob", 1001, "train", fresh(40 * kGiB)),
                          process(90211, "carol", 1002, "jupyter-lab", fresh(12 * kGiB)),
                          process(90212, "bob", 1001, "train", fresh(8 * kGiB)),
                          process(90213, "dave", 1003, "a.out", fresh(1 * kGiB))};
  return machine("h100-box", std::move(devices));
}

inline model::Snapshot one_gpu() {
  model::DeviceSnapshot d = gpu(0, "NVIDIA GeForce RTX 4090",
                                {.utilization = 0.04,
                                 .used_gib = 1.2,
                                 .total_gib = 24,
                                 .watts = 28.4,
                                 .limit_watts = 450,
                                 .celsius = 38,
                                 .clock_mhz = 210});
  set(d.samples, MetricId::kGpuFanSpeed, fresh(0.3), "0");
  d.processes = {process(1200, "alice", 1000, "Xorg", fresh(std::floor(0.4 * kGiB))),
                 process(1300, "alice", 1000, "firefox", fresh(std::floor(0.3 * kGiB)))};
  return machine("desk", {std::move(d)});
}

inline model::Snapshot with_instances() {
  model::DeviceSnapshot a = gpu(0, "NVIDIA A100-SXM4-40GB",
                                {.used_gib = 18,
                                 .total_gib = 40,
                                 .watts = 212,
                                 .limit_watts = 400,
                                 .celsius = 44,
                                 .clock_mhz = 1410});
  set(a.samples, MetricId::kGpuUtilization, Value::absent(Reason::kNotSupported));
  model::DeviceSnapshot i1 = instance(a, 1, "3g.20gb", 12.3, 19.6);
  i1.processes = {process(5100, "erin", 1004, "python3", fresh(12 * kGiB))};
  model::DeviceSnapshot i2 = instance(a, 7, "1g.5gb", 0.4, 4.8);
  model::DeviceSnapshot i3 = instance(a, 9, "1g.5gb", 4.1, 4.8);
  i3.processes_known = false;
  i3.processes_reason = Reason::kNoPermission;
  model::DeviceSnapshot b =
      gpu(1, "NVIDIA A100-SXM4-40GB",
          {.used_gib = 0.5, .total_gib = 40, .watts = 58, .limit_watts = 400, .celsius = 31});
  return machine("mig-box", {a, i1, i2, i3, b});
}

// One of everything that can go wrong with a device.
inline model::Snapshot troubled() {
  const Load load{
      .utilization = 0.5, .used_gib = 40, .total_gib = 79.6, .watts = 400, .celsius = 91};
  std::vector<model::DeviceSnapshot> devices;
  for (uint32_t i = 0; i < 6; ++i) devices.push_back(gpu(i, "NVIDIA H100 80GB HBM3", load));
  devices[1].state = model::DeviceState::kLost;
  devices[1].state_since = kWall - std::chrono::minutes(21);
  devices[1].samples = {{MetricId::kGpuUp, "", fresh(0)},
                        {MetricId::kGpuUtilization, "", Value::absent(Reason::kLost)}};
  devices[2].state = model::DeviceState::kAsleep;
  devices[2].state_since = kWall - std::chrono::hours(3);
  devices[3].state = model::DeviceState::kBusy;
  set(devices[3].samples, MetricId::kGpuUtilization, old(0.5, Reason::kBusy, 4.2));
  set(devices[3].samples, MetricId::kGpuPower, old(400, Reason::kBusy, 4.2));
  set(devices[3].samples, MetricId::kGpuTemperature, Value::absent(Reason::kBusy));
  set(devices[4].samples, MetricId::kGpuPower, Value::absent(Reason::kWarmingUp));
  set(devices[4].samples, MetricId::kGpuMemoryUsed, Value::absent(Reason::kNoPermission));
  set(devices[5].samples, MetricId::kGpuPower, Value::absent(Reason::kWarmingUp));
  set(devices[5].samples, MetricId::kGpuTemperature, Value::absent(Reason::kImplausible));
  set(devices[5].samples, MetricId::kGpuThrottle, fresh(1), "hw_thermal");
  set(devices[5].samples, MetricId::kGpuThrottle, fresh(1), "sw_power_cap");
  devices[0].processes = {
      process(1, "alice", 1000, "python3", Value::absent(Reason::kNoPermission)),
      process(2, "bob", 1001, "train", fresh(3 * kGiB))};
  devices[4].processes_known = false;
  devices[4].processes_reason = Reason::kNoPermission;
  model::Snapshot s = machine("sick", std::move(devices));
  s.sources[0] = {.name = "nvml",
                  .phase = model::SourcePhase::kDegraded,
                  .message = catalog::MessageId::kSourceDegraded,
                  .arguments = {"5", "6", "10"}};
  return s;
}

inline model::Snapshot no_gpu() {
  model::Snapshot s = machine("plain", {});
  s.sources[0] = {.name = "nvml",
                  .phase = model::SourcePhase::kAbsent,
                  .message = catalog::MessageId::kNvmlNoDriver,
                  .arguments = {"0000:19:00.0"}};
  return s;
}

inline model::Snapshot simulated() {
  model::Snapshot s = eight_h100();
  s.simulated = true;
  s.devices.resize(2);
  s.sources[0].message = catalog::MessageId::kSourceSimulated;
  s.sources[0].simulated = true;
  return s;
}

// Names as a hostile workload chooses them, after what entering gpusight leaves of them.
inline model::Snapshot hostile() {
  model::Snapshot s = one_gpu();
  model::Device device = *s.devices[0].device;
  device.name = "<img src=x onerror=alert(1)> \"quoted\", 显卡显卡显卡显卡显卡显卡显卡";
  device.serial = "=cmd|'/c calc'!A1";
  s.devices[0].device = std::make_shared<const model::Device>(device);
  s.devices[0].processes = {
      process(31, "mallory", 1005, "名前の長いプロセスの名前の長いプロセス", fresh(kGiB)),
      process(32, "mallory", 1005, "a,b\"c", fresh(kGiB))};
  model::Process foreign = process(4711, "", 0, "", Value::absent(Reason::kNotSupported));
  foreign.owner = {.state = model::OwnerState::kForeign};
  s.devices[0].processes.push_back(foreign);
  return s;
}

// What a daemon tells a caller who may see only their own processes.
inline model::Snapshot others_hidden() {
  model::Snapshot s = eight_h100();
  s.devices.resize(2);
  s.devices[0].processes.clear();
  s.devices[0].hidden_users = {{.user = "alice", .uid = 1000, .processes = 3, .memory_bytes = 1e9},
                               {.user = "", .uid = 1007, .processes = 1}};
  s.devices[1].hidden_users = {{.user = "bob", .uid = 1001, .processes = 1}};
  return s;
}

}  // namespace gpusight::cli::test
