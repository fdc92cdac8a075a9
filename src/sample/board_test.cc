#include "sample/board.h"

#include <gtest/gtest.h>

namespace gpusight::sample {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using collect::Verdict;
using model::DeviceState;
using model::Reason;
using std::chrono::seconds;

constexpr MetricId kDeclared[] = {MetricId::kGpuTemperature, MetricId::kGpuXidErrors};

// A board with one source, fed by hand.
class BoardTest : public testing::Test {
 protected:
  BoardTest() : board_({.interval = seconds(1)}) { board_.add_source(0, "nvml", kDeclared); }

  Now now() const { return {clock_.mono(), clock_.wall()}; }

  void open(std::vector<model::Device> devices,
            std::vector<std::pair<model::Device, DeviceState>> untouched = {}) {
    board_.apply_news(0,
                      {.status = {.name = "nvml", .phase = model::SourcePhase::kRunning},
                       .generation = ++generation_,
                       .opened = true,
                       .devices = std::move(devices),
                       .untouched = std::move(untouched)},
                      now());
  }

  // What a lane says; `fill` sets the readings.
  template <typename Fill>
  void answer(const std::string& lane, Fill fill, Verdict verdict = Verdict::kGood) {
    LaneResult result{.source = 0,
                      .generation = generation_,
                      .lane = lane,
                      .report = collect::Report(clock_, 1),
                      .verdict = verdict};
    fill(result.report);
    board_.apply_result(std::move(result), now());
  }
  void lists(std::vector<model::Process> processes) {
    clock_.advance(seconds(1));
    answer("fast", [&](collect::Report& report) {
      report.about("GPU-0");
      report.processes(std::move(processes));
    });
  }
  void loses() {
    answer(
        "fast",
        [](collect::Report& report) {
          report.about("GPU-0");
          report.state(DeviceState::kLost);
          report.processes_absent(Reason::kLost);
        },
        Verdict::kDeviceLost);
  }

  // "process_start 5 process_exit 7", of what happened since the last call.
  std::string happened() {
    std::string text;
    for (const model::Event& event : board_.take_events()) {
      if (!text.empty()) text += ' ';
      text += catalog::event_kind(event.kind).key;
      if (event.code != 0) text += " " + std::to_string(event.code);
    }
    return text;
  }
  model::Snapshot build() { return board_.build(now(), {}, false); }

