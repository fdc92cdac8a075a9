#include "serve/live_queue.h"

#include <gtest/gtest.h>

namespace gpusight::serve {
namespace {

using Kind = LiveQueue::Kind;
using std::chrono::seconds;

constexpr LiveLimits kLimits{.messages = 3, .clearings = 3, .window = seconds(60)};
MonoTime at(int second) { return MonoTime(seconds(second)); }

LiveQueue::Item item(Kind kind, const std::string& text = "") {
  return {.kind = kind, .tail = std::make_shared<const std::string>(text)};
}

std::string drained(LiveQueue& queue) {
  std::string kinds;
  while (const auto next = queue.pop()) {
    kinds += next->kind == Kind::kSnapshot ? 's' : next->kind == Kind::kDelta ? 'd' : 'e';
  }
  return kinds;
}

void overflow(LiveQueue& queue, int second) {
  drained(queue);
  for (size_t i = 0; i <= kLimits.messages; ++i) queue.push(item(Kind::kDelta), at(second));
}

TEST(LiveQueue, KeepsTheOrder) {
  LiveQueue queue(kLimits);
  queue.push(item(Kind::kDelta), at(0));
  queue.push(item(Kind::kEvent), at(0));
  queue.push(item(Kind::kDelta), at(0));
  EXPECT_EQ(drained(queue), "ded");
}

TEST(LiveQueue, ASnapshotStandsFirstAndMakesDeltasUseless) {
  LiveQueue queue(kLimits);
  queue.push(item(Kind::kDelta), at(0));
  queue.push(item(Kind::kEvent), at(0));
  queue.request_snapshot();
  queue.push(item(Kind::kDelta), at(0));
  EXPECT_EQ(drained(queue), "se");
  queue.push(item(Kind::kDelta), at(0));
  EXPECT_EQ(drained(queue), "d");
}

TEST(LiveQueue, OverItsBoundItIsClearedAndBeginsAnew) {
  LiveQueue queue(kLimits);
  overflow(queue, 0);
  EXPECT_EQ(queue.clearings(), 1u);
  EXPECT_FALSE(queue.given_up());
  EXPECT_EQ(drained(queue), "s");
}

TEST(LiveQueue, NeverHoldsMoreThanItsBound) {
  LiveQueue queue(kLimits);
  queue.request_snapshot();
  for (int i = 0; i < 1000; ++i) {
    queue.push(item(i % 2 == 0 ? Kind::kEvent : Kind::kDelta), at(i * 100));
    EXPECT_LE(queue.size(), kLimits.messages);
  }
}

TEST(LiveQueue, TheThirdTimeInAMinuteTheClientIsGivenUp) {
  LiveQueue queue(kLimits);
  overflow(queue, 0);
  overflow(queue, 30);
  EXPECT_FALSE(queue.given_up());
  overflow(queue, 60);
  EXPECT_TRUE(queue.given_up());
  queue.push(item(Kind::kDelta), at(61));
  EXPECT_EQ(drained(queue), "");
}

TEST(LiveQueue, ClearingsFarApartAreForgiven) {
  LiveQueue queue(kLimits);
  for (int i = 0; i < 10; ++i) overflow(queue, i * 31);
  EXPECT_FALSE(queue.given_up());
  EXPECT_EQ(queue.clearings(), 10u);
}

}  // namespace
}  // namespace gpusight::serve
