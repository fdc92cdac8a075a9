#include "sample/test_sampler.h"

namespace gpusight::sample {
namespace {

TEST_F(SamplerTest, PublishesEveryDeviceWithEveryMetricOrItsReason) {
  create();
  const auto s = tick();
  ASSERT_EQ(s->devices.size(), 2u);
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).number(), 40);
  EXPECT_EQ(value(s, 1, MetricId::kGpuTemperature).number(), 41);
  EXPECT_EQ(value(s, 0, MetricId::kGpuUp).number(), 1);
  EXPECT_EQ(value(s, 0, MetricId::kGpuXidErrors).number(), 0);  // starts at 0, before any event
  EXPECT_EQ(value(s, 0, MetricId::kGpuFanSpeed).reason(), Reason::kNotSupported);
  for (const catalog::MetricRow& row : catalog::metrics()) {
    if (row.scope == catalog::Scope::kDevice) value(s, 0, row.id);
  }
}

// FAULT-040
TEST_F(SamplerTest, OneBlockedCallMakesItsDeviceBusyAndHoldsUpNobody) {
  create();
  tick();
  machine_.block("GPU-1", true);
  machine_.with([&] { machine_.temperature["GPU-0"] = 50; });
  const auto s = tick(milliseconds(50));
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).number(), 50);
  EXPECT_EQ(s->devices[0].state, DeviceState::kActive);
  EXPECT_EQ(s->devices[1].state, DeviceState::kBusy);
  tick(milliseconds(20));
  const auto stale = tick(milliseconds(20));
  EXPECT_EQ(value(stale, 1, MetricId::kGpuTemperature).presence(), model::Presence::kStale);
  EXPECT_EQ(value(stale, 1, MetricId::kGpuTemperature).reason(), Reason::kBusy);
  EXPECT_EQ(value(stale, 1, MetricId::kGpuTemperature).number(), 41);
  clock_.advance(seconds(10));
  const auto gone = tick(milliseconds(20));
  EXPECT_TRUE(value(gone, 1, MetricId::kGpuTemperature).is_absent());
  EXPECT_EQ(value(gone, 1, MetricId::kGpuTemperature).reason(), Reason::kBusy);
  EXPECT_EQ(value(gone, 0, MetricId::kGpuTemperature).number(), 50);
  machine_.block("GPU-1", false);
  wait_until([&] { return tick()->devices[1].state == DeviceState::kActive; });
}

// FAULT-054
TEST_F(SamplerTest, StopDoesNotWaitForAStuckCall) {
  create();
  machine_.block("GPU-1", true);
  tick(milliseconds(20));
  EXPECT_FALSE(sampler_->stop(milliseconds(50)));
}

// FAULT-054
TEST_F(SamplerTest, StopDoesNotWaitForADriverThatHangsInClosing) {
  machine_.has_lanes = false;  // so that the control thread is the one that closes
  machine_.closing_hangs = true;
  create();
  auto stopped = std::async(std::launch::async, [&] { return sampler_->stop(milliseconds(50)); });
  const bool in_time = stopped.wait_for(seconds(5)) == std::future_status::ready;
  machine_.with([&] { machine_.closing_hangs = false; });
  machine_.changed.notify_all();
  EXPECT_TRUE(in_time);
  EXPECT_FALSE(stopped.get() && in_time);
}

// FAULT-038, FAULT-039
TEST_F(SamplerTest, ALostDeviceStaysListedAndComesBackAfterReopening) {
  create();
  tick();
  machine_.with([&] { machine_.verdict["GPU-1"] = collect::Verdict::kDeviceLost; });
  auto s = tick();
  EXPECT_EQ(s->devices[1].state, DeviceState::kLost);
  EXPECT_EQ(value(s, 1, MetricId::kGpuUp).number(), 0);
  EXPECT_EQ(value(s, 1, MetricId::kGpuTemperature).reason(), Reason::kLost);
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).number(), 40);
  EXPECT_EQ(count_events(EventKind::kDeviceLost), 1u);
  const int polls = machine_.with([&] { return machine_.polls["fake/GPU-1/fast"]; });
  tick();
  EXPECT_EQ(machine_.with([&] { return machine_.polls["fake/GPU-1/fast"]; }), polls);
  machine_.with([&] { machine_.verdict.clear(); });
  wait_until([&] { return tick()->devices[1].state == DeviceState::kActive; });
  EXPECT_EQ(count_events(EventKind::kDeviceLost), 1u);
  EXPECT_EQ(count_events(EventKind::kDeviceBack), 1u);
  EXPECT_GE(machine_.with([&] { return machine_.opened; }), 2);
}

