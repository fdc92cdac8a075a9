#include "collect/nvml/event_lane.h"

#include "collect/nvml/test_machine.h"

namespace gpusight::collect::nvml {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using model::Reason;

class NvmlEvents : public TestMachine {};

TEST_F(NvmlEvents, AnXidBecomesAnEventOfItsDeviceWithNumberAndName) {
  fake_.gpus.push_back({.uuid = "GPU-1", .bus = 0x3b});
  open();
  fake_.events = {{gpu_handle(1), kEventXid, 79, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventXid, 9999, 3, 0}};
  EXPECT_EQ(poll("nvml/events"), Verdict::kGood);
  ASSERT_EQ(report_->events().size(), 2u);
  const model::Event& known = report_->events()[0];
  EXPECT_EQ(known.kind, EventKind::kXid);
  EXPECT_EQ(known.uuid, "GPU-1");
  EXPECT_EQ(known.code, 79);
  EXPECT_EQ(known.severity, catalog::Severity::kError);
  EXPECT_EQ(known.arguments, (std::vector<std::string>{"79", "gpu has fallen off the bus"}));
  const model::Event& strange = report_->events()[1];
  EXPECT_EQ(strange.arguments, (std::vector<std::string>{"9999", "unknown"}));
  EXPECT_EQ(strange.fields[1], (std::pair<std::string, std::string>{"gpu_instance", "3"}));
}

// FAULT-059
TEST_F(NvmlEvents, AProgramsOwnErrorIsNoFaultOfTheDeviceNorIsOneThatNobodyKnows) {
  open();
  fake_.events = {{gpu_handle(0), kEventXid, 31, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventXid, 79, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventXid, 999, kNotAMigInstance, kNotAMigInstance}};
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 3u);
  EXPECT_EQ(report_->events()[0].severity, catalog::Severity::kWarning);
  EXPECT_EQ(report_->events()[1].severity, catalog::Severity::kError);
  EXPECT_EQ(report_->events()[2].severity, catalog::Severity::kWarning);
  fast();  // and it still answers
  EXPECT_EQ(subject("GPU-0")->state, model::DeviceState::kActive);
  EXPECT_EQ(number(catalog::MetricId::kGpuUp), 1);
}

TEST_F(NvmlEvents, TheOldWaitServesWhereTheNewOneIsMissing) {
  fake_.missing = {"nvmlEventSetWait_v2"};
  open();
  fake_.events = {{gpu_handle(0), kEventXid, 31, 0, 0}};
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].code, 31);
  EXPECT_EQ(report_->events()[0].fields.size(), 1u);
}

TEST_F(NvmlEvents, AChangeOfMigEndsTheGeneration) {
  open();
  fake_.events = {{gpu_handle(0), kEventMigChange, 0, kNotAMigInstance, kNotAMigInstance}};
  EXPECT_EQ(poll("nvml/events"), Verdict::kGenerationLost);
  EXPECT_EQ(report_->events()[0].kind, EventKind::kMigChange);
}

TEST_F(NvmlEvents, MemoryErrorsAndWhatTheDeviceNeedsAreEvents) {
  fake_.gpus[0].numbers["nvmlDeviceGetSupportedEventTypes"] = {0xFFFF};
  open();
  fake_.events = {{gpu_handle(0), kEventDoubleBit, 0, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventRetirementFailure, 0, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventRecoveryAction, 0, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventPowerSource, 0, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), 1ULL << 40, 0, kNotAMigInstance, kNotAMigInstance}};
  EXPECT_EQ(poll("nvml/events"), Verdict::kGood);
  ASSERT_EQ(report_->events().size(), 4u);
  EXPECT_EQ(report_->events()[0].kind, EventKind::kMemoryError);
  EXPECT_EQ(report_->events()[0].severity, catalog::Severity::kError);
  EXPECT_EQ(report_->events()[0].arguments, std::vector<std::string>{"double_bit"});
  EXPECT_EQ(report_->events()[1].kind, EventKind::kMemoryRetirement);
  EXPECT_EQ(report_->events()[2].kind, EventKind::kRecoveryAction);
  EXPECT_EQ(report_->events()[3].kind, EventKind::kPowerSource);
}

TEST_F(NvmlEvents, ChangesThatComeManyTimesASecondAreToldOnceInAWhile) {
  fake_.gpus[0].numbers["nvmlDeviceGetSupportedEventTypes"] = {0xFFFF};
  open();
  const auto change = [&](int times) {
    for (int i = 0; i < times; ++i) {
      fake_.events.push_back({gpu_handle(0), kEventClock, 0, kNotAMigInstance, kNotAMigInstance});
    }
    poll("nvml/events");
    return report_->events().size();
  };
  EXPECT_EQ(change(20), 1u);
  EXPECT_EQ(change(10), 0u);
  clock_.advance(std::chrono::seconds(10));
  EXPECT_EQ(change(1), 1u);
  EXPECT_EQ(report_->events()[0].fields.back(),
            (std::pair<std::string, std::string>{"untold_before", "29"}));
}

