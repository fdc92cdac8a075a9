// Devices that are let go of on purpose, and readings that are switched off.
#include "sample/test_sampler.h"

namespace gpusight::sample {
namespace {

// FAULT-101
TEST_F(SamplerTest, ReleasedDevicesAreClosedAndComeBackByThemselves) {
  create();
  tick();
  const WallTime until = sampler_->release(std::chrono::hours(1));
  wait_until([&] { return tick()->sources[0].phase == model::SourcePhase::kReleased; });
  EXPECT_EQ(machine_.with([&] { return machine_.closed; }), 1);
  const auto s = tick();
  ASSERT_EQ(s->devices.size(), 2u);
  EXPECT_EQ(s->devices[0].state, DeviceState::kReleased);
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).reason(), Reason::kDisabled);
  EXPECT_EQ(value(s, 0, MetricId::kGpuUp).reason(), Reason::kDisabled);  // nobody knows
  EXPECT_EQ(s->sources[0].phase, model::SourcePhase::kReleased);
  EXPECT_EQ(s->sources[0].arguments, std::vector<std::string>{utc_text(until)});
  EXPECT_EQ(model::find_sample(s->self, MetricId::kSelfReleased, "fake")->number(), 1);
  EXPECT_EQ(count_events(EventKind::kDeviceReleased), 2u);
  EXPECT_EQ(machine_.with([&] { return machine_.opened; }), 1);
  clock_.advance(std::chrono::hours(1));
  wait_until([&] { return tick()->devices[0].state == DeviceState::kActive; });
  EXPECT_EQ(machine_.with([&] { return machine_.opened; }), 2);
  EXPECT_GE(clock_.wall(), until);
  const auto back = tick();
  EXPECT_EQ(back->devices[0].state, DeviceState::kActive);
  EXPECT_EQ(value(back, 0, MetricId::kGpuUp).number(), 1);
  EXPECT_EQ(count_events(EventKind::kDeviceTaken), 2u);
  EXPECT_EQ(count_events(EventKind::kDeviceLost), 0u);
}

// FAULT-101
TEST_F(SamplerTest, AReleaseIsEndedSoonerOrMadeLonger) {
  create();
  tick();
  sampler_->release(seconds(5));
  const WallTime until = sampler_->release(std::chrono::hours(1));
  wait_until([&] { return tick()->sources[0].phase == model::SourcePhase::kReleased; });
  for (int i = 0; i < 10; ++i) tick();
  EXPECT_EQ(tick()->sources[0].arguments, std::vector<std::string>{utc_text(until)});
  sampler_->release({});
  wait_until([&] { return tick()->devices[1].state == DeviceState::kActive; });
  EXPECT_EQ(machine_.with([&] { return machine_.opened; }), 2);
}

// FAULT-101
TEST_F(SamplerTest, AStuckCallHoldsTheDevicesUntilItReturnsAndThatIsSaid) {
  create();
  tick();
  machine_.block("GPU-1", true);
  tick(milliseconds(20));
  sampler_->release(std::chrono::hours(1));
  wait_until(
      [&] { return tick(milliseconds(20))->sources[0].phase == model::SourcePhase::kStuck; });
  EXPECT_EQ(machine_.with([&] { return machine_.closed; }), 0);
  machine_.block("GPU-1", false);
  wait_until(
      [&] { return tick(milliseconds(20))->sources[0].phase == model::SourcePhase::kReleased; });
  EXPECT_EQ(machine_.with([&] { return machine_.closed; }), 1);
}

// FAULT-101
TEST_F(SamplerTest, ALostDeviceDoesNotDelayTheRelease) {
  create();
  tick();
  machine_.with([&] { machine_.verdict["GPU-1"] = collect::Verdict::kDeviceLost; });
  wait_until([&] { return tick()->devices[1].state == DeviceState::kLost; });
  sampler_->release(std::chrono::hours(1));
  wait_until([&] { return tick()->devices[1].state == DeviceState::kReleased; });
  EXPECT_EQ(machine_.with([&] { return machine_.closed; }), 1);
  EXPECT_EQ(machine_.with([&] { return machine_.opened; }), 1);
}

// FAULT-101
TEST_F(SamplerTest, ReleasedBetweenADriversEndAndItsReturnDevicesAreReleasedNotLost) {
  create();
  tick();
  machine_.with([&] {
    machine_.verdict["GPU-0"] = collect::Verdict::kGenerationLost;
    machine_.verdict["GPU-1"] = collect::Verdict::kGenerationLost;
  });
  tick();  // it is lost
  tick();  // and closed; opening it again takes one more second
  wait_until([&] {
    clock_.advance(milliseconds(10));
    return machine_.with([&] { return machine_.closed; }) == 1;
  });
  sampler_->release(std::chrono::hours(1));
  wait_until([&] { return tick()->sources[0].phase == model::SourcePhase::kReleased; });
  const auto s = tick();
  EXPECT_EQ(s->devices[0].state, DeviceState::kReleased);
  EXPECT_EQ(s->devices[1].state, DeviceState::kReleased);
  EXPECT_EQ(machine_.with([&] { return machine_.opened; }), 1);
  machine_.with([&] { machine_.verdict.clear(); });
}

// FAULT-101
TEST_F(SamplerTest, ADeviceThatIsBeingUnboundIsLetGoOf) {
  create();
  tick();
  machine_.with([&] {
    machine_.untouched = {{machine_.devices[0], DeviceState::kReleased},
                          {machine_.devices[1], DeviceState::kReleased}};
    machine_.wish = collect::Wish::kLetGo;
  });
  wait_until([&] { return tick()->sources[0].phase == model::SourcePhase::kReleased; });
  const auto s = tick();
  EXPECT_EQ(s->devices[0].state, DeviceState::kReleased);
  EXPECT_EQ(s->sources[0].phase, model::SourcePhase::kReleased);
  EXPECT_EQ(s->sources[0].message, catalog::MessageId::kSourceUnbound);
}

// FAULT-088
TEST_F(SamplerTest, WhatIsSwitchedOffIsAbsentWithThatReason) {
  catalog::MetricSet disabled;
  disabled.add(MetricId::kGpuTemperature);
  disabled.add(MetricId::kGpuXidErrors);
  create(seconds(1), {}, disabled);
  tick();
  const auto s = tick();
  EXPECT_EQ(value(s, 0, MetricId::kGpuTemperature).reason(), Reason::kDisabled);
  EXPECT_EQ(value(s, 0, MetricId::kGpuXidErrors).reason(), Reason::kDisabled);
  EXPECT_EQ(value(s, 0, MetricId::kGpuUp).number(), 1);
}

}  // namespace
}  // namespace gpusight::sample