  FakeClock clock_;
  Board board_;
  uint64_t generation_ = 0;
  const model::Device gpu_{.uuid = "GPU-0", .name = "zero", .driver = "1.0", .index = 0};
};

// FAULT-093
TEST_F(BoardTest, AProcessThatIsGoneWhileTheDriverStillListsItLeavesOnce) {
  open({gpu_});
  lists({{.pid = 5, .start_ticks = 100}});
  lists({{.pid = 5, .start_ticks = 0}});  // nothing in /proc any more
  EXPECT_EQ(happened(), "");
  lists({});
  EXPECT_EQ(happened(), "process_exit 5");
}

TEST_F(BoardTest, AProcessWhoseStartBecomesKnownIsTheSame) {
  open({gpu_});
  lists({{.pid = 5, .start_ticks = 0}});
  lists({{.pid = 5, .start_ticks = 100}});
  EXPECT_EQ(happened(), "");
}

// FAULT-093
TEST_F(BoardTest, APidUsedAgainIsAnotherProcess) {
  open({gpu_});
  lists({{.pid = 5, .start_ticks = 100}});
  lists({{.pid = 5, .start_ticks = 200}});
  EXPECT_EQ(happened(), "process_start 5 process_exit 5");
}

TEST_F(BoardTest, AProcessOnTwoInstancesLeavesTheGpuWhenItHasLeftBoth) {
  open({gpu_});
  lists({{.pid = 5, .start_ticks = 100, .gpu_instance = 1},
         {.pid = 5, .start_ticks = 100, .gpu_instance = 2}});
  lists({{.pid = 5, .start_ticks = 100, .gpu_instance = 2}});
  EXPECT_EQ(happened(), "");
  lists({});
  EXPECT_EQ(happened(), "process_exit 5");
}

TEST_F(BoardTest, WhenAListReturnsOnlyWhatChangedMeanwhileIsNews) {
  open({gpu_});
  lists({{.pid = 5, .start_ticks = 100}, {.pid = 6, .start_ticks = 101}});
  answer("fast", [](collect::Report& report) {
    report.about("GPU-0");
    report.processes_absent(Reason::kDriverError);
  });
  EXPECT_FALSE(build().devices[0].processes_known);
  lists({{.pid = 6, .start_ticks = 101}, {.pid = 7, .start_ticks = 300}});
  EXPECT_EQ(happened(), "process_start 7 process_exit 5");
}

// FAULT-038
TEST_F(BoardTest, ALateAnswerOfAnotherLaneDoesNotBringALostDeviceBack) {
  open({gpu_});
  loses();
  answer("slow", [](collect::Report& report) {
    report.about("GPU-0");
    report.set(MetricId::kGpuTemperature, 40);
  });
  EXPECT_EQ(build().devices[0].state, DeviceState::kLost);
  EXPECT_EQ(happened(), "device_lost");
  open({gpu_});
  EXPECT_EQ(build().devices[0].state, DeviceState::kActive);
  EXPECT_EQ(happened(), "device_back");  // and nobody reloaded a driver
}

// FAULT-042
TEST_F(BoardTest, ADriverReloadIsToldOnceItsDevicesAreBack) {
  open({gpu_});
  answer(
      "fast", [](collect::Report&) {}, Verdict::kGenerationLost);
  open({});
  EXPECT_EQ(happened(), "device_lost");
  open({gpu_});
  EXPECT_EQ(happened(), "driver_reload device_back");
  open({gpu_});
  EXPECT_EQ(happened(), "");
}

// FAULT-015
TEST_F(BoardTest, AChangeOfMigIsToldOnceHoweverManySeeIt) {
  std::vector<model::Device> devices{gpu_};
  for (const char* uuid : {"MIG-1", "MIG-2", "MIG-3"}) {
    devices.push_back({.uuid = uuid, .kind = model::DeviceKind::kMig, .parent = "GPU-0"});
  }
  open(devices);
  for (const char* lane : {"events", "slow"}) {
    answer(
        lane,
        [](collect::Report& report) {
          report.event({.kind = EventKind::kMigChange, .uuid = "GPU-0"});
        },
        Verdict::kGenerationLost);
  }
  devices.resize(2);
  open(devices);
  EXPECT_EQ(happened(), "mig_change");
  EXPECT_EQ(build().devices.size(), 2u);
  open({gpu_});  // divided anew between two looks: nobody else says so
  EXPECT_EQ(happened(), "mig_change");
}

// FAULT-015
TEST_F(BoardTest, AnExpectedInstanceOfAGpuThatIsNoLongerDividedIsNotMissed) {
  board_.expect({gpu_, {.uuid = "MIG-1", .kind = model::DeviceKind::kMig, .parent = "GPU-0"}},
                now());
  open({gpu_});
  EXPECT_EQ(build().devices.size(), 1u);
  EXPECT_EQ(happened(), "");
}

// FAULT-015, FAULT-039
TEST_F(BoardTest, AnExpectedInstanceIsMissedWithItsGpu) {
  board_.expect({gpu_, {.uuid = "MIG-1", .kind = model::DeviceKind::kMig, .parent = "GPU-0"}},
                now());
  open({});
  EXPECT_EQ(build().devices.size(), 2u);
  EXPECT_EQ(happened(), "device_lost device_lost");
}

// FAULT-079
TEST_F(BoardTest, ADeviceThatIsFoundAsleepDidNotFallAsleep) {
  open({}, {{{.uuid = "PCI-0000:01:00.0", .pci = "0000:01:00.0"}, DeviceState::kAsleep}});
  EXPECT_EQ(build().devices[0].state, DeviceState::kAsleep);
  EXPECT_EQ(happened(), "");
}

TEST_F(BoardTest, WhatStoodForADeviceThatDidNotAnswerGivesWayToIt) {
  open({}, {{{.uuid = "NVML-INDEX-0", .index = 0}, DeviceState::kLost}});
  EXPECT_EQ(build().devices.size(), 1u);
  open({gpu_});
  const model::Snapshot snapshot = build();
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].device->uuid, "GPU-0");
}

TEST_F(BoardTest, ADeviceKnownByItsPlaceOnlyIsMissedUnlessAnotherIsThere) {
  const model::Device placed{.uuid = "PCI-0000:04:00.0", .pci = "0000:04:00.0"};
  open({gpu_, placed});
  EXPECT_EQ(happened(), "");
  open({gpu_});
  EXPECT_EQ(build().devices.size(), 2u);
  EXPECT_EQ(happened(), "device_lost");
  open({gpu_, {.uuid = "GPU-4", .pci = placed.pci}});
  const model::Snapshot snapshot = build();
  ASSERT_EQ(snapshot.devices.size(), 2u);
  EXPECT_EQ(snapshot.devices[1].device->uuid, "GPU-4");
}

model::Event xid(int64_t code) { return {.kind = EventKind::kXid, .uuid = "GPU-0", .code = code}; }

