#include "attribute/job_maps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

namespace gpusight::attribute {
namespace {

class JobMapsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "job_maps." + std::to_string(::getpid());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, std::string_view text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }

  // A GPU of index 0 with a MIG device, and on each a process of root, ada (1000) and bob (1001).
  static model::Snapshot machine() {
    model::Snapshot snapshot;
    snapshot.devices.resize(2);
    model::Device gpu;
    gpu.uuid = "GPU-1";
    gpu.index = 0;
    model::Device part;
    part.uuid = "MIG-1";
    part.index = 0;
    part.parent = "GPU-1";
    snapshot.devices[0].device = std::make_shared<const model::Device>(gpu);
    snapshot.devices[1].device = std::make_shared<const model::Device>(part);
    for (model::DeviceSnapshot& device : snapshot.devices) {
      for (const uint32_t uid : {0U, 1000U, 1001U}) {
        model::Process process{.pid = 10 + uid};
        process.owner.uid = uid;
        device.processes.push_back(process);
      }
    }
    return snapshot;
  }
  // The jobs of the processes, device by device.
  static std::vector<std::string> jobs_of(const model::Snapshot& snapshot) {
    std::vector<std::string> jobs;
    for (const model::DeviceSnapshot& device : snapshot.devices) {
      for (const model::Process& process : device.processes) jobs.push_back(process.owner.job);
    }
    return jobs;
  }
  std::vector<std::string> wait_for(JobMaps& maps, const std::vector<std::string>& wanted) {
    std::vector<std::string> jobs;
    for (int i = 0; i < 2000; ++i) {
      model::Snapshot snapshot = machine();
      maps.add_to(snapshot);
      jobs = jobs_of(snapshot);
      if (jobs == wanted) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return jobs;
  }

  FakeClock clock_;
  std::string root_;
};

using Jobs = std::vector<std::string>;

// FAULT-111
TEST_F(JobMapsTest, JobstatsTellsWhoseJobItIs) {
  write("/run/gpustat/0", "1234 1000\n");
  write("/run/gpustat/MIG-1", "77 1001\n");
  JobMaps maps(platform::RootFs(root_), "", &clock_);
  const Jobs wanted = {"", "1234", "", "", "", "77"};
  EXPECT_EQ(wait_for(maps, wanted), wanted);
  // The next job of the same GPU.
  write("/run/gpustat/0", "1235 1001\n");
  clock_.advance(JobMaps::kFreshFor);
  const Jobs next = {"", "", "1235", "", "", "77"};
  EXPECT_EQ(wait_for(maps, next), next);
}

// FAULT-111
TEST_F(JobMapsTest, AListOfJobsNamesOneOnlyWhereThereIsOne) {
  write("/jobs/0", "1234\n");
  JobMaps maps(platform::RootFs(root_), "/jobs", &clock_);
  const Jobs wanted = {"", "1234", "1234", "", "", ""};
  EXPECT_EQ(wait_for(maps, wanted), wanted);
  write("/jobs/0", "1234\n1235\n");
  clock_.advance(JobMaps::kFreshFor);
  const Jobs none(6);
  EXPECT_EQ(wait_for(maps, none), none);
}

TEST_F(JobMapsTest, WhatACgroupSaysStays) {
  write("/run/gpustat/0", "1234 1000\n");
  JobMaps maps(platform::RootFs(root_), "", &clock_);
  const Jobs wanted = {"", "1234", "", "", "", ""};
  ASSERT_EQ(wait_for(maps, wanted), wanted);
  model::Snapshot snapshot = machine();
  snapshot.devices[0].processes[1].owner.job = "9.0";
  maps.add_to(snapshot);
  EXPECT_EQ(snapshot.devices[0].processes[1].owner.job, "9.0");
}

TEST(JobMapParsers, TakeWhatIsAJobOnly) {
  EXPECT_EQ(parse_jobstats("12_3 1000\n"), (DeviceJobs{.ids = {"12_3"}, .uid = 1000}));
  for (const char* text : {"", "\n", "12", "12 x", "12 -1", "12 99999999999", "0 0", "1 2 3"}) {
    EXPECT_EQ(parse_jobstats(text), DeviceJobs{}) << text;
  }
  EXPECT_EQ(parse_job_list(" 7 \n\n7\n8"), (DeviceJobs{.ids = {"7", "8"}}));
  EXPECT_EQ(parse_job_list("\x1b[2J\n").ids, std::vector<std::string>{"[2J"});
  EXPECT_EQ(parse_job_list(std::string(5000, '\n')), DeviceJobs{});
}

}  // namespace
}  // namespace gpusight::attribute