// FAULT-042, FAULT-043
TEST_F(SamplerTest, ADeadGenerationIsClosedAndOpenedAgain) {
  create();
  tick();
  machine_.with([&] {
    machine_.verdict["GPU-0"] = collect::Verdict::kGenerationLost;
    machine_.verdict["GPU-1"] = collect::Verdict::kGenerationLost;
  });
  tick();
  machine_.with([&] { machine_.verdict.clear(); });
  wait_until([&] {
    tick();
    return machine_.with([&] { return machine_.opened; }) >= 2;
  });
  EXPECT_EQ(machine_.with([&] { return machine_.closed; }), 1);
  wait_until([&] { return value(tick(), 0, MetricId::kGpuTemperature).is_fresh(); });
  EXPECT_GE(count_events(EventKind::kDriverReload), 1u);
}

TEST_F(SamplerTest, ReopeningWaitsForAStuckLaneAndSaysSoWhileOthersGoOn) {
  create();
  tick();
  machine_.block("GPU-1", true);
  tick(milliseconds(20));
  machine_.with([&] { machine_.verdict["GPU-0"] = collect::Verdict::kGenerationLost; });
  tick(milliseconds(20));
  wait_until([&] { return tick(milliseconds(5))->sources[0].phase == model::SourcePhase::kStuck; });
  EXPECT_EQ(machine_.with([&] { return machine_.closed; }), 0);
  const int polls = machine_.with([&] { return machine_.polls["fake/GPU-0/fast"]; });
  wait_until([&] {
    tick(milliseconds(5));
    return machine_.with([&] { return machine_.polls["fake/GPU-0/fast"]; }) > polls;
  });
  machine_.with([&] { machine_.verdict.clear(); });
  machine_.block("GPU-1", false);
  wait_until([&] {
    tick(milliseconds(5));
    return machine_.with([&] { return machine_.opened; }) >= 2;
  });
}

// FAULT-040
TEST_F(SamplerTest, ADriverThatHangsInClosingIsSaidToBeStuck) {
  create();
  tick();
  machine_.with([&] {
    machine_.closing_hangs = true;
    machine_.verdict["GPU-0"] = collect::Verdict::kGenerationLost;
  });
  wait_until([&] { return tick(milliseconds(5))->sources[0].phase == model::SourcePhase::kStuck; });
  machine_.with([&] {
    machine_.closing_hangs = false;
    machine_.verdict.clear();
  });
  machine_.changed.notify_all();
  wait_until(
      [&] { return tick(milliseconds(5))->sources[0].phase == model::SourcePhase::kRunning; });
}

// FAULT-042
TEST_F(SamplerTest, ADriverReloadIsNotHeldUpByThePauseAfterALostDevice) {
  create();
  tick();
  machine_.with([&] { machine_.verdict["GPU-1"] = collect::Verdict::kDeviceLost; });
  tick();
  for (int i = 0; i < 2; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    tick();
  }
  machine_.with([&] { machine_.verdict["GPU-0"] = collect::Verdict::kGenerationLost; });
  // Three seconds in small steps: less than the rest of the pause.
  const auto opened = [&] { return machine_.with([&] { return machine_.opened; }); };
  for (int i = 0; i < 60 && opened() < 2; ++i) {
    clock_.advance(milliseconds(50));
    sampler_->tick(milliseconds(5));
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(opened(), 2);
}

// FAULT-039
TEST_F(SamplerTest, AnExpectedDeviceThatIsNotFoundIsListedAsLost) {
  create(seconds(1), {{.uuid = "GPU-9", .name = "nine", .index = 9}});
  const auto s = tick();
  ASSERT_EQ(s->devices.size(), 3u);
  EXPECT_EQ(s->devices[2].state, DeviceState::kLost);
  EXPECT_EQ(value(s, 2, MetricId::kGpuUp).number(), 0);
  EXPECT_EQ(count_events(EventKind::kDeviceLost), 1u);
}

TEST_F(SamplerTest, AnExpectedDeviceThatIsThereIsNoEvent) {
  create(seconds(1), {{.uuid = "GPU-0", .name = "zero", .pci = "0000:01:00.0", .index = 0}});
  EXPECT_EQ(tick()->devices[0].state, DeviceState::kActive);
  EXPECT_EQ(count_events(EventKind::kDeviceBack), 0u);
  EXPECT_EQ(count_events(EventKind::kDeviceLost), 0u);
}

// FAULT-079
TEST_F(SamplerTest, ASleepingDeviceIsListedAsleepUnderItsKnownIdentity) {
  create();
  tick();
  machine_.with([&] {
    machine_.untouched = {
        {{.uuid = "PCI-0000:01:00.0", .pci = "0000:01:00.0"}, DeviceState::kAsleep},
        {{.uuid = "PCI-0000:02:00.0", .pci = "0000:02:00.0"}, DeviceState::kAsleep}};
    machine_.wish = collect::Wish::kClose;
  });
  wait_until([&] {
    tick();
    return machine_.with([&] { return machine_.closed; }) == 1;
  });
  const auto s = tick();
  ASSERT_EQ(s->devices.size(), 2u);
  EXPECT_EQ(s->devices[0].device->uuid, "GPU-0");
  EXPECT_EQ(s->devices[0].state, DeviceState::kAsleep);
  EXPECT_EQ(value(s, 0, MetricId::kGpuAsleep).number(), 1);
  EXPECT_EQ(value(s, 0, MetricId::kGpuUp).number(), 1);
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).reason(), Reason::kAsleep);
}

