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
  // What the slow lanes have told, after each was asked `polls` times.
  void read(int polls = 1) {
    topology_ = {};
    for (size_t gpu = 0; gpu < fake_.gpus.size(); ++gpu) {
      for (int i = 0; i < polls; ++i) {
        clock_.advance(std::chrono::seconds(10));
        slow(static_cast<int>(gpu));
        if (report_->topology()) parts_[gpu] = *report_->topology();
      }
      const model::Topology& part = parts_[gpu];
      topology_.paths.insert(topology_.paths.end(), part.paths.begin(), part.paths.end());
      topology_.places.insert(topology_.places.end(), part.places.begin(), part.places.end());
    }
  }
  const model::Path& path(const std::string& from, const std::string& to) {
    for (const model::Path& each : topology_.paths) {
      if (each.from_uuid == from && each.to_uuid == to) return each;
    }
    ADD_FAILURE() << from << " " << to;
    static const model::Path kNone;
    return kNone;
  }
  std::map<size_t, model::Topology> parts_;
  model::Topology topology_;
};

TEST_F(NvmlTopology, PairsHaveTheDriversWordOrTheirLinks) {
  fake_.gpus[0].ancestors = {{1, 10}, {2, 50}};
  fake_.gpus[1].ancestors = {{2, 30}};
  fake_.gpus[0].set_field(91, ValueType::kUint32, 4);
  fake_.gpus[0].links = {{0, 0x3b}, {1, 0x3b}, {3, 0x3b}};
  open();
  read();
  EXPECT_EQ(path("GPU-0", "GPU-1").kind, PathKind::kNvLink);
  EXPECT_EQ(path("GPU-0", "GPU-1").links, 3u);
  EXPECT_EQ(path("GPU-0", "GPU-2").kind, PathKind::kAcrossNodes);
  EXPECT_EQ(path("GPU-1", "GPU-2").kind, PathKind::kHostBridge);
  EXPECT_EQ(topology_.paths.size(), 3u);
}

TEST_F(NvmlTopology, ThroughSwitchesEveryGpuReachesEveryOther) {
  for (FakeGpu& gpu : fake_.gpus) {
    gpu.set_field(91, ValueType::kUint32, 18);
    gpu.set_field(147, ValueType::kUint32, 18);
  }
  fake_.gpus[2].set_field(147, ValueType::kUint32, 16);
  open();
  read();
  EXPECT_EQ(path("GPU-0", "GPU-1").links, 18u);
  EXPECT_EQ(path("GPU-0", "GPU-2").links, 16u);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetTopologyCommonAncestor"), 0);
}

TEST_F(NvmlTopology, WhatNobodyTellsIsUnknown) {
  open();
  read();
  EXPECT_EQ(path("GPU-0", "GPU-1").kind, PathKind::kUnknown);
  ASSERT_EQ(topology_.places.size(), 3u);
  EXPECT_EQ(topology_.places[0].numa_node, std::nullopt);
}

TEST_F(NvmlTopology, NetworkCardsAndProcessorsComeFromTheKernel) {
  write("/sys/bus/pci/devices/0000:19:00.0/numa_node", "1\n");
  write("/sys/bus/pci/devices/0000:19:00.0/local_cpulist", "32-63\n");
  write("/sys/class/infiniband/mlx5_0/name", "");
  std::filesystem::create_symlink("../../../0000:1a:00.0",
                                  root_ + "/sys/class/infiniband/mlx5_0/device");
  open();
  read();
  EXPECT_EQ(path("GPU-0", "nic:mlx5_0").kind, PathKind::kUnknown);
  EXPECT_EQ(topology_.places[0].numa_node, 1u);
  EXPECT_EQ(topology_.places[0].cpu_list, "32-63");
}

TEST_F(NvmlTopology, OpeningAsksForNoneOfItAndOnceKnownItCostsNothing) {
  fake_.gpus[0].ancestors = {{1, 10}, {2, 50}};
  open();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetTopologyCommonAncestor"), 0);
  read();
  EXPECT_EQ(fake_.calls("nvmlDeviceGetTopologyCommonAncestor"), 3);
  read(3);
  EXPECT_EQ(fake_.calls("nvmlDeviceGetTopologyCommonAncestor"), 3);
  EXPECT_EQ(path("GPU-0", "GPU-1").kind, PathKind::kOneSwitch);
}

TEST_F(NvmlTopology, ManyGpusAreReadOverSeveralPollsAndUnknownUntilThen) {
  pace_ = Pace::kSpread;
  for (unsigned i = 3; i < 64; ++i) {
    fake_.gpus.push_back({.uuid = "GPU-" + std::to_string(i), .bus = 0x60 + i});
  }
  for (size_t other = 1; other < 64; ++other) fake_.gpus[0].ancestors[other] = 30;
  open();
  const auto known = [&] {
    return std::ranges::count(report_->topology()->paths, PathKind::kHostBridge,
                              &model::Path::kind);
  };
  int before = 0;
  for (int poll = 0; before < 63; ++poll) {
    ASSERT_LT(poll, 5);
    clock_.advance(std::chrono::seconds(10));
    slow(0);
    ASSERT_EQ(report_->topology()->paths.size(), 63u);
    EXPECT_GT(known(), before);
    EXPECT_LE(known(), before + 20);
    before = static_cast<int>(known());
  }
}

// A call that names two GPUs fails for either: it is not for this lane to say whose fault it is.
TEST_F(NvmlTopology, APeerThatIsLostIsNotThisGpusLoss) {
  open();
  fake_.gpus[2].lost = true;
  fake_.forced_on[{"nvmlDeviceGetTopologyCommonAncestor", 0}] = Return::kGpuIsLost;
  EXPECT_EQ(slow(0), Verdict::kGood);
  EXPECT_EQ(report_->topology()->paths[1].kind, PathKind::kUnknown);
}

}  // namespace
}  // namespace gpusight::collect::nvml