// FAULT-012, FAULT-011
TEST_F(BoardTest, XidsAreCountedFromZeroAndByTheirNumber) {
  open({gpu_});
  answer("fast", [](collect::Report& report) { report.about("GPU-0"); });
  const auto number = [this](MetricId metric, const std::string& label = {}) {
    const model::Snapshot snapshot = build();
    const model::Value* value = model::find_sample(snapshot.devices[0].samples, metric, label);
    return value == nullptr ? std::nullopt : value->fresh_number();
  };
  EXPECT_EQ(number(MetricId::kGpuXidErrors), 0);
  EXPECT_EQ(number(MetricId::kGpuXidLast), 0);
  EXPECT_EQ(number(MetricId::kGpuXidCodeErrors, "31"), std::nullopt);
  for (const int64_t code : {31, 79, 31}) {
    clock_.advance(seconds(1));
    answer("events", [&](collect::Report& report) { report.event(xid(code)); });
  }
  EXPECT_EQ(number(MetricId::kGpuXidErrors), 3);
  EXPECT_EQ(number(MetricId::kGpuXidCodeErrors, "31"), 2);
  EXPECT_EQ(number(MetricId::kGpuXidCodeErrors, "79"), 1);
  EXPECT_EQ(number(MetricId::kGpuXidLast), 31);
  EXPECT_EQ(number(MetricId::kGpuXidLastTime, "31"),
            static_cast<double>(unix_milliseconds(clock_.wall())) / 1000);
}

TEST_F(BoardTest, AtShortTicksWhatIsReadOnceASecondIsFresh) {
  Board board({.interval = std::chrono::milliseconds(100)});
  board.add_source(0, "nvml", kDeclared);
  board.apply_news(0,
                   {.status = {.name = "nvml", .phase = model::SourcePhase::kRunning},
                    .generation = 1,
                    .opened = true,
                    .devices = {gpu_}},
                   now());
  LaneResult result{
      .source = 0, .generation = 1, .lane = "fast", .report = collect::Report(clock_, 1)};
  result.report.about("GPU-0");
  result.report.set(MetricId::kGpuTemperature, 40);
  board.apply_result(std::move(result), now());
  const auto is_fresh = [&] {
    const model::Snapshot snapshot = board.build(now(), {}, false);
    return model::find_sample(snapshot.devices[0].samples, MetricId::kGpuTemperature)->is_fresh();
  };
  clock_.advance(std::chrono::milliseconds(1100));
  EXPECT_TRUE(is_fresh());
  clock_.advance(std::chrono::milliseconds(500));
  EXPECT_FALSE(is_fresh());
}

TEST_F(BoardTest, TheTopologyIsWhatTheLanesOfTheOpenGenerationTell) {
  const auto tell = [&](const std::string& lane, const std::vector<model::Path>& paths) {
    answer(lane, [&](collect::Report& report) { report.topology({.paths = paths}); });
  };
  open({gpu_});
  EXPECT_EQ(build().topology, nullptr);
  const model::Path unknown{.from_uuid = "GPU-0", .to_uuid = "GPU-1"};
  const model::Path link{"GPU-0", "GPU-1", model::PathKind::kNvLink, 4};
  const model::Path card{"GPU-1", "nic:mlx5_0", model::PathKind::kOneSwitch, 0};
  tell("nvml/GPU-0/slow", {unknown});
  tell("nvml/GPU-1/slow", {card});
  EXPECT_EQ(build().topology->paths, (std::vector{unknown, card}));
  tell("nvml/GPU-0/slow", {link});  // the last word counts
  EXPECT_EQ(build().topology->paths, (std::vector{link, card}));
  EXPECT_EQ(build().topology, build().topology);  // for as long as nobody says otherwise
  open({gpu_});
  EXPECT_EQ(build().topology, nullptr);
}

// FAULT-012
TEST_F(BoardTest, AStormOfEventsIsCountedInFullAndToldInPart) {
  const auto errors_after = [&](int times) {
    answer("nvml/events", [&](collect::Report& report) {
      for (int i = 0; i < times; ++i) {
        report.event({.kind = EventKind::kXid, .uuid = "GPU-0", .code = 31});
      }
    });
    const model::Snapshot snapshot = build();
    return model::find_sample(snapshot.devices[0].samples, MetricId::kGpuXidErrors)->number();
  };
  open({gpu_});
  board_.take_events();
  EXPECT_EQ(errors_after(5000), 5000);
  EXPECT_EQ(board_.take_events().size(), EventLimit::kMost);
  clock_.advance(EventLimit::kPeriod);
  EXPECT_EQ(build().devices.size(), 1u);
  const auto events = board_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kEventsLeftOut);
  EXPECT_EQ(events[0].arguments, (std::vector<std::string>{"4900", "xid"}));
  EXPECT_EQ(errors_after(1), 5001);
  EXPECT_EQ(board_.take_events().size(), 1u);
}

}  // namespace
}  // namespace gpusight::sample
