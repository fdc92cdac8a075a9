#include "attribute/framework_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::attribute {
namespace {

using model::FrameworkUse;
using std::chrono::seconds;
using testing::HasSubstr;

class FrameworkNotesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "framework_notes." + std::to_string(::getpid());
    add_process(100, 5);
    for (const char* uuid : {"GPU-AAAA-1", "GPU-bbbb-2"}) {
      model::DeviceSnapshot& device = snapshot_.devices.emplace_back();
      device.device = std::make_shared<model::Device>(
          model::Device{.uuid = uuid, .pci = uuid[4] == 'A' ? "0000:19:00.0" : "0000:3b:00.0"});
    }
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void add_process(int64_t pid, uint64_t start_ticks) {
    const std::string folder = root_ + "/proc/" + std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/stat")
        << pid << " (x) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " << start_ticks << " 0 0\n";
  }
  void uses(size_t device, int64_t pid, uint64_t start_ticks = 5) {
    snapshot_.devices[device].processes.push_back({.pid = pid, .start_ticks = start_ticks});
  }
  Status tell(std::string_view lines, int64_t pid = 100, uint32_t uid = 1000) {
    return notes_.take({.uid = uid, .pid = pid}, lines);
  }
  // Of the first process of the device, as the next tick shows it.
  std::optional<FrameworkUse> shown(size_t device) {
    for (model::DeviceSnapshot& each : snapshot_.devices) {
      for (model::Process& process : each.processes) process.framework.reset();
    }
    notes_.add_to(snapshot_);
    return snapshot_.devices[device].processes.at(0).framework;
  }

  FakeClock clock_;
  std::string root_;
  FrameworkNotes notes_{
      platform::RootFs(testing::TempDir() + "framework_notes." + std::to_string(::getpid())),
      &clock_};
  model::Snapshot snapshot_;
};

TEST_F(FrameworkNotesTest, WhatIsToldOfADeviceStandsOnItsRowAndOnNoOther) {
  uses(0, 100);
  uses(1, 100);
  ASSERT_TRUE(tell("{\"framework\":\"pytorch\",\"device\":\"gpu-aaaa-1\",\"allocated_bytes\":6e9,"
                   "\"reserved_bytes\":2e10,\"out_of_memory_total\":3}\n"
                   "{\"step_seconds\":0.25,\"tokens_per_second\":4000,\"data_wait_ratio\":0.5}\n")
                  .ok());
  EXPECT_EQ(shown(0), (FrameworkUse{.framework = "pytorch",
                                    .allocated_bytes = 6e9,
                                    .reserved_bytes = 2e10,
                                    .out_of_memory_total = 3,
                                    .step_seconds = 0.25,
                                    .tokens_per_second = 4000,
                                    .data_wait_ratio = 0.5}));
  EXPECT_EQ(
      shown(1),
      (FrameworkUse{.step_seconds = 0.25, .tokens_per_second = 4000, .data_wait_ratio = 0.5}));
}

TEST_F(FrameworkNotesTest, ADeviceIsNamedByUuidOrPciAddressAsCudaWritesThem) {
  uses(0, 100);
  for (const char* name : {"GPU-AAAA-1", "aaaa-1", "0000:19:00.0", "00000000:19:00.0"}) {
    FrameworkNotes notes{platform::RootFs(root_), &clock_};
    const std::string line = std::string("{\"device\":\"") + name + "\",\"limit_bytes\":1}";
    ASSERT_TRUE(notes.take({.uid = 1, .pid = 100}, line).ok());
    notes.add_to(snapshot_);
    EXPECT_TRUE(snapshot_.devices[0].processes[0].framework) << name;
    snapshot_.devices[0].processes[0].framework.reset();
  }
}

TEST_F(FrameworkNotesTest, MemoryWithoutADeviceCountsWhereThereIsOneOnly) {
  ASSERT_TRUE(tell("{\"framework\":\"jax\",\"allocated_bytes\":5}").ok());
  uses(0, 100);
  EXPECT_EQ(shown(0)->allocated_bytes, 5);
  uses(1, 100);
  EXPECT_EQ(shown(0)->allocated_bytes, std::nullopt);
  EXPECT_EQ(shown(1)->framework, "jax");
}

TEST_F(FrameworkNotesTest, ALaterLineTakesTheEarlierOnesPlace) {
  uses(0, 100);
  ASSERT_TRUE(tell("{\"step_seconds\":1,\"tokens_per_second\":2}").ok());
  ASSERT_TRUE(tell("{\"step_seconds\":3}").ok());
  EXPECT_EQ(shown(0), FrameworkUse{.step_seconds = 3});
}

