#include "attribute/look_ups.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

namespace gpusight::attribute {
namespace {

using Numbers = LookUps<int, std::string>;

std::string wait_for(Numbers& numbers, int key) {
  for (int i = 0; i < 2000; ++i) {
    if (const auto answer = numbers.ask(key)) return *answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return "no answer";
}

TEST(LookUps, AnswersWhenItHasFound) {
  FakeClock clock;
  Numbers numbers([](int key) { return std::to_string(key); }, &clock);
  EXPECT_EQ(numbers.ask(7), std::nullopt);
  EXPECT_EQ(wait_for(numbers, 7), "7");
}

TEST(LookUps, WhatIsStuckHoldsNobodyUpAndIsLeftBehind) {
  FakeClock clock;
  const auto release = std::make_shared<std::promise<void>>();
  {
    Numbers numbers([gate = release->get_future().share()](int) { return gate.wait(), "late"; },
                    &clock);
    for (int key = 0; key < 100; ++key) EXPECT_EQ(numbers.ask(key), std::nullopt);
  }
  release->set_value();
}

TEST(LookUps, AnOldAnswerIsGivenWhileItIsSoughtAgain) {
  FakeClock clock;
  const auto calls = std::make_shared<std::atomic<int>>(0);
  Numbers numbers([calls](int) { return std::to_string(++*calls); }, &clock);
  EXPECT_EQ(wait_for(numbers, 1), "1");
  EXPECT_EQ(numbers.ask(1), "1");
  EXPECT_EQ(calls->load(), 1);
  clock.advance(Numbers::kFreshFor);
  EXPECT_EQ(numbers.ask(1), "1");
  for (int i = 0; i < 2000 && numbers.ask(1) != "2"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(numbers.ask(1), "2");
}

TEST(LookUps, AreBoundedAndForgetWhatNobodyAsksFor) {
  FakeClock clock;
  Numbers numbers([](int key) { return std::to_string(key); }, &clock);
  const auto most = static_cast<int>(Numbers::kMaxKeys);
  for (int key = 0; key < most; ++key) (void)numbers.ask(key);
  EXPECT_EQ(wait_for(numbers, most - 1), std::to_string(most - 1));
  EXPECT_EQ(numbers.ask(most), std::nullopt);
  EXPECT_EQ(numbers.refused(), 1u);
  clock.advance(Numbers::kKeptFor);
  EXPECT_EQ(wait_for(numbers, most), std::to_string(most));
}

}  // namespace
}  // namespace gpusight::attribute
