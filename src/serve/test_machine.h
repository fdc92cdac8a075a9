// Snapshots made by hand for the tests of this folder.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "model/snapshot.h"

namespace gpusight::serve {

inline model::Process process_of(uint32_t uid, std::string command) {
  model::Process process;
  process.pid = 4711;
  process.start_ticks = 1;
  process.owner = {.state = model::OwnerState::kKnown, .command = std::move(command), .uid = uid};
  return process;
}

struct Machine {
  uint64_t sequence = 1;
  MonoTime mono{std::chrono::hours(1)};
  double power = 100;
  size_t gpus = 1;
  std::string host_name = "box";
  std::vector<model::Process> processes;
  std::vector<model::SourceStatus> sources;
};

inline model::SnapshotPtr snapshot_of(const Machine& machine) {
  using namespace model;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->sequence = machine.sequence;
  snapshot->mono = machine.mono;
  snapshot->wall = WallTime(std::chrono::seconds(1767225600 + machine.sequence));
  snapshot->interval = std::chrono::seconds(1);
  snapshot->host_name = machine.host_name;
  snapshot->sources = machine.sources;
  for (size_t i = 0; i < machine.gpus; ++i) {
    DeviceSnapshot device;
    device.device = std::make_shared<const Device>(
        Device{.uuid = "GPU-" + std::to_string(i), .name = "NVIDIA H100"});
    device.samples = {
        {catalog::MetricId::kGpuUp, "", Value::fresh(1, machine.mono, {}, 1)},
        {catalog::MetricId::kGpuPower, "", Value::fresh(machine.power, machine.mono, {}, 1)}};
    device.processes_known = true;
    device.processes = machine.processes;
    snapshot->devices.push_back(std::move(device));
  }
  return snapshot;
}

// One of NVIDIA's GPUs, which has names elsewhere.
inline model::SnapshotPtr nvidia_machine(std::vector<model::Process> processes = {}) {
  using namespace model;
  auto snapshot = std::make_shared<Snapshot>(*snapshot_of({.gpus = 0}));
  DeviceSnapshot device;
  device.device = std::make_shared<const Device>(
      Device{.uuid = "GPU-0", .vendor = "nvidia", .name = "NVIDIA H100", .index = 0});
  device.samples = {
      {catalog::MetricId::kGpuTemperature, "", Value::fresh(61, snapshot->mono, {}, 1)}};
  device.processes_known = true;
  device.processes = std::move(processes);
  snapshot->devices = {std::move(device)};
  return snapshot;
}

}  // namespace gpusight::serve
