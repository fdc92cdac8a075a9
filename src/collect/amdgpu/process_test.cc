#include <algorithm>

#include "collect/amdgpu/amd_test_tree.h"
#include "collect/amdgpu/client_scan.h"

namespace gpusight::collect::amdgpu {
namespace {

using catalog::MetricId;
using model::Process;
using model::ProcessType;
using model::Reason;
using std::chrono::seconds;

class AmdProcesses : public AmdTest {
 protected:
  // A descriptor of a node, with what the driver says of it.
  void add_client(int64_t pid, int fd, const std::string& node, const std::string& fdinfo) const {
    const std::string p = "/proc/" + std::to_string(pid);
    write(p + "/stat", std::to_string(pid) +
                           " (game) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 " + "0 " +
                           std::to_string(100 * pid) + " 0 0\n");
    const std::string link_path = p + "/fd/" + std::to_string(fd);
    remove(link_path);
    link(link_path, node);
    write(p + "/fdinfo/" + std::to_string(fd), fdinfo);
  }
  static std::string client(uint64_t id, const std::string& more,
                            const std::string& address = "0000:03:00.0") {
    return "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t" + address + "\ndrm-client-id:\t" +
           std::to_string(id) + "\n" + more;
  }
  const std::vector<Process>& processes(size_t gpu = 0) {
    report_.emplace(clock_, 2);
    opened_files_.clear();
    generation_->lanes().back()->poll(*report_);
    return *report_->subjects()[gpu].processes;
  }
};

TEST_F(AmdProcesses, HoldMemoryAndSharesOfEngines) {
  add_board();
  add_client(4711, 5, "/dev/dri/renderD128",
             client(1,
                    "drm-engine-gfx:\t1000000000 ns\ndrm-engine-enc:\t0 ns\n"
                    "drm-resident-vram:\t2 MiB\ndrm-resident-gtt:\t1 GiB\n"));
  write("/proc/meminfo", "MemTotal: 1 kB\n");
  open();
  ASSERT_EQ(processes().size(), 1u);
  const Process first = processes()[0];
  EXPECT_EQ(first.pid, 4711);
  EXPECT_EQ(first.start_ticks, 471100u);
  EXPECT_EQ(first.type, ProcessType::kGraphics);
  EXPECT_EQ(first.memory_bytes.number(), 2 << 20) << "a board's own memory";
  EXPECT_EQ(first.utilization_ratio.reason(), Reason::kWarmingUp);
  EXPECT_EQ(number(MetricId::kGpuProcesses), 1);
  clock_.advance(seconds(2));
  add_client(4711, 5, "/dev/dri/renderD128",
             client(1,
                    "drm-engine-gfx:\t2000000000 ns\ndrm-engine-enc:\t500000000 ns\n"
                    "drm-engine-compute:\t300000000 ns\ndrm-memory-vram:\t3072 KiB\n"));
  const Process second = processes()[0];
  EXPECT_EQ(second.utilization_ratio.number(), 0.5);
  EXPECT_EQ(second.encoder_utilization_ratio.number(), 0.25);
  EXPECT_EQ(second.decoder_utilization_ratio.number(), 0);
  EXPECT_EQ(second.memory_bytes.number(), 3 << 20);
  EXPECT_EQ(second.type, ProcessType::kBoth);
}

// FAULT-029, FAULT-046
TEST_F(AmdProcesses, AClientIsCountedOnceHoweverManyShareIt) {
  add_board();
  const std::string same = client(1, "drm-resident-vram:\t100 MiB\n");
  add_client(100, 5, "/dev/dri/renderD128", same);
  add_client(100, 6, "/dev/dri/card0", same);  // the same client by a second descriptor
  add_client(100, 7, "/dev/dri/renderD128", client(2, "drm-resident-vram:\t1 MiB\n"));
  add_client(200, 5, "/dev/dri/renderD128", same);  // a child that inherited it
  open();
  ASSERT_EQ(processes().size(), 1u);
  EXPECT_EQ(processes()[0].pid, 100);
  EXPECT_EQ(processes()[0].memory_bytes.number(), 101 << 20);
}

TEST_F(AmdProcesses, BelongToTheGpuWhoseNodeTheyHold) {
  add_board(0);
  add_board(1);
  add_client(100, 5, "/dev/dri/renderD128", client(1, ""));
  add_client(200, 5, "/dev/dri/renderD129", client(1, "", "0000:04:00.0"));
  // In a container the node of the second GPU is called as that of the first.
  add_client(250, 5, "/dev/dri/renderD128", client(2, "", "0000:04:00.0"));
  add_client(300, 5, "/dev/dri/renderD140", client(1, ""));
  add_client(400, 5, "/dev/null", "pos:\t0\n");
  add_client(500, 5, "/dev/dri/renderD128", "pos:\t0\n");  // closed since, and opened as a file
  open();
  ASSERT_EQ(processes(0).size(), 1u);
  EXPECT_EQ(processes(0)[0].pid, 100);
  ASSERT_EQ(processes(1).size(), 2u);
  EXPECT_EQ(processes(1)[0].pid, 200) << "one number on two GPUs is two clients";
  EXPECT_EQ(processes(1)[1].pid, 250);
  EXPECT_EQ(processes(0)[0].memory_bytes.reason(), Reason::kNotSupported);
}

TEST_F(AmdProcesses, ACounterThatGoesBackwardsCountsNothingUntilItIsPast) {
  add_board();
  const auto set_busy = [&](uint64_t milliseconds) {
    add_client(1, 5, "/dev/dri/renderD128",
               client(1, "drm-engine-gfx:\t" + std::to_string(milliseconds * 1'000'000) + " ns\n"));
    clock_.advance(seconds(1));
    return processes()[0].utilization_ratio.number();
  };
  open();
  set_busy(1000);
  EXPECT_EQ(set_busy(1500), 0.5);
  EXPECT_EQ(set_busy(100), 0);
  EXPECT_EQ(set_busy(1500), 0);
  EXPECT_EQ(set_busy(1750), 0.25);
}

// FAULT-001
TEST_F(AmdProcesses, AShareThatCannotBeIsDroppedAndCounted) {
  add_board();
  add_client(1, 5, "/dev/dri/renderD128", client(1, "drm-engine-gfx:\t0 ns\n"));
  open();
  processes();
  clock_.advance(seconds(1));
  add_client(1, 5, "/dev/dri/renderD128", client(1, "drm-engine-gfx:\t99000000000 ns\n"));
  EXPECT_EQ(processes()[0].utilization_ratio.reason(), Reason::kImplausible);
  EXPECT_EQ(report_->implausible(), 1u);
}

TEST_F(AmdProcesses, OneThatHoldsTheComputeNodeComputes) {
  add_board();
  add_client(1, 5, "/dev/dri/renderD128", client(1, ""));
  link("/proc/1/fd/6", "/dev/kfd");
  open();
  EXPECT_EQ(processes()[0].type, ProcessType::kCompute);
  clock_.advance(seconds(1));
  EXPECT_EQ(processes()[0].utilization_ratio.reason(), Reason::kNotSupported)
      << "what ROCm computes is counted by no engine: 0 would be no reading";
}

TEST_F(AmdProcesses, EnginesAreAddedUpOverClientsAndTheBusiestCounts) {
  add_board();
  add_client(1, 5, "/dev/dri/renderD128", client(1, "drm-engine-gfx:\t1 ns\n"));
  add_client(1, 6, "/dev/dri/renderD128", client(2, "drm-engine-compute:\t1 ns\n"));
  open();
  processes();
  clock_.advance(seconds(1));
  add_client(1, 5, "/dev/dri/renderD128", client(1, "drm-engine-gfx:\t700000001 ns\n"));
  add_client(1, 6, "/dev/dri/renderD128", client(2, "drm-engine-compute:\t600000001 ns\n"));
  const auto share = processes()[0].utilization_ratio.number();
  ASSERT_TRUE(share.has_value());
  EXPECT_NEAR(*share, 0.7, 1e-9);
}

// FAULT-078
TEST_F(AmdProcesses, WhatComputesByRocmIsSeenWithoutLookingIntoItsDescriptors) {
  add_board();
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  write(nodes + "0/gpu_id", "0\n");  // the processor
  write(nodes + "0/properties", "cpu_cores_count 8\n");
  // Two partitions of the board in question, and another board.
  write(nodes + "1/gpu_id", "111\n");
  write(nodes + "1/properties", "simd_count 304\nlocation_id 768\ndomain 0\n");
  write(nodes + "2/gpu_id", "222\n");
  write(nodes + "2/properties", "simd_count 304\nlocation_id 268436224\ndomain 0\n");
  write(nodes + "3/gpu_id", "333\n");
  write(nodes + "3/properties", "simd_count 304\nlocation_id 1024\ndomain 0\n");
  const std::string p = "/sys/class/kfd/kfd/proc/";
  write(p + "900/vram_111", "1000\n");
  write(p + "900/vram_222", "24\n");
  write(p + "900/vram_333", "5\n");
  write(p + "901/vram_111", "0\n");
  write(p + "902/vram_111", "rubbish\n");
  write(p + "100/vram_111", "77\n");
  write(p + "rubbish/vram_111", "1\n");
  write("/proc/900/stat", "900 (python3) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 55 0 0\n");
  add_client(100, 5, "/dev/dri/renderD128", client(1, "drm-engine-gfx:\t5 ns\n"));
  open();
  const auto& found = processes();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pid, 100);
  EXPECT_EQ(found[0].memory_bytes.number(), 77) << "which its client does not tell";
  EXPECT_EQ(found[0].type, ProcessType::kBoth);
  EXPECT_EQ(found[1].pid, 900);
  EXPECT_EQ(found[1].start_ticks, 55u);
  EXPECT_EQ(found[1].memory_bytes.number(), 1024);
  EXPECT_EQ(found[1].type, ProcessType::kCompute);
  EXPECT_EQ(found[1].utilization_ratio.reason(), Reason::kNotSupported);
}

TEST_F(AmdProcesses, OfASleepingGpuAreNotAskedFor) {
  add_board();
  add_client(1, 5, "/dev/dri/renderD128", client(1, ""));
  open();
  write(folder(0) + "/power/runtime_status", "suspended\n");
  report_.emplace(clock_, 2);
  opened_files_.clear();
  generation_->lanes().back()->poll(*report_);
  EXPECT_FALSE(report_->subjects()[0].processes.has_value());
  EXPECT_EQ(report_->subjects()[0].state, model::DeviceState::kAsleep);
  EXPECT_EQ(std::ranges::count(opened_files_, "/proc/1/fdinfo/5"), 0);
}

// FAULT-081
TEST_F(AmdProcesses, OneThatHoldsNothingIsLookedAtSeldom) {
  add_board();
  for (int64_t pid = 1; pid <= 50; ++pid) add_client(pid, 5, "/dev/null", "pos:\t0\n");
  ClientScan scan{platform::RootFs(root_)};
  EXPECT_TRUE(scan.walk({"renderD128"}).empty());
  // Each opens the GPU; all are found within the walks in which everybody has a turn.
  for (int64_t pid = 1; pid <= 50; ++pid) add_client(pid, 5, "/dev/dri/renderD128", client(1, ""));
  size_t found = 0;
  for (uint64_t i = 0; i < ClientScan::kSeldom; ++i) {
    const size_t now = scan.walk({"renderD128"}).size();
    EXPECT_EQ(now, found + 5) << "a tenth a walk, and those that are known";
    found = now;
  }
  // A new process is found at once, and one that ended is gone at once.
  add_client(77, 5, "/dev/dri/renderD128", client(1, ""));
  remove("/proc/50");
  const auto& holders = scan.walk({"renderD128"});
  EXPECT_TRUE(holders.contains(77));
  EXPECT_FALSE(holders.contains(50));
}

}  // namespace
}  // namespace gpusight::collect::amdgpu
