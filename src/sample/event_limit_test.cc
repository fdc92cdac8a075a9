#include "sample/event_limit.h"

#include <gtest/gtest.h>

namespace gpusight::sample {
namespace {

using catalog::EventKind;

class EventLimitTest : public testing::Test {
 protected:
  // How many of so many are to be told.
  uint64_t admitted(uint64_t times, EventKind kind, const std::string& uuid = "GPU-0") {
    uint64_t count = 0;
    for (uint64_t i = 0; i < times; ++i) {
      count += limit_.admit({.kind = kind, .uuid = uuid}, now_.mono) ? 1 : 0;
    }
    return count;
  }
  std::vector<model::Event> after(Duration passed) {
    now_.mono += passed;
    return limit_.left_out(now_);
  }
  EventLimit limit_;
  Now now_{.mono = MonoTime(std::chrono::hours(1))};
};

TEST_F(EventLimitTest, WhatIsRareIsToldAndLeavesNothingBehind) {
  EXPECT_EQ(admitted(EventLimit::kMost, EventKind::kXid), EventLimit::kMost);
  EXPECT_TRUE(after(EventLimit::kPeriod).empty());
}

TEST_F(EventLimitTest, AStormHidesNoOtherKindAndNoOtherDevice) {
  EXPECT_EQ(admitted(10'000, EventKind::kXid), EventLimit::kMost);
  EXPECT_EQ(admitted(1, EventKind::kDeviceLost), 1u);
  EXPECT_EQ(admitted(1, EventKind::kXid, "GPU-1"), 1u);
}

TEST_F(EventLimitTest, HowManyWereLeftOutIsToldOnceThePeriodIsOver) {
  admitted(EventLimit::kMost + 17, EventKind::kXid);
  EXPECT_TRUE(after(EventLimit::kPeriod / 2).empty());
  const auto told = after(EventLimit::kPeriod / 2);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kEventsLeftOut);
  EXPECT_EQ(told[0].uuid, "GPU-0");
  EXPECT_EQ(told[0].mono, now_.mono);
  EXPECT_EQ(told[0].arguments, (std::vector<std::string>{"17", "xid"}));
  EXPECT_TRUE(after(EventLimit::kPeriod).empty());
  EXPECT_EQ(admitted(EventLimit::kMost + 1, EventKind::kXid), EventLimit::kMost);
}

}  // namespace
}  // namespace gpusight::sample
