// A machine that a test controls, and a Sampler over it: what its lanes say, whether a call comes
// back.
#pragma once

#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>

namespace gpusight::sample {

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

inline constexpr MetricId kDeclared[] = {MetricId::kGpuUp, MetricId::kGpuTemperature,
                                         MetricId::kGpuPowerLimit, MetricId::kGpuXidErrors};

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

  void create(Duration interval = seconds(1), std::vector<model::Device> expected = {},
              const catalog::MetricSet& disabled = {}) {
    Sampler::Options options{.clock = &clock_,
                             .interval = interval,
                             .host_name = "box",
                             .hub = &hub_,
                             .events = &events_,
                             .expected = std::move(expected),
                             .disabled = disabled,
                             .complete = [](model::Snapshot& snapshot) {
                               for (model::DeviceSnapshot& device : snapshot.devices) {
                                 for (model::Process& process : device.processes) {
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

}  // namespace gpusight::sample