TEST_F(FrameworkNotesTest, APidUsedAgainInheritsNothing) {
  ASSERT_TRUE(tell("{\"step_seconds\":1}").ok());
  uses(0, 100, 900);
  EXPECT_EQ(shown(0), std::nullopt);
  add_process(100, 900);
  ASSERT_TRUE(tell("{\"tokens_per_second\":2}").ok());
  EXPECT_EQ(shown(0), FrameworkUse{.tokens_per_second = 2});
}

TEST_F(FrameworkNotesTest, WhoFallsSilentIsForgotten) {
  uses(0, 100);
  ASSERT_TRUE(tell("{\"step_seconds\":1}").ok());
  clock_.advance(FrameworkNotes::kTrustedFor);
  EXPECT_TRUE(shown(0));
  clock_.advance(seconds(1));
  EXPECT_EQ(shown(0), std::nullopt);
}

TEST_F(FrameworkNotesTest, ABadLineIsNamedAndNothingOfTheMessageCounts) {
  uses(0, 100);
  const std::pair<const char*, const char*> cases[] = {
      {"{\"step_seconds\":1}\nnonsense", "line 2: not a JSON object"},
      {"[]", "line 1: not a JSON object"},
      {"{\"step_seconds\":-1}", "step_seconds is not a number from 0"},
      {"{\"step_seconds\":\"1\"}", "step_seconds is not a number"},
      {"{\"step_seconds\":1e999}", "line 1"},
      {"{\"data_wait_ratio\":1.01}", "data_wait_ratio is not a number from 0 to 1"},
      {"{\"allocated_bytes\":1e18}", "allocated_bytes is not a number from 0 to"},
      {"{\"framework\":7}", "framework is not a text"},
      {"{\"pid\":1,\"step_seconds\":1}", "a process speaks of itself only"},
      {"{\"colour\":1}", "unknown member colour"},
  };
  for (const auto& [line, message] : cases) {
    const Status taken = tell(line);
    EXPECT_EQ(taken.code(), Code::kInvalidArgument) << line;
    EXPECT_THAT(taken.message(), HasSubstr(message)) << line;
    EXPECT_EQ(shown(0), std::nullopt) << line;
  }
  EXPECT_FALSE(tell(std::string(FrameworkNotes::kMaxLineBytes + 1, ' ')).ok());
  EXPECT_FALSE(tell(std::string(FrameworkNotes::kMaxLines + 1, '\n')).ok());
}

// FAULT-130
TEST_F(FrameworkNotesTest, NamesAreCleaned) {
  uses(0, 100);
  ASSERT_TRUE(tell("{\"framework\":\"\\u001b[2Jx" + std::string(100, 'y') + "\"}").ok());
  EXPECT_EQ(shown(0)->framework.find('\x1b'), std::string::npos);
  EXPECT_LE(shown(0)->framework.size(), 32u);
}

TEST_F(FrameworkNotesTest, WhoIsNotToBeSeenIsNotHeard) {
  EXPECT_EQ(tell("{\"step_seconds\":1}", 4711).code(), Code::kNotFound);
  EXPECT_EQ(tell("{\"step_seconds\":1}", 0).code(), Code::kNotFound) << "of another PID namespace";
}

TEST_F(FrameworkNotesTest, AFloodIsRefusedAndHindersNoOtherUser) {
  uses(0, 100);
  for (int i = 0; i < static_cast<int>(FrameworkNotes::kBurst); ++i) {
    ASSERT_TRUE(tell("{\"step_seconds\":1}").ok());
  }
  EXPECT_EQ(tell("{\"step_seconds\":2}").code(), Code::kExhausted);
  EXPECT_EQ(shown(0)->step_seconds, 1);
  EXPECT_TRUE(tell("{\"step_seconds\":3}", 100, 1001).ok());
  clock_.advance(seconds(1));
  EXPECT_TRUE(tell("{\"step_seconds\":4}").ok());
}

TEST_F(FrameworkNotesTest, TheNumberOfTellersIsBoundedAndTheSilentMakeRoom) {
  for (size_t i = 0; i < FrameworkNotes::kMaxProcesses; ++i) {
    const auto pid = static_cast<int64_t>(1000 + i);
    add_process(pid, 5);
    ASSERT_TRUE(tell("{\"step_seconds\":1}", pid, static_cast<uint32_t>(i / 100)).ok());
  }
  EXPECT_EQ(tell("{\"step_seconds\":1}").code(), Code::kExhausted);
  clock_.advance(FrameworkNotes::kTrustedFor + seconds(1));
  EXPECT_TRUE(tell("{\"step_seconds\":1}").ok());
}

}  // namespace
}  // namespace gpusight::attribute
