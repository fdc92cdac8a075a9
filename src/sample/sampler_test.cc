#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>

namespace gpusight::sample {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using model::DeviceState;
using model::Reason;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A machine that a test controls: what its lanes say, and whether a call comes back.
struct FakeMachine {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<model::Device> devices;
  std::vector<std::pair<model::Device, DeviceState>> untouched;
  std::map<std::string, double> temperature;
  std::map<std::string, collect::Verdict> verdict;
  std::map<std::string, bool> blocked;
  std::map<std::string, int> polls;
  std::vector<model::Process> processes;
  std::vector<model::Event> events;
  collect::Wish wish = collect::Wish::kStay;
  collect::Activity activity;
  int opened = 0;
  int closed = 0;
  bool has_lanes = true;
  bool closing_hangs = false;
  Duration starting_takes{};

  void block(const std::string& uuid, bool on) {
    {
      std::lock_guard lock(mutex);
      blocked[uuid] = on;
    }
    changed.notify_all();
  }
  template <typename F>
  auto with(F f) {
    std::lock_guard lock(mutex);
    return f();
  }
};

class FakeLane final : public collect::Lane {
 public:
  FakeLane(FakeMachine& machine, std::string uuid, collect::LaneCadence cadence)
      : machine_(machine), uuid_(std::move(uuid)) {
    const char* speed = cadence == collect::LaneCadence::kFast ? "/fast" : "/slow";
    info_ = {.name = "fake/" + uuid_ + speed, .cadence = cadence, .uuids = {uuid_}};
  }
  const collect::LaneInfo& info() const override { return info_; }
  collect::Verdict poll(collect::Report& report) override {
    std::unique_lock lock(machine_.mutex);
    machine_.changed.wait(lock, [&] { return !machine_.blocked[uuid_]; });
    ++machine_.polls[info_.name];
    report.about(uuid_);
    const auto verdict = machine_.verdict.find(uuid_);
    if (verdict != machine_.verdict.end()) {
      report.state(DeviceState::kLost);
      return verdict->second;
    }
    if (info_.cadence == collect::LaneCadence::kSlow) {
      report.set(MetricId::kGpuPowerLimit, 700);
      return collect::Verdict::kGood;
    }
    report.set(MetricId::kGpuTemperature, machine_.temperature[uuid_]);
    report.count_call(milliseconds(1));
    report.processes(machine_.processes);
    for (model::Event& event : machine_.events) report.event(event);
    machine_.events.clear();
    return collect::Verdict::kGood;
  }

 private:
  FakeMachine& machine_;
  std::string uuid_;
  collect::LaneInfo info_;
};

class FakeGeneration final : public collect::Generation {
 public:
  explicit FakeGeneration(FakeMachine& machine) : machine_(machine), devices_(machine.devices) {
    for (const model::Device& device : devices_) {
      if (!machine.has_lanes) continue;
      for (const auto cadence : {collect::LaneCadence::kFast, collect::LaneCadence::kSlow}) {
        lanes_.push_back(std::make_unique<FakeLane>(machine, device.uuid, cadence));
      }
    }
  }
  ~FakeGeneration() override {
    std::unique_lock lock(machine_.mutex);
    machine_.changed.wait(lock, [&] { return !machine_.closing_hangs; });
    ++machine_.closed;
  }
  std::span<const model::Device> devices() const override { return devices_; }
  std::span<const std::unique_ptr<collect::Lane>> lanes() const override {
    std::this_thread::sleep_for(machine_.with([&] { return machine_.starting_takes; }));
    return lanes_;
  }

 private:
  FakeMachine& machine_;
  std::vector<model::Device> devices_;
  std::vector<std::unique_ptr<collect::Lane>> lanes_;
};

constexpr MetricId kDeclared[] = {MetricId::kGpuTemperature, MetricId::kGpuPowerLimit,
                                  MetricId::kGpuXidErrors};

class FakeSource final : public collect::Source {
 public:
  explicit FakeSource(FakeMachine& machine) : machine_(machine) {}
  std::string_view name() const override { return "fake"; }
  std::span<const MetricId> declares() const override { return kDeclared; }
  collect::Opened open() override {
    std::lock_guard lock(machine_.mutex);
    ++machine_.opened;
    machine_.wish = collect::Wish::kStay;
    collect::Opened opened{.status = {.name = "fake",
                                      .phase = model::SourcePhase::kRunning,
                                      .message = catalog::MessageId::kSourceRunning,
                                      .arguments = {"1", "1.0"}},
                           .untouched = machine_.untouched};
    if (!machine_.devices.empty()) opened.generation = std::make_unique<FakeGeneration>(machine_);
    return opened;
  }
  collect::Wish watch(const collect::Activity& activity) override {
    return machine_.with([&] {
      machine_.activity = activity;
      return machine_.wish;
    });
  }
  std::vector<std::pair<model::Device, DeviceState>> untouched() const override {
    return machine_.with([&] { return machine_.untouched; });
  }

 private:
  FakeMachine& machine_;
};

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    machine_.devices = {{.uuid = "GPU-0", .name = "zero", .pci = "0000:01:00.0", .index = 0},
                        {.uuid = "GPU-1", .name = "one", .pci = "0000:02:00.0", .index = 1}};
    machine_.temperature = {{"GPU-0", 40}, {"GPU-1", 41}};
  }

  void create(Duration interval = seconds(1), std::vector<model::Device> expected = {}) {
    Sampler::Options options{.clock = &clock_,
                             .interval = interval,
                             .host_name = "box",
                             .hub = &hub_,
                             .events = &events_,
                             .expected = std::move(expected),
                             .resolve_owners = [](std::span<const std::span<model::Process>> all) {
                               for (const auto& list : all) {
                                 for (model::Process& process : list) {
                                   process.owner.uid = 1000 + static_cast<uint32_t>(process.pid);
                                 }
                               }
                             }};
    options.sources.push_back(std::make_unique<FakeSource>(machine_));
    sampler_ = std::make_unique<Sampler>(std::move(options));
    sampler_->open_sources();
    wait_until([&] { return sampler_->are_sources_opened(); });
  }

  void TearDown() override {
    for (const char* uuid : {"GPU-0", "GPU-1"}) machine_.block(uuid, false);
    if (sampler_) {
      EXPECT_TRUE(sampler_->stop(seconds(10)));
    }
  }

  // Bounded waiting in real time for another thread; far above what it takes.
  template <typename F>
  void wait_until(F holds) {
    for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(milliseconds(5));
    ASSERT_TRUE(holds());
  }

  model::SnapshotPtr tick(Duration patience = seconds(5)) {
    clock_.advance(seconds(1));
    sampler_->tick(patience);
    return hub_.latest();
  }

  static const model::Value& value(const model::SnapshotPtr& s, size_t device, MetricId metric) {
    const model::Value* found = model::find_sample(s->devices.at(device).samples, metric);
    static const model::Value kNone;
    EXPECT_NE(found, nullptr) << catalog::metric(metric).name;
    return found == nullptr ? kNone : *found;
  }

  size_t count_events(EventKind kind) { return events_.find({.kind = kind}).size(); }

  FakeClock clock_;
  FakeMachine machine_;
  SnapshotHub hub_;
  store::EventLog events_;
  std::unique_ptr<Sampler> sampler_;
};

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