// FAULT-012
TEST_F(SamplerTest, XidEventsAreCountedPerDevice) {
  create();
  tick();
  machine_.with([&] {
    machine_.events = {{.kind = EventKind::kXid, .uuid = "GPU-1", .code = 31},
                       {.kind = EventKind::kXid, .uuid = "GPU-1", .code = 31}};
  });
  tick();
  const auto s = tick();
  EXPECT_EQ(value(s, 0, MetricId::kGpuXidErrors).number(), 0);
  EXPECT_EQ(value(s, 1, MetricId::kGpuXidErrors).number(), 2);
  EXPECT_EQ(events_.find({.kind = EventKind::kXid}).size(), 2u);
}

// FAULT-006, FAULT-093
TEST_F(SamplerTest, ProcessesAreSortedByMemoryUnknownLastAndLeaveWhenTheyEnd) {
  create();
  const auto bytes = [&](double n) { return model::Value::fresh(n, clock_.mono(), {}, 1); };
  machine_.with([&] {
    machine_.processes = {{.pid = 1, .memory_bytes = model::Value::absent(Reason::kNotSupported)},
                          {.pid = 2, .memory_bytes = bytes(10)},
                          {.pid = 3, .memory_bytes = bytes(20)}};
  });
  const auto s = tick();
  ASSERT_EQ(s->devices[0].processes.size(), 3u);
  EXPECT_EQ(s->devices[0].processes[0].pid, 3);
  EXPECT_EQ(s->devices[0].processes[2].pid, 1);
  EXPECT_EQ(count_events(EventKind::kProcessStart), 0u);  // they were there before us
  machine_.with([&] { machine_.processes = {{.pid = 3, .memory_bytes = bytes(20)}}; });
  EXPECT_EQ(tick()->devices[0].processes.size(), 1u);
  EXPECT_EQ(count_events(EventKind::kProcessExit), 4u);  // two processes on each of two devices
}

TEST_F(SamplerTest, WhoseProcessCameOrWentIsKnownToItsEvent) {
  create();
  machine_.with([&] { machine_.processes = {{.pid = 1}}; });
  tick();
  machine_.with([&] { machine_.processes = {{.pid = 2}}; });
  tick();
  const auto has_uid = [&](EventKind kind, const char* uid) {
    const auto events = events_.find({.kind = kind, .uuid = "GPU-0"});
    ASSERT_EQ(events.size(), 1u);
    const std::pair<std::string, std::string> field{"uid", uid};
    EXPECT_NE(std::ranges::find(events[0].fields, field), events[0].fields.end());
  };
  has_uid(EventKind::kProcessExit, "1001");
  has_uid(EventKind::kProcessStart, "1002");
}

TEST_F(SamplerTest, AWallClockThatIsSetIsAnEventAndChangesNoAge) {
  create();
  tick();
  clock_.set_wall(clock_.wall() - std::chrono::hours(1));
  const auto s = tick();
  EXPECT_TRUE(value(s, 0, MetricId::kGpuTemperature).is_fresh());
  ASSERT_EQ(count_events(EventKind::kClockJump), 1u);
  EXPECT_EQ(events_.find({.kind = EventKind::kClockJump})[0].arguments[0], "-3600");
}

TEST_F(SamplerTest, SlowLanesArePolledEveryTenSecondsAndStayFreshBetween) {
  create();
  tick();
  tick();
  wait_until([&] { return value(tick(), 0, MetricId::kGpuPowerLimit).is_fresh(); });
  for (int i = 0; i < 30; ++i) tick();
  const int polls = machine_.with([&] { return machine_.polls["fake/GPU-0/slow"]; });
  EXPECT_GE(polls, 3);
  EXPECT_LE(polls, 6);
}

TEST_F(SamplerTest, ReadOnceWaitsForEverySourceAndEveryLane) {
  machine_.starting_takes = milliseconds(50);
  Sampler::Options options{.clock = &clock_, .hub = &hub_};
  options.sources.push_back(std::make_unique<FakeSource>(machine_));
  sampler_ = std::make_unique<Sampler>(std::move(options));
  std::jthread time([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      clock_.advance(milliseconds(1));
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  const auto s = sampler_->read_once({}, seconds(30));
  ASSERT_EQ(s->devices.size(), 2u);
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).number(), 40);
  EXPECT_EQ(value(s, 0, MetricId::kGpuPowerLimit).number(), 700);
}

}  // namespace
}  // namespace gpusight::sample
