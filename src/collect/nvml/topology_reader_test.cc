#include "collect/nvml/topology_reader.h"

#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using model::PathKind;

class NvmlTopology : public TestMachine {
 protected:
  NvmlTopology() {
    fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
    fake_.gpus.push_back({.uuid = "GPU-2", .bus = 0x5e});
  }
  const model::Path& path(const std::string& from, const std::string& to) {
    for (const model::Path& each : opened_.generation->topology()->paths) {
      if (each.from_uuid == from && each.to_uuid == to) return each;
    }
    ADD_FAILURE() << from << " " << to;
    return opened_.generation->topology()->paths.front();
  }
};

TEST_F(NvmlTopology, PairsHaveTheDriversWordOrTheirLinks) {
  fake_.gpus[0].ancestors = {{1, 10}, {2, 50}};
  fake_.gpus[1].ancestors = {{2, 30}};
  fake_.gpus[0].set_field(91, ValueType::kUint32, 4);
  fake_.gpus[0].links = {{0, 0x3b}, {1, 0x3b}, {3, 0x3b}};
  open();
  EXPECT_EQ(path("GPU-0", "GPU-1").kind, PathKind::kNvLink);
  EXPECT_EQ(path("GPU-0", "GPU-1").links, 3u);
  EXPECT_EQ(path("GPU-0", "GPU-2").kind, PathKind::kAcrossNodes);
  EXPECT_EQ(path("GPU-1", "GPU-2").kind, PathKind::kHostBridge);
  EXPECT_EQ(opened_.generation->topology()->paths.size(), 3u);
}

TEST_F(NvmlTopology, ThroughSwitchesEveryGpuReachesEveryOther) {
  for (FakeGpu& gpu : fake_.gpus) {
    gpu.set_field(91, ValueType::kUint32, 18);
    gpu.set_field(147, ValueType::kUint32, 18);
  }
  fake_.gpus[2].set_field(147, ValueType::kUint32, 16);
  open();
  EXPECT_EQ(path("GPU-0", "GPU-1").links, 18u);
  EXPECT_EQ(path("GPU-0", "GPU-2").links, 16u);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetTopologyCommonAncestor"), 0);
}

TEST_F(NvmlTopology, WhatNobodyTellsIsUnknown) {
  open();
  EXPECT_EQ(path("GPU-0", "GPU-1").kind, PathKind::kUnknown);
  ASSERT_EQ(opened_.generation->topology()->places.size(), 3u);
  EXPECT_EQ(opened_.generation->topology()->places[0].numa_node, std::nullopt);
}

TEST_F(NvmlTopology, NetworkCardsAndProcessorsComeFromTheKernel) {
  write("/sys/bus/pci/devices/0000:19:00.0/numa_node", "1\n");
  write("/sys/bus/pci/devices/0000:19:00.0/local_cpulist", "32-63\n");
  write("/sys/class/infiniband/mlx5_0/name", "");
  std::filesystem::create_symlink("../../../0000:1a:00.0",
                                  root_ + "/sys/class/infiniband/mlx5_0/device");
  open();
  EXPECT_EQ(path("GPU-0", "nic:mlx5_0").kind, PathKind::kUnknown);
  EXPECT_EQ(opened_.generation->topology()->places[0].numa_node, 1u);
  EXPECT_EQ(opened_.generation->topology()->places[0].cpu_list, "32-63");
}

}  // namespace
}  // namespace gpusight::collect::nvml