TEST_F(NvmlEvents, AnXidThatCannotBeIsNone) {
  open();
  fake_.events = {{gpu_handle(0), kEventXid, UINT64_MAX, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventXid, 0x10000, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventXid, 13, kNotAMigInstance, kNotAMigInstance}};
  EXPECT_EQ(poll("nvml/events"), Verdict::kGood);
  ASSERT_EQ(report_->events().size(), 1u);
  EXPECT_EQ(report_->events()[0].code, 13);
  EXPECT_EQ(report_->implausible(), 2u);
}

TEST_F(NvmlEvents, AStormIsToldHoweverManySingleErrorsWereToldBefore) {
  fake_.gpus[0].numbers["nvmlDeviceGetSupportedEventTypes"] = {0xFFFF};
  open();
  fake_.events = {{gpu_handle(0), kEventSingleBit, 0, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventSingleBit, 0, kNotAMigInstance, kNotAMigInstance},
                  {gpu_handle(0), kEventSingleBitStorm, 0, kNotAMigInstance, kNotAMigInstance}};
  poll("nvml/events");
  ASSERT_EQ(report_->events().size(), 2u);
  EXPECT_EQ(report_->events()[1].arguments, std::vector<std::string>{"single_bit_storm"});
}

TEST_F(NvmlEvents, AMaskThatIsNotSupportedCostsNotTheOthers) {
  fake_.registering[kEventMigChange] = Return::kNotSupported;
  open();
  ASSERT_NE(find_lane("nvml/events"), nullptr);
  fast();
  EXPECT_EQ(value(MetricId::kGpuXidErrors), nullptr);
}

TEST_F(NvmlEvents, WithoutXidEventsTheirCounterSaysWhyItIsAbsent) {
  fake_.registering[kEventXid] = Return::kNotSupported;
  open();
  fast();
  EXPECT_EQ(reason(MetricId::kGpuXidErrors), Reason::kNotSupported);
  // The set still serves what else there is.
  EXPECT_EQ(fake_.event_sets, 1);
  fake_.events = {{gpu_handle(0), kEventMigChange, 0, kNotAMigInstance, kNotAMigInstance}};
  EXPECT_EQ(poll("nvml/events"), Verdict::kGenerationLost);
}

TEST_F(NvmlEvents, ADriverThatRegistersNothingHasNoSet) {
  fake_.registering[kEventXid] = Return::kNotSupported;
  fake_.registering[kEventMigChange] = Return::kNotSupported;
  open();
  EXPECT_EQ(find_lane("nvml/events"), nullptr);
  EXPECT_EQ(fake_.event_sets, 0);
}

// FAULT-012
TEST_F(NvmlEvents, AStormKeepsTheLaneNoBusierThanAFewPollsASecond) {
  open();
  for (int i = 0; i < 200; ++i) {
    fake_.events.push_back({gpu_handle(0), kEventXid, 31, kNotAMigInstance, kNotAMigInstance});
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(poll("nvml/events"), Verdict::kGood);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(90));
  EXPECT_EQ(report_->events().size(), 64u);
  EXPECT_LE(report_->calls(), 64u);
}

TEST_F(NvmlEvents, AMaskThatBreaksTheSetIsLeftOutOfANewOne) {
  fake_.registering[kEventMigChange] = Return::kUnknown;
  open();
  EXPECT_EQ(fake_.calls("nvmlEventSetCreate"), 2);
  EXPECT_EQ(fake_.event_sets, 1);
  ASSERT_NE(find_lane("nvml/events"), nullptr);
  fake_.events = {{gpu_handle(0), kEventXid, 13, kNotAMigInstance, kNotAMigInstance}};
  poll("nvml/events");
  EXPECT_EQ(report_->events().size(), 1u);
}

TEST_F(NvmlEvents, WhatWasOpenedIsClosedInTheEnd) {
  open();
  EXPECT_EQ(fake_.event_sets, 1);
  EXPECT_EQ(fake_.sessions, 1);
  opened_.generation.reset();
  EXPECT_EQ(fake_.event_sets, 0);
  EXPECT_EQ(fake_.sessions, 0);
}

TEST_F(NvmlEvents, AWaitThatFailsAtOnceIsNotRepeatedInATightCircle) {
  open();
  const auto takes_a_while = [&](Return code, Verdict verdict) {
    fake_.forced["nvmlEventSetWait_v2"] = code;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(poll("nvml/events"), verdict);
    return std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(100);
  };
  EXPECT_TRUE(takes_a_while(Return::kGpuIsLost, Verdict::kGood));
  EXPECT_EQ(fake_.calls("nvmlEventSetWait_v2"), 1);
  EXPECT_TRUE(takes_a_while(Return::kUninitialized, Verdict::kGenerationLost));
}

}  // namespace
}  // namespace gpusight::collect::nvml
